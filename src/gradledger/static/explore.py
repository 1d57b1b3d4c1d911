"""A program along all its paths: attempts until the scale is right, then one run for each choice."""

from __future__ import annotations

from collections import deque

from gradledger.ledger import events as ev
from gradledger.ledger.record import dataclass, replace
from gradledger.static.imports import FindModule
from gradledger.static.machine import Machine, Start, starts
from gradledger.static.scale import Scale
from gradledger.static.unit import Unit

MOST_PATHS = 20
MOST_WORK = 160_000
"""How many expressions are evaluated for one file at most."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One path through the program."""

    events: tuple[ev.Event, ...]
    doubts: frozenset[str]
    """Codes, or CODE:path:line, of which this path cannot be certain."""
    ambiguous: bool
    """It cannot be told which optimizer holds which parameters."""
    unlinked: frozenset[str]
    """Codes, or CODE:path:line, of rules that would need to know more than could be seen."""
    lines: frozenset[tuple[str, int]]
    """Lines that ran and left no event."""
    guessed: bool
    """What some backward() reaches was guessed."""
    scale: Scale
    alone: bool
    """It is one function, and who calls it cannot be seen."""
    cut_short: bool = False


@dataclass(frozen=True, slots=True)
class Exploration:
    """All paths, and what was left out."""

    traces: tuple[Trace, ...]
    unfinished: bool = False
    """The program, or one of its paths, was too long to be followed to its end."""
    more_paths: bool = False
    """There are more ways through it than were followed."""

    @property
    def cut_short(self) -> bool:
        """Whether anything was left out."""
        return self.unfinished or self.more_paths


def explore(unit: Unit, find_module: FindModule | None = None) -> Exploration:
    """Execute the file, then every function of it that matters and has not run."""
    explorer = _Explorer(unit, find_module)
    explorer.follow(Start())
    for start in starts(unit, explorer.ran):
        explorer.follow(start)
    return Exploration(tuple(explorer.traces), explorer.unfinished, explorer.more_paths)


class _Explorer:
    def __init__(self, unit: Unit, find_module: FindModule | None) -> None:
        self.unit = unit
        self.find_module = find_module
        self.units: dict[str, Unit | None] = {}
        self.ran: set[int] = set()
        self.traces: list[Trace] = []
        self.unfinished = False
        self.more_paths = False
        # A file that only hands its parts to others is followed a shorter way.
        self.work = MOST_WORK if unit.differentiates else MOST_WORK // 4

    def follow(self, start: Start) -> None:
        """All paths from one start."""
        scale = Scale()
        queue: deque[tuple[bool, ...]] = deque([()])
        seen: set[tuple[bool, ...]] = {()}
        told: set[int] = set()
        tried: dict[int, set[str]] = {}
        paths = 0
        while queue and paths < MOST_PATHS and self.work > 0:
            forced = queue.popleft()
            machine, scale = self._attempt(start, scale, forced)
            paths += 1
            self.ran |= machine.ran
            self.unfinished = self.unfinished or machine.cut_short
            settled = machine.learnt.scale(scale) == scale
            if self.work <= 0 and not settled:
                break  # the work is over before it is known how long the windows are
            # A choice that changes nothing is not worth combining with others.
            story = tuple(
                (type(event), event.site, getattr(event, "accounts", ())) for event in machine.events
            )
            key = hash(story)
            if key in told:
                continue
            told.add(key)
            events = merged(machine.events)
            told_of = ev.BackwardRan | ev.OptimizerStepped | ev.GraphKept
            silent = machine.keepings or machine.read_at  # lines that ran and were found right
            if silent or any(isinstance(event, told_of) for event in machine.events):
                self.traces.append(
                    Trace(
                        events,
                        frozenset(machine.doubts | _vanished(machine)),
                        machine.ambiguous,
                        frozenset(machine.unlinked),
                        frozenset(
                            (site.path, site.line)
                            for site in (*machine.read_at, *(kept for kept, _ in machine.keepings))
                        ),
                        machine.guessed,
                        machine.scale,
                        machine.alone,
                        machine.cut_short or not settled,
                    )
                )
            # Nor is it tried again beside every way to build what then does the same.
            known = tried.setdefault(_deeds(events, machine), set())
            for at in range(len(forced), len(machine.choices)):
                if machine.asked[at] in known:
                    continue
                known.add(machine.asked[at])
                other = (*machine.choices[:at], not machine.choices[at])
                if other not in seen:
                    seen.add(other)
                    # What decides about a clearing is tried first.
                    (queue.appendleft if machine.weights[at] else queue.append)(other)
        self.unfinished = self.unfinished or self.work <= 0
        self.more_paths = self.more_paths or bool(queue)

    def _attempt(self, start: Start, scale: Scale, forced: tuple[bool, ...]) -> tuple[Machine, Scale]:
        for _ in range(4):
            machine = Machine(self.unit, scale, forced, self.find_module, self.units)
            before = machine.budget
            machine.run(start)
            self.work -= before - max(machine.budget, 0)
            learnt = machine.learnt.scale(scale)
            if learnt == scale or self.work <= 0:
                return machine, scale
            scale = learnt
        return machine, scale


