"""Mistakes on the command line."""

from __future__ import annotations


class UsageError(Exception):
    """What the user asked for cannot be done; shown as one line, exit code 2."""
