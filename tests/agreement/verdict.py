"""What the numbers say of a program: which rule names each way in which a step misses its window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.agreement.loops import BY_HAND, Guard, Loop, Source
from tests.agreement.recorder import Moment, Reason, Record
from tests.agreement.text import SCALE
from tests.agreement.updates import Bound, History, Update

Place = tuple[str, int]
"""A rule's code and a line."""

MULTIPLIED = 2.0
"""No mean enters with more than 1; one that still carries a scale does."""

EXPLAINED_BY = {
    "GL101": ("GL401",),
    "GL105": ("GL302", "GL101"),
    "GL106": ("GL102",),
    "GL201": ("GL103",),
    "GL202": ("GL204", "GL103", "GL404"),
    "GL206": ("GL205",),
    "GL304": ("GL102", "GL103", "GL106", "GL404"),
}
"""One finding per cause: the rules that describe the same mistake better."""


@dataclass(frozen=True)
class Verdict:
    """What is wrong for certain, and what arithmetic alone leaves open."""

    wrong: frozenset[Place]
    open: frozenset[str]
    cut_short: bool = False
    """The program ended with an error: what would have come after it is not known."""
    pure: bool = True
    """Every step applied passes of its own window alone, each with its own factor."""

    @property
    def codes(self) -> frozenset[str]:
        """The rules that must speak."""
        return frozenset(code for code, _ in self.wrong)


def judged(loop: Loop, record: Record) -> Verdict:
    """The verdict on a whole run."""
    wrong: set[Place] = set()
    unclear: set[str] = set()
    pure = True
    for number in range(len(loop.players)):
        judge = Judge(History(number, loop, record))
        pure &= all(map(judge.history.pure, judge.updates))
        said = set(judge.wrong())
        better = {place: _explained_by(place, said) for place in said}
        wrong |= {place for place in said if not better[place]}
        # What only an open verdict explains, or may explain, is open itself.
        unclear |= {code for code, line in said if _open(code, better[code, line], judge.unclear)}
        unclear |= judge.unclear
    return Verdict(frozenset(wrong), frozenset(unclear), record.crash is not None, pure)


def _explained_by(place: Place, said: set[Place]) -> set[str]:
    return {code for code, _ in said}.intersection(EXPLAINED_BY.get(place[0], ()))


def _open(code: str, better: set[str], unclear: set[str]) -> bool:
    return better <= unclear and not unclear.isdisjoint(EXPLAINED_BY.get(code, ()))