def _deeds(events: tuple[ev.Event, ...], machine: Machine) -> int:
    """What happens on a path, wherever the parts that do it were built."""
    numbers: dict[int, int] = {}
    built = ev.AccountOpened | ev.OptimizerBuilt | ev.AccountTaken | ev.SchedulerBuilt | ev.ScalerBuilt
    deeds = tuple(
        (
            type(event),
            None if isinstance(event, built) else event.site,
            tuple(numbers.setdefault(account, len(numbers)) for account in getattr(event, "accounts", ())),
        )
        for event in events
    )
    return hash((deeds, frozenset(machine.doubts), frozenset(machine.unlinked), machine.ambiguous))


def merged(events: list[ev.Event]) -> tuple[ev.Event, ...]:
    """The same events with accounts that always move together made one."""
    signatures: dict[int, list[int]] = {}
    for number, event in enumerate(events):
        if isinstance(event, ev.AccountOpened):
            signatures.setdefault(event.account, []).append(-1 if event.trainable else -2)
        for account in getattr(event, "accounts", ()):
            signatures.setdefault(account, []).append(number)
    first: dict[tuple[int, ...], int] = {}
    stands: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for account, signature in signatures.items():
        leader = first.setdefault(tuple(signature), account)
        stands[account] = leader
        sizes[leader] = sizes.get(leader, 0) + 1
    joined: list[ev.Event] = []
    # Equal events become one object, which the journal then recognises at sight.
    known: dict[ev.Event, ev.Event] = {}
    for event in events:
        if isinstance(event, ev.AccountOpened):
            if stands[event.account] == event.account:
                joined.append(replace(event, size=sizes[event.account]))
            continue
        made = known.get(event)
        if made is None:
            made = event
            accounts = getattr(event, "accounts", None)
            if accounts:
                together = tuple(dict.fromkeys(stands[a] for a in accounts))
                if together != accounts:
                    made = replace(event, accounts=together)  # type: ignore[call-arg]
            known[event] = made
        joined.append(made)
    return tuple(joined)


def _vanished(machine: Machine) -> set[str]:
    """Steps that find nothing though their parameters took part: something unseen may know more."""
    passed = {n for e in machine.events if isinstance(e, ev.BackwardRan) for n in e.accounts}
    # Without any pass there is nothing that could have gone unseen.
    lost = machine.partook - machine.severed - passed if passed else set()
    return {
        f"GL106:{event.site.path}:{event.site.line}"
        for event in machine.events
        if isinstance(event, ev.OptimizerStepped) and event.site and not lost.isdisjoint(event.accounts)
    }
