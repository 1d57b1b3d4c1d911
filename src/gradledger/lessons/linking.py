"""Which lessons explain a rule; only the heads of the lessons are looked at, so that this is quick."""

from __future__ import annotations

import os
import re

COURSE = os.path.join(os.path.dirname(__file__), "course")

_HEAD = re.compile(r"\+\+\+\n(.*?)^\+\+\+$", re.DOTALL | re.MULTILINE)
_CODES = re.compile(r"^codes\s*=\s*\[(.*?)\]", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r'^title\s*=\s*"(.*)"', re.MULTILINE)


def lessons_about(code: str) -> list[tuple[int, str]]:
    """Number and title of each lesson that names the code, those that name it earlier in their list first."""
    found = []
    for folder in sorted(os.listdir(COURSE)) if os.path.isdir(COURSE) else ():
        path = os.path.join(COURSE, folder, "lesson.md")
        if not re.match(r"l\d\d_", folder) or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            head = _HEAD.match(file.read())
        codes, title = (_CODES.search(head[1]), _TITLE.search(head[1])) if head else (None, None)
        named = re.findall(r"GL\d{3}", codes[1]) if codes else []
        if title and code in named:
            found.append((named.index(code), int(folder[1:3]), title[1]))
    return [(number, title) for _, number, title in sorted(found)]
