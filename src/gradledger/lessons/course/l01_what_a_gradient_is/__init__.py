"""Lesson 1: what a gradient is."""
