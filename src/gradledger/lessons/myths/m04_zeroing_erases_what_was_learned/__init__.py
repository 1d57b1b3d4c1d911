"""Myth: Zeroing the gradients throws away what the model has learned so far."""
