"""Lines as Python counts them: form feeds and Unicode separators end none."""

from __future__ import annotations

import re

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """The lines of the text, each with its own ending."""
    return _LINE.findall(text)


def ending(line: str) -> str:
    """The line's own ending, empty at the end of a text without one."""
    return line[len(line.rstrip("\r\n")) :]
