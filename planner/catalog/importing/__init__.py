"""Other people's tools and skills → a catalog folder of ours."""
