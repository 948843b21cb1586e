"""What earlier sessions taught: outcome counts and experience digests."""
