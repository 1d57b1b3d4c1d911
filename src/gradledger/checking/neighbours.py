"""Modules of the same project, found by path: nothing is imported, nothing is run."""

from __future__ import annotations

import os

from gradledger.checking.decoding import decode
from gradledger.checking.document import LONGEST
from gradledger.checking.problem import Unreadable

_ROOT_MARKS = ("pyproject.toml", ".git", "setup.py", "setup.cfg")

Question = tuple[str, str, int]
"""A module's dotted name, the path of the file that imports it, the level of a relative import."""


class Neighbours:
    """Answers `FindModule`; remembers what it has read and what it was asked."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._found: dict[tuple[str, str], str | None] = {}
        self._placed: dict[tuple[str, str, int], str | None] = {}
        self._bases: dict[str, tuple[str, ...]] = {}
        self._texts: dict[str, tuple[str, bytes] | None] = {}
        self.asked: dict[Question, str | None] = {}
        """Every question since it was last emptied, with the path that answers it."""

    def __call__(self, name: str, importer: str, level: int) -> tuple[str, str] | None:
        """The path and the text of a module, or None if it is not part of the project."""
        path = self.asked[name, importer, level] = self.where(name, importer, level)
        read = None if path is None else self._read(path)
        return None if path is None or read is None else (path, read[0])

    def where(self, name: str, importer: str, level: int) -> str | None:
        """The path of a module's source."""
        key = name, os.path.dirname(importer), level
        if key not in self._placed:
            self._placed[key] = self._search(*key)
        return self._placed[key]

    def _search(self, name: str, importing: str, level: int) -> str | None:
        folder = os.path.join(self._cwd, importing) if importing else self._cwd
        if level:
            for _ in range(min(level - 1, folder.count(os.sep))):  # above the top is the top
                folder = os.path.dirname(folder)
            return self._below(folder, name)
        if not name:
            return None
        for base in self._bases_of(folder):
            path = self._below(base, name)
            if path is not None:
                return path
        return None

    def raw(self, path: str) -> bytes | None:
        """The bytes of a module as they were read."""
        read = self._read(path)
        return None if read is None else read[1]

    def _below(self, base: str, name: str) -> str | None:
        key = base, name
        if key not in self._found:
            whole = os.path.join(base, *name.split(".")) if name else base
            candidates = [os.path.join(whole, "__init__.py")]
            if name:
                candidates.insert(0, whole + ".py")
            self._found[key] = next((path for path in candidates if os.path.isfile(path)), None)
        return self._found[key]

    def _bases_of(self, folder: str) -> tuple[str, ...]:
        """Where an absolute import may begin: the file's folder, those above it, the working directory."""
        if folder not in self._bases:
            above: list[str] = []
            here = folder
            root = _root(folder)
            while True:
                above.append(here)
                parent = os.path.dirname(here)
                whole_package = root is None and not os.path.exists(os.path.join(here, "__init__.py"))
                if here == root or parent == here or whole_package:
                    break
                here = parent
            places = [*above, os.path.join(above[-1], "src"), self._cwd, os.path.join(self._cwd, "src")]
            self._bases[folder] = tuple(dict.fromkeys(places))
        return self._bases[folder]

    def _read(self, path: str) -> tuple[str, bytes] | None:
        if path not in self._texts:
            self._texts[path] = _text(path)
        return self._texts[path]


def _root(folder: str) -> str | None:
    """The nearest folder at or above this one that looks like a project's."""
    while True:
        if any(os.path.exists(os.path.join(folder, mark)) for mark in _ROOT_MARKS):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _text(path: str) -> tuple[str, bytes] | None:
    try:
        if os.path.getsize(path) > LONGEST:
            return None
        with open(path, "rb") as file:
            raw = file.read()
        text = decode(raw).text
    except (OSError, Unreadable):
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n"), raw
