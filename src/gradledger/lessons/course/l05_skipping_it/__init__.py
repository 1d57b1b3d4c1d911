"""Lesson 5: what skipping it does."""
