"""Myth: Gradient accumulation makes training faster."""
