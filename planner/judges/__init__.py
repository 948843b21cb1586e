"""Judges fill in the semantic factors; nothing else."""
