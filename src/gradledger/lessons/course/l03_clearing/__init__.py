"""Lesson 3: clearing."""
