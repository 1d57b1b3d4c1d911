"""Lesson 10: many devices."""
