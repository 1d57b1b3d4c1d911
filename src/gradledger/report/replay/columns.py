"""The timeline written out again: for every kept micro-batch and row the state that is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradledger.ledger.record import dataclass
from gradledger.report.replay.ramps import Ramp

_USES = ("step", "skip", "closure")
_EMPTIES = ("clear", "lose", "assign")


@dataclass(frozen=True, slots=True)
class Columns:
    """What `Timeline.data` holds, one entry per column."""

    numbers: list[int]
    """The micro-batch of each column."""
    marks: list[list[str]]
    states: list[str]
    """Of each row a letter per column; a space where nothing is known."""
    lost: list[list[bool]]
    """Of each row whether what a column holds was cleared before any step used it."""
    fresh: list[list[int]]
    """Of each row how many micro-batches wait in each column."""
    gaps: list[int]
    """Columns before which micro-batches were left out."""


def columns(timeline: dict[str, Any]) -> Columns:
    """Write it out."""
    rows, kinds = timeline["rows"], timeline["kinds"]
    numbers: list[int] = []
    order: list[int] = []
    gaps: list[int] = []
    fresh: list[list[int]] = [[] for _ in rows]
    for stretch in timeline["stretches"]:
        if numbers and stretch["first"] > numbers[-1] + 1:
            gaps.append(len(numbers))
        numbers += range(stretch["first"], stretch["first"] + stretch["count"])
        for kind, times in zip(stretch["kinds"][::2], stretch["kinds"][1::2], strict=True):
            order += [kind] * times
        for row, waiting in enumerate(fresh):
            runs = stretch["numbers"][row][0] if row < len(stretch["numbers"]) else []
            waiting += Ramp(runs).numbers() or [0] * stretch["count"]
    marks = [[mark[0] for mark in kinds[kind]["marks"]] if kind >= 0 else [] for kind in order]
    told = [_states(row, order, numbers, gaps, kinds, rows) for row in range(len(rows))]
    return Columns(numbers, marks, [states for states, _ in told], [lost for _, lost in told], fresh, gaps)


def _states(
    row: int, order: Sequence[int], numbers: Sequence[int], gaps: Sequence[int], kinds: Any, rows: Any
) -> tuple[str, list[bool]]:
    """The row's letters, and what was lost; new passes on spent ones that no step uses are not stale."""
    peaks = [_peak(kind, row, rows) for kind in kinds]
    letters = [peaks[kind] if kind >= 0 else " " for kind in order]
    lost = [False] * len(order)
    later = "end"  # which uses nothing either
    cut = set(gaps)
    for column in range(len(order) - 1, -1, -1):
        own = _booked_as(row, numbers[column], rows)
        before = ""
        for word, _, touched in reversed(kinds[order[column]]["marks"] if order[column] >= 0 else ()):
            if word == "backward":
                before = later
            if own in touched and word in (*_USES, *_EMPTIES):
                later = "step" if word in _USES else word
        if letters[column] == "S" and before in ("end", *_EMPTIES):
            letters[column] = "L"
        lost[column] = letters[column] in "FA" and before == "lose"
        if column in cut:
            later = ""
    return "".join(letters), lost


def _peak(kind: Any, row: int, rows: Any) -> str:
    """The state that the kind's pass left in a row, or in the one it was split from."""
    at: int | None = row
    trail = ""
    while at is not None and not trail:
        trail = kind["cells"].get(at, "")
        at = rows[at]["parent"]
    words = [mark[0] for mark in kind["marks"]]
    ran = words.index("backward") if "backward" in words else -1
    return str(trail[min(ran + 1, len(trail) - 1)]) if trail else " "


def _booked_as(row: int, number: int, rows: Any) -> int:
    while number <= rows[row]["start"] and rows[row]["parent"] is not None:
        row = rows[row]["parent"]
    return row
