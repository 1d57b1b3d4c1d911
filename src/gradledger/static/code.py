"""A program's text without what nobody executes: comments, and long strings that begin a line."""

from __future__ import annotations

import re

_PARTS = re.compile(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"
    r"|#[^\n]*",
    re.DOTALL,
)
"""Strings and comments: a mark of the one inside the other means nothing."""
_LONG = ('"""', "'''")


def code_of(text: str) -> str:
    """The text with comments and docstrings emptied, line by line as it was."""
    return _PARTS.sub(_emptied, text)


def _emptied(found: re.Match[str]) -> str:
    part = found.group()
    if part[0] == "#":
        return ""
    if part.startswith(_LONG) and _begins_line(found.string, found.start()):
        return "\n" * part.count("\n")
    return part


def _begins_line(text: str, at: int) -> bool:
    return text[text.rfind("\n", 0, at) + 1 : at].strip() in ("", "r", "R")
