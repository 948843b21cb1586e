"""The first system: which channels to search. Pure."""
