"""Myth: In a window, dividing every loss by the number of micro-batches is always right."""
