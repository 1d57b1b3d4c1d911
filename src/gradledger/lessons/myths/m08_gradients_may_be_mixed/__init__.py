"""Myth: gradients of several optimizers may be mixed."""
