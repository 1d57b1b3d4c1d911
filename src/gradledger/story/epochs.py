"""The table of epochs: sums and means of what the passes and steps of each brought."""

from __future__ import annotations

from gradledger.ledger import details as d
from gradledger.ledger import events as ev
from gradledger.ledger.record import dataclass, field
from gradledger.story.told import Epoch

FEW = 5
"""How many passes make the beginning and the end of an epoch."""
STRETCHES = 10
MOST_EPOCHS = 2_000


_HEARD = {
    *(d.StepsWanted, d.LossSeen, d.AccuracySeen, d.NormSeen, d.MetricSeen, d.BatchTaken, d.LoopTurned),
    *(ev.BackwardRan, ev.OptimizerStepped, ev.StepSkipped, ev.EpochEnded),
}
"""What the table is made of."""


@dataclass(slots=True)
class Sums:
    """What adds up in an epoch."""

    loss: float = 0.0
    weight: float = 0.0
    right: float = 0.0
    answers: int = 0
    norm: float = 0.0
    norms: int = 0
    updates: int = 0
    skipped: int = 0
    passes: int = 0
    stale: int = 0
    rate: float | None = None
    metric: float | None = None
    first: list[float] = field(default_factory=list)
    last: list[float] = field(default_factory=list)

    def add(self, other: Sums) -> None:
        """Take in the epoch that follows."""
        for name in ("loss", "weight", "right", "answers", "norm", "norms"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("updates", "skipped", "passes", "stale"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.rate = self.rate if other.rate is None else other.rate
        self.metric = self.metric if other.metric is None else other.metric
        self.first = self.first or other.first
        self.last = other.last or self.last

    def lost(self, seen: d.LossSeen) -> None:
        """A pass with this loss: the loss function's own where it is known, weighted by its samples."""
        value = seen.value if seen.criterion is None else seen.criterion
        weight = float(seen.samples or 1)
        self.loss += value * weight
        self.weight += weight
        if len(self.first) < FEW:
            self.first.append(value)
        self.last = [*self.last[1 - FEW :], value]

    def row(self, label: str) -> Epoch:
        """The means."""
        return Epoch(
            label,
            self.loss / self.weight if self.weight else None,
            self.right / self.answers if self.answers else None,
            self.metric,
            self.norm / self.norms if self.norms else None,
            self.updates,
            self.skipped,
            self.passes,
            self.rate,
            self.stale,
            sum(self.first) / len(self.first) if self.first else None,
            sum(self.last) / len(self.last) if self.last else None,
        )


class Epochs:
    """Divides a run into epochs, and into stretches of steps where it has none."""

    def __init__(self) -> None:
        self._done: list[Sums] = []
        self._now = Sums()
        self._sources: set[int | None] = set()
        self._feeding: set[int | None] = set()
        """Loaders in use, for passes that do not say whose batch they ran over."""
        self._givers: set[int] = set()
        self._first_batches = False
        """Whether the recording tells of each epoch's first batch; the oldest do not."""
        self._ended: set[int] = set()
        """Loaders that ran out, whose last batches may still be under way."""
        self._unsettled: list[ev.Event] = []
        self._fine: list[Sums] = []
        """The run in pieces of equal numbers of passes, should there be no epochs."""
        self._piece = 1
        self._small = Sums()

    def hear(self, event: ev.Event, rate: float | None = None, *, stale: bool = False) -> None:
        """One more event; with a step its learning rate, and whether it applies old gradients again."""
        if type(event) not in _HEARD:
            return
        if self._ended and isinstance(event, (d.LossSeen, d.AccuracySeen)):
            self._unsettled.append(event)  # only its pass tells which epoch it is of
            return
        self._divide(event)
        if isinstance(event, ev.BackwardRan):
            for earlier in self._unsettled:
                self._add(earlier)
            self._unsettled = []
        self._add(event, rate, stale=stale)
        if isinstance(event, (ev.OptimizerStepped, ev.StepSkipped)) and self._small.passes >= self._piece:
            self._refine()
        if isinstance(event, d.MetricSeen):
            self._measured(event.value)

    def _add(self, event: ev.Event, rate: float | None = None, *, stale: bool = False) -> None:
        for sums in (self._now, self._small):
            match event:
                case d.LossSeen():
                    sums.lost(event)
                case d.AccuracySeen():
                    sums.right += event.value * event.samples
                    sums.answers += event.samples
                case d.NormSeen() if event.before_clip is None:
                    sums.norm += event.value
                    sums.norms += 1
                case ev.BackwardRan():
                    sums.passes += 1
                case ev.OptimizerStepped():
                    sums.updates += 1
                    sums.stale += stale
                    sums.rate = rate if rate is not None else sums.rate
                case ev.StepSkipped():
                    sums.skipped += 1

    def _divide(self, event: ev.Event) -> None:
        """See whether an epoch is over."""
        match event:
            case ev.EpochEnded() if event.source in self._sources:
                if self._first_batches and event.source in self._givers:
                    self._ended.add(event.source)
                else:
                    self._turn()
            case ev.EpochEnded():
                self._feeding.discard(event.source)
            case d.LoopTurned():
                self._turn()
            case d.StepsWanted():
                self._first_batches = True
            case ev.BackwardRan():
                if self._ended and event.loader not in {None, *self._ended}:
                    self._turn()
                self._sources |= {event.loader, event.loop} - {None} or self._feeding
            case d.BatchTaken():
                if event.source in self._ended:
                    self._turn()
                self._feeding.add(event.source)
                self._givers.add(event.source)

    def _measured(self, value: float) -> None:
        """The variable is read when the next epoch begins, and belongs to the one before."""
        whose = self._now if self._now.passes or not self._done else self._done[-1]
        whose.metric = value

    def _turn(self) -> None:
        if self._now.passes and len(self._done) < MOST_EPOCHS:
            self._done.append(self._now)
            self._now = Sums()
            self._sources.clear()
            self._ended.clear()

    def _refine(self) -> None:
        self._fine.append(self._small)
        self._small = Sums()
        if len(self._fine) >= 4 * STRETCHES:
            for left, right in zip(self._fine[::2], self._fine[1::2], strict=False):
                left.add(right)
            self._fine = self._fine[::2]
            self._piece *= 2

    def rows(self) -> tuple[tuple[Epoch, ...], bool]:
        """The table, and whether its rows are stretches of steps."""
        if self._done or self._ended:
            all_of_them = [*self._done, self._now] if self._now.passes else self._done
            return tuple(sums.row(str(number)) for number, sums in enumerate(all_of_them, 1)), False
        pieces = [*self._fine, self._small] if self._small.passes else self._fine
        each = max(1, -(-len(pieces) // STRETCHES))
        rows: list[Epoch] = []
        first = 1
        for start in range(0, len(pieces), each):
            whole = Sums()
            for piece in pieces[start : start + each]:
                whole.add(piece)
            made = whole.updates + whole.skipped
            label = str(first) if made < 2 else f"{first}-{first + made - 1}"
            rows.append(whole.row(label if made else "-"))
            first += made
        return tuple(rows), True
