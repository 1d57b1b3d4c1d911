"""Lesson 8: mixed precision."""
