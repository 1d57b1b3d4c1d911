"""Answers in the forms that people and programs read, one file each."""
