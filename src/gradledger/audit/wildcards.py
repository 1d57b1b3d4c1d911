"""Patterns with stars as regular expressions that never try the same thing twice.

Between two stars the first place that fits is as good as any later one, because the second star takes the
rest. So what was found there is never given back: however many stars a pattern has, matching takes no longer
than the path is. A pattern may come with somebody else's repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

STAR = "*"
"""Anything but a slash."""
ANY = "**"
"""Anything."""
FOLDERS = "**/"
"""Any folders, or none; it stands at the beginning or after a slash."""

_WIDE = {ANY: (".*?", ".*"), FOLDERS: ("(?:.*?/)??", "(?:.*/)?")}
"""As little as possible, and as much."""


def expression(tokens: Iterable[tuple[str, bool]]) -> str:
    """The regular expression for tokens: a wildcard (True), or an expression for one character (False)."""
    blocks: list[tuple[str, list[tuple[str, bool]]]] = [("", [])]
    for text, wild in tokens:
        if wild and text in _WIDE:
            blocks.append((text, []))
        else:
            blocks[-1][1].append((text, wild))
    names = _Names()
    parts: list[str] = []
    for number, (wide, block) in enumerate(blocks):
        last = number == len(blocks) - 1
        if not wide:
            parts.append(_segments(block, names, lazy=not last))
        elif last:
            parts.append(_WIDE[wide][1] + _segments(block, names, lazy=False))
        else:
            parts.append(names.kept(_WIDE[wide][0] + _segments(block, names, lazy=True)))
    return "".join(parts)


def _segments(block: Sequence[tuple[str, bool]], names: _Names, *, lazy: bool) -> str:
    parts: list[str] = []
    chunk: list[str] = []
    starred = False
    for text, wild in (*block, ("", False)):
        ends = not text
        if starred and (wild or ends or text == "/"):
            found = "".join(chunk)
            if wild:
                parts.append(names.kept(f"[^/]*?{found}"))
            else:
                parts.append(f"[^/]*{'?' if lazy and ends else ''}{found}")
            chunk, starred = [], False
        if wild:
            starred = True
        elif starred:
            chunk.append(text)
        else:
            parts.append(text)
    return "".join(parts)


class _Names:
    """Names for groups; a group that is looked for ahead and then taken as it was is never given back."""

    def __init__(self) -> None:
        self._count = 0

    def kept(self, expression: str) -> str:
        self._count += 1
        name = f"w{self._count}"
        return f"(?=(?P<{name}>{expression}))(?P={name})"
