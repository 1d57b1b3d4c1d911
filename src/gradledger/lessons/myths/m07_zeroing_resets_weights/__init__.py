"""Myth: zero_grad() resets the weights, or at least the momentum."""
