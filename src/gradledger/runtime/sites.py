"""The user's line behind a call into torch."""

from __future__ import annotations

import linecache
import os
import site
import sys
import sysconfig
from types import CodeType, FrameType

import torch

from gradledger.ledger.site import Site

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_TORCH = os.path.dirname(torch.__file__) + os.sep
"""Wherever it lies: built from source, or in a folder of PYTHONPATH, it is in no site-packages."""
_MADE_UP = ("<gradledger", "<frozen", "<attrs", "<eval_with_key>", "<__array_function__")


def _library_roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    roots = {paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"]}
    roots |= {*site.getsitepackages(), site.getusersitepackages()}
    roots |= {os.path.dirname(os.path.abspath(os.__file__))}
    return tuple({prefix for root in roots for prefix in (root + os.sep, os.path.realpath(root) + os.sep)})


class Sites:
    """Finds the innermost frame of the user's own code and remembers what it found."""

    def __init__(self, project: str | None = None) -> None:
        self._roots = _library_roots()
        # A program that is itself installed (python -m package.train) is the user's code all the same.
        inside = project is not None and (project + os.sep).startswith((*self._roots, _OURS))
        self._project = project + os.sep if project and inside else None
        self._mine: dict[CodeType, bool] = {}
        self._sites: dict[tuple[CodeType, int], Site] = {}
        self._places: dict[int, tuple[CodeType, int]] = {}

    def is_users(self, code: CodeType) -> bool:
        """Whether this code was written by the user, and not installed."""
        known = self._mine.get(code)
        if known is None:
            name = code.co_filename
            if name.startswith(_TORCH):
                known = False
            elif self._project and name.startswith(self._project):
                known = True
            else:
                known = not (
                    name.startswith((*self._roots, _OURS, *_MADE_UP))
                    or "site-packages" in name
                    or "dist-packages" in name
                    or (name.startswith("<string>") and code.co_name != "<module>")
                )
            self._mine[code] = known
        return known

    def frame(self, start: FrameType | None) -> FrameType | None:
        """The innermost frame of the user's code at or above `start`."""
        mine = self._mine
        while start is not None:
            known = mine.get(start.f_code)
            if known or (known is None and self.is_users(start.f_code)):
                return start
            start = start.f_back
        return None

    def find(self, depth: int = 1) -> Site:
        """The user's line that led to the caller's caller; without user code on the stack a library's."""
        start: FrameType | None = sys._getframe(depth + 1)
        frame = self.frame(start)
        if frame is not None:
            key = (frame.f_code, frame.f_lasti)
            found = self._sites.get(key)
            if found is None:
                found = self._sites.setdefault(key, self.at(frame))  # another thread may have been first
                self._places[id(found)] = key
            return found
        while start is not None and start.f_back is not None and start.f_code.co_filename.startswith(_TORCH):
            start = start.f_back
        return self.at(start) if start is not None else Site("<unknown>", 1)

    def place(self, site: Site | None) -> tuple[CodeType, int] | None:
        """The instruction behind a line that `find` has found."""
        return self._places.get(id(site))

    def stack(self, frame: FrameType | None) -> tuple[Site, ...]:
        """The user's lines from this frame outwards, innermost first."""
        found: list[Site] = []
        frame = self.frame(frame)
        while frame is not None and len(found) < 16:
            found.append(self.at(frame))
            frame = self.frame(frame.f_back)
        return tuple(found)

    def at(self, frame: FrameType) -> Site:
        """Where this frame stands now."""
        code = frame.f_code
        line = frame.f_lineno or code.co_firstlineno
        column, end_line, end_column = _span(code, frame.f_lasti, line)
        path = code.co_filename
        if not path.startswith("<"):
            path = os.path.abspath(path)
        return Site(path, line, column, end_line, end_column, code.co_name)


def _span(code: CodeType, lasti: int, line: int) -> tuple[int, int, int]:
    """The columns of the instruction, where this Python keeps them."""
    positions = getattr(code, "co_positions", None)
    if positions is not None:
        for index, (start, end, column, end_column) in enumerate(positions()):
            if index * 2 == lasti and start is not None and end is not None:
                if start == line and column is not None and end_column is not None:
                    return column + 1, end, end_column + 1
                break
    text = linecache.getline(code.co_filename, line)
    return len(text) - len(text.lstrip()) + 1, line, len(text.rstrip()) + 1