class Judge:
    """Judges one optimizer."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.number = history.number
        self.updates = history.updates
        self.unclear: set[str] = set()

    def wrong(self) -> Iterator[Place]:
        """Everything that is wrong."""
        yield from self.cycle()
        yield from self.wasted()
        yield from self.windows()
        yield from self.schedule()
        yield from self.scaling()
        yield from self.clipping()
        yield from self.crash()
        yield from self.never()

    def often(
        self,
        code: str,
        lines: list[int],
        total: int,
        share: float,
        doubtful: int = 0,
        rest: Sequence[int] = (),
    ) -> Iterator[Place]:
        """Lines that do it in most of the cases, a habit and no accident; open where the doubtful decide.

        Doubtful are so many of the cases, and more at the lines of the rest.
        """
        enough = max(min(2, total), share * total)
        for line, count in Counter(lines).items():
            if count >= enough:
                yield code, line
            if count - doubtful < enough <= count + rest.count(line):
                self.unclear.add(code)

    # -- the cycle --------------------------------------------------------------------------------------

    def cycle(self) -> Iterator[Place]:
        history = self.history
        for update in self.updates:
            foreign = update.inside - history.own
            if foreign and update.fresh:
                yield "GL401", update.at.line
                used = all(history.used_elsewhere(k, update.at.time) for k in foreign)
                new = foreign - update.stale
                if not used or not new or min(new) > max(update.fresh):
                    self.unclear |= {"GL401", "GL101"}  # two losses of one step look the same
            if history.faded(update):
                self.unclear.add("GL101")
            if update.stale and update.fresh:
                yield "GL101", history.line(update.fresh)
            elif update.stale and not update.window:
                yield "GL105", update.at.line
                if foreign - update.stale:
                    self.unclear |= {"GL101", "GL105", "GL401"}  # new, but of no loss that is its own

    def wasted(self) -> Iterator[Place]:
        """Passes that a clearing took from the step that should have used them."""
        emptied: list[int] = []
        thrown: list[int] = []
        rest: list[int] = []
        for update in self.updates:
            lines = {at.line for at in map(self._taken, update.lost) if at is not None}
            if lines and any(map(self._left, update.lost)):
                self.unclear |= {"GL102", "GL103"}  # an epoch's rest goes the same way
            if not update.inside:
                every = {at.line for at in map(self.history.cleared, update.lost) if at is not None}
                if update.lost and (every - lines or not lines):
                    self.unclear.add("GL102")  # the step came after the epoch, too: a rest, or what it had
                emptied += lines | every
            elif len(kept := self.history.lines(update.fresh)) == 1:
                alike = [k for k in update.lost if self.history.lines({k}) == kept]
                taken = {at.line for at in map(self._taken, alike) if at is not None}
                thrown += taken
                rest += {at.line for at in map(self.history.cleared, alike) if at is not None} - taken
            if update.inside and self.history.lines(update.lost) - self.history.lines(update.fresh):
                self.unclear.add("GL102")  # a whole loss is thrown away, unless a line between read it
                emptied += lines
        # A clearing by hand is seen at the next boundary: after the last batch, when the epoch is over.
        by_hand = self.history.loop.players[self.number].clearing in BY_HAND
        doubtful = len({one.at.epoch for one in self.history.passes}) if by_hand else 0
        yield from self.often("GL102", emptied, len(self.updates), 0.5, doubtful)
        # Without a loader, that an epoch is over shows with its next pass: its rest may be thrown before.
        late = rest if self.history.loop.source is Source.LIST else []
        yield from self.often("GL103", thrown, len(self.updates), 0.6, doubtful, late)
        barren = [u.at.line for u in self.updates if not u.inside and not u.window]
        yield from self.often("GL106", barren, len(self.updates), 0.9)

    def _taken(self, number: int) -> Moment | None:
        """The clearing that took a pass away, unless another had used it or its epoch had left it over."""
        at = self.history.cleared(number)
        if at is None or self.history.used_elsewhere(number, at.time):
            return None
        return at if at.inside and at.epoch == self.history.epoch(number) else None

    # -- windows ----------------------------------------------------------------------------------------

    def windows(self) -> Iterator[Place]:
        full = [update for update in self.updates if len(update.fresh) >= 2]
        yield from self.undivided(full)
        yield from self.short_first()
        yield from self.tails()

    def undivided(self, full: list[Update]) -> Iterator[Place]:
        """Means of one line that enter with the factor 1, several to a step."""
        history = self.history
        full = [update for update in full if len(history.lines(update.fresh)) == 1]
        factors = {self._factor(k) for update in full for k in update.fresh}
        if factors == {1.0}:
            yield "GL201", history.line(full[0].fresh)
        if len(full) == 1:
            self.unclear.add("GL201")  # that a line accumulates is known only after its first window
        if any(update.inside - history.own for update in full):
            self.unclear.add("GL201")  # beside another's gradients, what the sum was to be cannot be told

    def _factor(self, number: int) -> float:
        """The factor of a mean without the scaler's scale."""
        factor = self.history.passes[number].factor
        return round(factor / SCALE if factor > MULTIPLIED else factor, 9)

    def short_first(self) -> Iterator[Place]:
        sizes = [len(update.fresh) for update in self.updates]
        counted = self.history.loop.guard not in (Guard.EVERY, Guard.INNER)
        if counted and len(sizes) > 1 and sizes[0] == 1 and sizes[1] >= 2:
            if sizes[1:3] == [sizes[1]] * 2:
                yield "GL204", self.updates[0].at.line
            else:
                self.unclear.add("GL204")

    def tails(self) -> Iterator[Place]:
        """What an epoch leaves over, and what becomes of it."""
        size, line = self._usual()
        if size < 2:
            return
        late = [update for update in self.updates if self._late(update)]
        if any(len(update.fresh) <= size for update in late):
            return  # flushed, or the counter runs on over the epochs
        leaked = any(len(update.fresh) > len(self._late(update)) for update in late)
        if leaked or self._lost_tail(size):
            yield "GL202", line

    def _late(self, update: Update) -> frozenset[int]:
        """The passes whose epoch was over when the step came."""
        at = update.at
        return frozenset(k for k in update.fresh if not at.inside or self.history.epoch(k) != at.epoch)

    def _usual(self) -> tuple[int, int]:
        """The usual size of a window, and the line that steps it."""
        sizes = Counter(len(u.fresh) for u in self.updates if u.fresh and not self._late(u))
        if not sizes:
            return 0, 0
        size = max(sizes, key=lambda one: (sizes[one], one))
        if sizes[size] < 0.6 * sum(sizes.values()):
            self.unclear.add("GL202")
        return size, next(u.at.line for u in self.updates if len(u.fresh) == size)

    def _lost_tail(self, size: int) -> bool:
        """Whether short tails were cleared, or left at the end of the run."""
        applied = {k for update in self.updates for k in update.inside}
        rest = Counter(self.history.epoch(k) for k in self.history.own - applied if self._left(k))
        return any(0 < count < size for count in rest.values())

    def _left(self, number: int) -> bool:
        """Whether the pass was still waiting when its epoch ended."""
        if self.history.cleared(number) is None:
            return self.history.record.crash is None
        return self._taken(number) is None

    # -- schedules: the order of calls ------------------------------------------------------------------

    def schedule(self) -> Iterator[Place]:
        advances, updates = self.history.advances, self.updates
        if not advances or not updates:
            return
        apart = [
            at for before, at in pairwise((None, *advances)) if before is None or self._passed(before, at)
        ]
        between = Counter(sum(a < at.time < b for at in apart) for a, b in self.history.gaps())
        usual, often = between.most_common(1)[0]
        size = _commonest(len(update.fresh) for update in updates)
        if size != self._usual()[0] or size != _commonest(len(u.inside - u.stale) for u in updates):
            self.unclear.add("GL205")
        line, busiest = Counter(at.line for at in advances).most_common(1)[0]
        several = usual >= 2 and size >= 2 and len(updates) >= 2 and busiest > len(updates)
        if several and abs(usual - size) <= 1:
            if often >= 0.6 * len(updates):
                yield "GL205", line
            else:
                self.unclear.add("GL205")
        early = [at for at in advances if at.time < updates[0].at.time]
        if len(early) == 1 and usual <= 1 and sum(at.line == early[0].line for at in advances) >= 2:
            yield "GL206", early[0].line

    def _passed(self, start: Moment, end: Moment) -> bool:
        """Whether any pass has run between the two."""
        return any(start.time < one.at.time < end.time for one in self.history.passes)

    # -- mixed precision and clipping -------------------------------------------------------------------

    def scaling(self) -> Iterator[Place]:
        record = self.history.record
        for clip in self.history.clips:
            if self._still_scaled(clip):
                yield "GL301", clip.at.line
        for update in self.updates:
            new, applied = update.inside - update.stale, self.history.unclipped(update.content, update.at)
            if not update.scaler and any(applied[k] > MULTIPLIED for k in new):
                yield "GL302", update.at.line
            if update.scaler and any(self.history.passes[k].factor <= MULTIPLIED for k in new):
                yield "GL305", update.at.line
        if not record.scaler_updates:
            lines = Counter(call.at.line for call in record.scaler_steps if call.optimizer == self.number)
            yield from (("GL303", line) for line, count in lines.items() if count >= 2)

    def _still_scaled(self, clip: Bound) -> bool:
        """Whether a clip finds what carries a scale."""
        waiting = self._unused(self.history.unclipped(clip.content, clip.at), clip.at)
        return any(weight > MULTIPLIED for weight in waiting.values())

    def _unused(self, content: dict[int, float], at: Moment) -> dict[int, float]:
        used = {k for u in self.updates if u.at.time < at.time for k in u.inside}
        return {k: weight for k, weight in content.items() if k not in used}

    def _since(self, at: Moment) -> int:
        """The time of the last step before."""
        return max((u.at.time for u in self.updates if u.at.time < at.time), default=0)

    def clipping(self) -> Iterator[Place]:
        history = self.history
        idle: list[int] = []
        for clip in history.clips:
            waiting = self._unused(clip.content, clip.at)
            step = next((u for u in self.updates if u.at.time > clip.at.time), None)
            if not waiting and history.between(self._since(clip.at), clip.at.time):
                self.unclear.add("GL304")  # the clear that took what was there may be the one mistake
            elif not waiting:
                if not self._applied_again(clip, step):
                    idle.append(clip.at.line)
            elif self._taken_all(waiting) and not self.unclear.isdisjoint(("GL102", "GL103")):
                self.unclear.add("GL304")  # so may the clear that took what it had bound
            elif step is not None and len(history.lines(step.fresh)) == 1:
                found = step.fresh & frozenset(waiting)
                if found and found < step.fresh and not self._still_scaled(clip):
                    yield "GL307", clip.at.line
        calls = Counter(clip.at.line for clip in history.clips)
        for line in calls:
            yield from self.often("GL304", [one for one in idle if one == line], calls[line], 0.8)

    def _taken_all(self, waiting: dict[int, float]) -> bool:
        """Whether no step ever applies any of these passes, since they were cleared."""
        applied = {k for update in self.updates for k in update.inside}
        return all(self.history.cleared(k) is not None and k not in applied for k in waiting)

    def _applied_again(self, clip: Bound, step: Update | None) -> bool:
        """Whether a second step applies just what the clip has bound: then the clip had its effect."""
        if step is None or self._passed(clip.at, step.at):
            return False
        return bool(step.inside & clip.content.keys())

    # -- what torch refuses, and what never happens -----------------------------------------------------

    def crash(self) -> Iterator[Place]:
        """Why torch refused a step of this optimizer."""
        crash, calls = self.history.record.crash, self.history.record.scaler_steps
        if crash is None or not calls or calls[-1].optimizer != self.number:
            return
        match crash.reason:
            case Reason.TWICE:
                yield "GL303", crash.line
            case Reason.UNSCALED:
                yield "GL305", crash.line
            case Reason.EMPTY:
                now = calls[-1].at
                waiting = self.history.between(self._since(now), now.time)
                taken = {at.line for at in map(self._taken, waiting) if at is not None}
                yield from (("GL102", line) for line in taken)
                if not taken:
                    yield "GL106", crash.line

    def never(self) -> Iterator[Place]:
        """Gradients that are cleared again and again, and no step."""
        history = self.history
        if self.updates or history.record.crash is not None:
            return
        cleared = [k for k in history.reaching if history.cleared(k) is not None]
        if len(history.reaching) >= 3 and len(cleared) >= 2:
            yield "GL404", history.record.built[self.number]


def _commonest(sizes: Iterable[int]) -> int:
    """The size of most windows that hold anything."""
    counted = Counter(size for size in sizes if size)
    return counted.most_common(1)[0][0] if counted else 0
