"""Lesson 12: finding it."""
