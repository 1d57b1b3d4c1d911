"""Programs of one file or several, written as one text, and what the checker says of them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from gradledger.checking.program import Judged, check_program
from gradledger.rules.finding import Certainty

Place = tuple[str, str, int]
"""Code, path, line."""

_HEADER = re.compile(r"^# file: (\S+)\n", re.MULTILINE)
_MARK = re.compile(r"# <- (GL\d{3})")


@dataclass(frozen=True, slots=True)
class Project:
    """Files by path; the first one is checked, the others can be imported."""

    files: Mapping[str, str]
    asked: list[tuple[str, str, int]] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> Project:
        """A text in which lines such as `# file: pkg/steps.py` begin a file, or a single file without any."""
        pieces = _HEADER.split(text)
        if len(pieces) == 1:
            return cls({"train.py": text})
        return cls(dict(zip(pieces[1::2], pieces[2::2], strict=True)))

    def find_module(self, name: str, importer: str, level: int) -> tuple[str, str] | None:
        """A module by its dotted name: below the importer's folder, or for absolute ones any folder above."""
        self.asked.append((name, importer, level))
        folder = posixpath.dirname(importer)
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        while True:
            whole = posixpath.join(folder, *name.split(".")) if name else folder
            for path in (f"{whole}.py", posixpath.join(whole, "__init__.py")):
                if path in self.files:
                    return path, self.files[path]
            if level or not folder:
                return None
            folder = posixpath.dirname(folder)

    def judged(self, main: str | None = None) -> Judged:
        """The checker's answer for the first file, or for the one that is named."""
        path = main or next(iter(self.files))
        return check_program(self.files[path], path, self.find_module)

    def marked(self) -> list[Place]:
        """The places that end in a mark such as `# <- GL101`."""
        return sorted(
            (mark[1], path, number)
            for path, text in self.files.items()
            for number, line in enumerate(text.splitlines(), 1)
            for mark in _MARK.finditer(line)
        )


def places(judged: Judged, *certainties: Certainty) -> list[Place]:
    """Where findings of these certainties, or of any, stand."""
    wanted = certainties or tuple(Certainty)
    return sorted((f.code, f.site.path, f.site.line) for f in judged.findings if f.certainty in wanted)


def said(text: str) -> list[Place]:
    """All findings, certain or possible, in a program."""
    return places(Project.of(text).judged())


def certain(text: str) -> list[Place]:
    """The certain findings in a program."""
    return places(Project.of(text).judged(), Certainty.CERTAIN)


def programs(texts: Mapping[str, str], defects: Mapping[str, str] | None = None) -> list[object]:
    """The texts as parameters; a known defect of the checker is expected to fail, for the reason given."""
    known = defects or {}
    assert set(known) <= set(texts), set(known) - set(texts)
    return [
        pytest.param(
            text, id=name, marks=[pytest.mark.xfail(strict=True, reason=known[name])] if name in known else []
        )
        for name, text in texts.items()
    ]
