"""Myth: Accumulating over a window only approximates the large batch."""
