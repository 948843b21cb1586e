"""The second system: how to spend searches over kinds of sources. Pure; its rules are an argument."""
