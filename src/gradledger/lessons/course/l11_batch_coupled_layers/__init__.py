"""Lesson 11: BatchNorm and other batch-coupled layers."""
