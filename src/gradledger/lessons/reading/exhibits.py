"""Exhibits that run when they are first needed, and their lines on the screen."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gradledger.lessons.exhibit import Exhibit, run_exhibit
from gradledger.lessons.experiment_source import exhibits, first_used
from gradledger.lessons.fault import CourseError
from gradledger.lessons.reading.code import code_lines
from gradledger.lessons.reading.markdown import prose
from gradledger.lessons.reading.screen import Screen
from gradledger.lessons.refusal import Refusal, need_torch
from gradledger.report.cells import cut
from gradledger.report.style import StreamFacts


class Exhibits(Mapping[str, Exhibit]):
    """The exhibits of one folder by name; each runs once, in front of the reader."""

    def __init__(self, folder: Path, screen: Screen, order: Sequence[str] = ()) -> None:
        self._folder = folder
        self._beside = first_used(folder, order)
        self._screen = screen
        self._run: dict[str, Exhibit] = {}
        self._names = tuple(exhibits(folder))

    def __getitem__(self, name: str) -> Exhibit:
        """What it shows; runs it if that has not been done."""
        if name not in self._run:
            need_torch()
            begin = "" if "torch" in sys.modules else "starting PyTorch, "
            with self._screen.working(f"{begin}running {name}"):
                self._run[name] = self._result(name)
        return self._run[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def blocks(self, name: str) -> list[list[str]]:
        """Its lines, with the scaffolding that it is the first to use."""
        return exhibit_blocks(self[name], self._screen.facts, self._beside.get(name, {}))

    def _result(self, name: str) -> Exhibit:
        try:
            return run_exhibit(self._folder, name)
        except CourseError:
            raise
        except Exception as error:
            place = f"{self._folder.name}/experiment.py"
            raise Refusal(
                f"the exhibit {name} ({place}) failed here: {type(error).__name__}: {error}"
            ) from error


def exhibit_blocks(exhibit: Exhibit, facts: StreamFacts, beside: Mapping[str, str]) -> list[list[str]]:
    """Its sentence and source, then the scaffolding around it, then what it printed."""
    head = prose(exhibit.about, facts, first="> ", rest="  ")
    blocks = [[*head, "", *code_lines(exhibit.source, "python", facts)]]
    word = "where"
    for source in beside.values():
        blocks.append([facts.paint(word, "quiet"), *code_lines(source, "python", facts)])
        word = "and"
    if exhibit.printed.strip():
        room = facts.width - 2
        bar = facts.paint(facts.bar, "quiet")
        rows = (
            cut(facts.plain(line.expandtabs()), room, facts.ellipsis) for line in exhibit.printed.splitlines()
        )
        blocks.append([facts.paint("prints", "quiet"), *(f"{bar} {row}".rstrip() for row in rows)])
    return blocks
