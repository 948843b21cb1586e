"""Calling a model and surviving it: the only room that imports litellm, instructor and tenacity, inside functions."""
