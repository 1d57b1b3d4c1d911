"""Patterns with many stars mean what a matcher that tries everything says, and take no longer for it."""

from __future__ import annotations

import itertools
import re

import pytest

from gradledger.audit.globs import matches


def tried(pattern: str, path: str) -> bool:
    """By trying every way: slow, and plain to see."""
    if not pattern:
        return not path or path.startswith("/")
    if pattern.startswith("**/"):
        rest = [path[place.end() :] for place in re.finditer("/", path)]
        return any(tried(pattern[3:], part) for part in [path, *rest])
    if pattern.startswith("**"):
        return any(tried(pattern[2:], path[length:]) for length in range(len(path) + 1))
    if pattern.startswith("*"):
        longest = len(path.split("/")[0])
        return any(tried(pattern[1:], path[length:]) for length in range(longest + 1))
    if not path:
        return False
    fits = path[0] != "/" if pattern[0] == "?" else path[0] == pattern[0]
    return fits and tried(pattern[1:], path[1:])


PIECES = ("a", "b", "/", "*", "**", "**/", "?")
PATHS = ["".join(path) for length in range(1, 6) for path in itertools.product("ab/", repeat=length)]


def meant(pieces: tuple[str, ...]) -> bool:
    """Whether the pieces are read as they were put together, and the pattern speaks of folders."""
    pattern = "".join(pieces)
    again = tuple(piece for piece in re.split(r"(\*\*/|\*\*|\*|\?|/|.)", pattern) if piece)
    folders = all(
        before.endswith("/") for before, piece in itertools.pairwise(("/", *pieces)) if piece == "**/"
    )
    return (
        again == pieces
        and folders
        and "/" in pattern
        and not pattern.startswith("/")
        and not pattern.endswith("/")
    )


def test_short_patterns_on_all_short_paths() -> None:
    paths = [path for path in PATHS if not path.startswith("/") and "//" not in path and path[-1] != "/"]
    patterns = ["".join(p) for size in (3, 4) for p in itertools.product(PIECES, repeat=size) if meant(p)]
    assert len(patterns) > 150
    wrong = [
        (pattern, path)
        for pattern in patterns
        for path in paths
        if matches(pattern, f"/project/{path}", "/project") != tried(pattern, path)
    ]
    assert wrong == []


def test_folders_in_the_middle_of_a_name_are_anything_and_a_slash() -> None:
    assert matches("a**/b", "/project/ax/y/b", "/project")
    assert not matches("a**/b", "/project/axb", "/project")


@pytest.mark.parametrize("stars", ["*a" * 40 + "/b", "**/a" * 40 + "/b", "x/" + "*" * 60 + "b"])
def test_many_stars_end_at_once(stars: str) -> None:
    assert not matches(stars, "/project/x/" + "a" * 400, "/project")
