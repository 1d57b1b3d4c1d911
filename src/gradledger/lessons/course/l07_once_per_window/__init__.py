"""Lesson 7: zeroing once per window."""
