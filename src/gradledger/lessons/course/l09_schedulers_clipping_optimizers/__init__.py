"""Lesson 9: schedulers, clipping and several optimizers."""
