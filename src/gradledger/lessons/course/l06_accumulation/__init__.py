"""Lesson 6: accumulation."""
