"""Lesson 2: why backward() adds."""
