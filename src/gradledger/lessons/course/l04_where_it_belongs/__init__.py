"""Lesson 4: where clearing belongs."""
