"""What a page shows against what was printed."""

from __future__ import annotations

import re

import pytest

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?")


def assert_shown(shown: str, printed: str, *, about: bool = False) -> None:
    """Each stretch between two `…` was printed, in this order; the numbers exactly, or about so large.

    `about` passes over lines that draw (a point of a plot may lie elsewhere).
    """
    lines, at = _lines(printed, about), 0
    for stretch in _stretches(_lines(shown, about)):
        patterns = [_pattern(line, about) for line in stretch]
        found = [
            start
            for start in range(at, len(lines) - len(stretch) + 1)
            if all(p.fullmatch(line) for p, line in zip(patterns, lines[start:], strict=False))
        ]
        wanted = "\n".join(stretch)
        assert found, f"not printed:\n{wanted}\n--- in\n{printed}"
        at = found[0]
        if about:
            ours, real = ("\n".join(text) for text in (stretch, lines[at : at + len(stretch)]))
            numbers = [[float(number) for number in _NUMBER.findall(text)] for text in (ours, real)]
            assert numbers[0] == pytest.approx(numbers[1], rel=0.03, abs=0.02), real
        at += len(stretch)


def _lines(text: str, about: bool) -> list[str]:
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return [line for line in lines if "│" not in line] if about else lines


def _stretches(lines: list[str]) -> list[list[str]]:
    """The lines between those that hold nothing but `…`."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == "…":
            found.append([])
        else:
            found[-1].append(line)
    return [stretch for stretch in found if stretch]


def _pattern(line: str, about: bool) -> re.Pattern[str]:
    """A line as it may be printed: `…` within it stands for anything."""
    if about:
        parts = [_NUMBER.sub("\0", part) for part in re.split(r"\s+", line.strip())]
        words = [re.escape(part).replace(re.escape("\0"), _NUMBER.pattern) for part in parts]
        return re.compile(r"\s*" + r"\s+".join(words) + r"\s*")
    return re.compile(".*".join(re.escape(part) for part in line.split("…")))
