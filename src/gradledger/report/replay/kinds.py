"""Kinds of micro-batches: what happened in one, and the states the accounts went through.

Training repeats itself, so a long run has few kinds, and a micro-batch is only the number of its kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.ledger import events as ev
from gradledger.ledger.account import Account, post
from gradledger.report.replay.lines import Lines
from gradledger.report.replay.states import letter

MOST = 1500
"""A run with more kinds never repeats itself; what comes after them is only counted."""
OTHER = -1
_REMEMBERED = 20_000

MARKS: dict[type[ev.Event], str] = {
    ev.BackwardRan: "backward",
    ev.GradientCleared: "clear",
    ev.GradientsClipped: "clip",
    ev.GradientsUnscaled: "unscale",
    ev.OptimizerStepped: "step",
    ev.StepSkipped: "skip",
    ev.ClosureEvaluated: "closure",
    ev.SchedulerStepped: "scheduler",
    ev.EpochEnded: "epoch",
    ev.GradientAssigned: "assign",
    ev.GradientChanged: "change",
    ev.GradientsReduced: "reduce",
    ev.ScalerUpdated: "scale",
}
"""Events that get a mark in the timeline."""

Mark = tuple[str, int, tuple[int, ...]]
Cell = tuple[int, str]
Made = tuple[tuple[Mark, ...], tuple[Cell, ...]]


class Kinds:
    """The kinds met so far."""

    def __init__(self, lines: Lines, shown: dict[int, int]) -> None:
        self._lines = lines
        self._shown = shown
        """Account -> row."""
        self._numbers: dict[Made, int] = {}
        self._quick: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, object]] = {}
        self.listed: list[Made] = []

    def number(self, events: Sequence[ev.Event], states: dict[int, Account]) -> int:
        """The kind of a micro-batch that began with these states, or OTHER where there are too many."""
        key = tuple(map(id, events)), tuple(map(id, states.values()))
        quick = self._quick.get(key)
        if quick is not None:
            return quick[0]
        made = self._made(events, states)
        known = self._numbers.get(made)
        if known is None:
            if len(self.listed) >= MOST:
                return OTHER
            known = self._numbers[made] = len(self.listed)
            self.listed.append(made)
        if len(self._quick) > _REMEMBERED:
            self._quick.clear()
        # The objects are kept, so that none of their addresses is used again.
        self._quick[key] = known, (tuple(events), tuple(states.values()))
        return known

    def _made(self, events: Sequence[ev.Event], states: dict[int, Account]) -> Made:
        now = dict(states)
        trail = {row: letter(now[a]) for a, row in self._shown.items() if a in now}
        marks: list[Mark] = []
        for event in events:
            if isinstance(event, ev.AccountOpened):
                self._open(event, now, trail, len(marks))
                continue
            accounts: tuple[int, ...] = getattr(event, "accounts", ())
            word = MARKS.get(type(event))
            if word == "clear" and any(_unused(now[a]) for a in accounts if a in self._shown and a in now):
                word = "lose"
            for account in accounts:
                if account in now:
                    now[account] = post(now[account], event)
            if word is None:
                continue
            touched = tuple(sorted({self._shown[a] for a in accounts if a in self._shown}))
            marks.append((word, self._lines.number(event.site), touched))
            for account, row in self._shown.items():
                if row in trail:
                    trail[row] += letter(now[account])
        return tuple(marks), tuple(sorted(trail.items()))

    def _open(self, event: ev.AccountOpened, now: dict[int, Account], trail: dict[int, str], at: int) -> None:
        """A new account: empty until now, or with the past of the one it was split from."""
        parent = event.parent
        now[event.account] = now.get(parent, Account()) if parent is not None else Account()
        row = self._shown.get(event.account)
        if row is not None:
            older = None if parent is None else trail.get(self._shown.get(parent, -1))
            trail[row] = older if older is not None else "N" * (at + 1)


def _unused(account: Account) -> bool:
    """Whether passes wait here that no step of any optimizer has used."""
    return any(posting.used_by is None and not posting.ran.wants_input for posting in account.postings())
