"""The patterns of .gitignore files, matched as git matches them."""

from __future__ import annotations

import re
from typing import NamedTuple

from gradledger.audit.wildcards import ANY, FOLDERS, STAR, expression

_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class Rule(NamedTuple):
    """One line of a .gitignore file."""

    regex: re.Pattern[str]
    by_name: bool
    """Matches the last part of a path, wherever it is; otherwise the whole path below the file's folder."""
    folders_only: bool
    keeps: bool
    """A line with `!`, which takes back what an earlier line ignored."""


class IgnoreFile(NamedTuple):
    """The rules of one file, which hold below its folder."""

    folder: str
    """With a slash at its end."""
    rules: tuple[Rule, ...]


def read_rules(text: str) -> tuple[Rule, ...]:
    """The rules of a .gitignore file's text, the last first: the last that matches decides."""
    lines = text.removeprefix("\ufeff").split("\n")
    rules = (_rule(line.removesuffix("\r")) for line in lines if not line.startswith("#"))
    return tuple(rule for rule in rules if rule is not None)[::-1]


def is_ignored(path: str, files: tuple[IgnoreFile, ...], *, folder: bool) -> bool:
    """Whether the nearest rule that speaks about the path ignores it; its folders are not looked at.

    `files` come from the outermost folder to the innermost, `path` has forward slashes.
    """
    name = path[path.rfind("/") + 1 :]
    for file in reversed(files):
        below = path[len(file.folder) :]
        for regex, by_name, folders_only, keeps in file.rules:
            if (folder or not folders_only) and regex.fullmatch(name if by_name else below):
                return not keeps
    return False


def _rule(line: str) -> Rule | None:
    pattern = _without_trailing_spaces(line)
    keeps = pattern.startswith("!")
    pattern = pattern[keeps:]
    folders_only = pattern.endswith("/")
    pattern = pattern[: len(pattern) - folders_only]
    by_name = "/" not in pattern
    written = _expression(pattern.removeprefix("/"), by_name=by_name)
    if not pattern or written is None:
        return None
    return Rule(re.compile(written, re.DOTALL), by_name, folders_only, keeps)


def _without_trailing_spaces(line: str) -> str:
    kept = 0
    at = 0
    while at < len(line):
        at += 2 if line[at] == "\\" else 1
        if line[at - 1 : at] != " " or line[at - 2 : at - 1] == "\\":
            kept = at
    return line[:kept]


def _expression(pattern: str, *, by_name: bool) -> str | None:
    """The pattern as a regular expression; None if it can never match."""
    parts: list[tuple[str, bool]] = []
    any_one = "." if by_name else "[^/]"
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            if at + 1 == len(pattern):
                return None
            parts.append((re.escape(pattern[at + 1]), False))
            at += 2
        elif character == "?":
            parts.append((any_one, False))
            at += 1
        elif character == "*":
            stop = at
            while pattern[stop : stop + 1] == "*":
                stop += 1
            part, at = _stars(pattern, at, stop, by_name=by_name)
            parts.append((part, True))
        elif character == "[":
            bracket = _bracket(pattern, at, by_name=by_name)
            if bracket is None:
                return None
            parts.append((bracket[0], False))
            at = bracket[1]
        else:
            parts.append((re.escape(character), False))
            at += 1
    return expression(parts)


def _stars(pattern: str, at: int, stop: int, *, by_name: bool) -> tuple[str, int]:
    """Stars from `at` to `stop`: two or more that fill the space between slashes match any folders."""
    if by_name:  # a name has no slash
        return STAR, stop
    fills = (at == 0 or pattern[at - 1] == "/") and pattern[stop : stop + 1] in ("", "/")
    if stop - at < 2 or not fills:
        return STAR, stop
    return (FOLDERS, stop + 1) if pattern[stop : stop + 1] else (ANY, stop)


def _bracket(pattern: str, at: int, *, by_name: bool) -> tuple[str, int] | None:
    """A set such as `[a-z]` and where it ends; None if it never does."""
    at += 1
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    items: list[str] = []
    first = True
    while first or pattern[at : at + 1] != "]":
        first = False
        if at >= len(pattern):
            return None
        named = re.compile(r"\[:([a-z]*):\]").match(pattern, at)
        if named is not None:
            if named[1] not in _POSIX_CLASSES:
                return None
            items.append(_POSIX_CLASSES[named[1]])
            at = named.end()
            continue
        low, at = _member(pattern, at)
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(pattern, at + 1)
            # in git a range the wrong way round still holds its first character
            items.append(f"{_plain(low)}-{_plain(high)}" if low <= high else _plain(low))
        else:
            items.append(_plain(low))
        if at > len(pattern):
            return None
    inside = "".join(items)
    never_slash = "" if by_name else "(?!/)"
    if negated:
        return f"{never_slash}[^{inside}]" if inside else f"{never_slash}.", at + 1
    return (f"{never_slash}[{inside}]" if inside else "(?!)"), at + 1


def _member(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "\\" and at + 1 < len(pattern):
        return pattern[at + 1], at + 2
    return pattern[at], at + 1


def _plain(character: str) -> str:
    return "\\" + character if character in "\\]^-[&~|" else character
