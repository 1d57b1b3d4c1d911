"""Folders -> the source files in them, in order, without what git or the user leaves out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from gradledger.audit.reach import content
from gradledger.checking.artefacts import skipped_by_content, skipped_by_name
from gradledger.checking.excludes_file import excludes_file
from gradledger.checking.gitignore import IgnoreFile, is_ignored, read_rules
from gradledger.checking.problem import Problem

ENDINGS = (".py", ".pyw", ".ipynb")

Excluded = Callable[[str], bool]


def source_files(root: str, excluded: Excluded | None = None) -> Iterator[str | Problem]:
    """All source files below a folder, given by its absolute path; what cannot be listed is a problem.

    Links to folders are not followed, so no loop can catch us; nor are links to files that lie elsewhere,
    which nobody has named.
    """
    return _walk(root, _above(root), excluded)


def _walk(
    folder: str, ignoring: tuple[IgnoreFile, ...], excluded: Excluded | None
) -> Iterator[str | Problem]:
    waiting: list[tuple[str, tuple[IgnoreFile, ...]]] = [(folder, ignoring)]
    inside = os.path.join(os.path.realpath(folder), "")
    while waiting:
        here, ignoring = waiting.pop()
        try:
            with os.scandir(here) as listing:
                entries = sorted(listing, key=_name)
        except OSError as error:
            yield Problem(here, 1, f"cannot be listed: {error.strerror}")
            continue
        names = [entry.name for entry in entries]
        if here != folder and skipped_by_content(os.path.basename(here), names):
            continue
        if ".gitignore" in names:
            ignoring = (*ignoring, *_ignore_file(here, ".gitignore"))
        folders: list[tuple[str, tuple[IgnoreFile, ...]]] = []
        for entry in entries:
            kind = _kind(entry, inside)
            if kind is None:
                continue
            if isinstance(kind, Problem):
                yield kind
                continue
            path = entry.path
            if ignoring and is_ignored(path.replace(os.sep, "/"), ignoring, folder=kind == "folder"):
                continue
            if excluded is not None and excluded(path):
                continue
            if kind == "folder":
                folders.append((path, ignoring))
            else:
                yield path
        waiting += reversed(folders)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _kind(entry: os.DirEntry[str], inside: str) -> str | Problem | None:
    """`folder`, `file`, or None for what is not looked at."""
    name = entry.name
    try:
        if name.endswith(ENDINGS):
            if entry.is_file():
                own = not entry.is_symlink() or os.path.realpath(entry.path).startswith(inside)
                return "file" if own else None
            if entry.is_symlink() and not os.path.exists(entry.path):
                return Problem(entry.path, 1, "is a link to nothing")
        if entry.is_dir(follow_symlinks=False) and not skipped_by_name(name):
            return "folder"
    except OSError as error:  # a link that leads to itself
        return Problem(entry.path, 1, f"cannot be read: {error.strerror}")
    return None


def _above(root: str) -> tuple[IgnoreFile, ...]:
    """The rules from the repository's top down to the root's parent; none if they ignore the root itself.

    Whoever names an ignored folder wants to have it checked.
    """
    folders = [root]
    while not os.path.exists(os.path.join(folders[-1], ".git")):
        parent = os.path.dirname(folders[-1])
        if parent == folders[-1]:
            return ()
        folders.append(parent)
    top = folders[-1]
    everywhere = excludes_file(top)
    found = () if everywhere is None else _ignore_file(top, everywhere)
    found = (*found, *_ignore_file(top, os.path.join(".git", "info", "exclude")))
    for folder in reversed(folders[:-1]):
        found = (*found, *_ignore_file(os.path.dirname(folder), ".gitignore"))
        if is_ignored(folder.replace(os.sep, "/"), found, folder=True):
            return ()
    return found


def _ignore_file(folder: str, name: str) -> tuple[IgnoreFile, ...]:
    raw = content(os.path.join(folder, name))
    rules = () if raw is None else read_rules(raw.decode("utf-8", "surrogateescape"))
    place = folder.replace(os.sep, "/")
    return (IgnoreFile(place.rstrip("/") + "/", rules),) if rules else ()
