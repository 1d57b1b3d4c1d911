"""Myth: A gradient of None and a gradient of zeros do the same."""
