"""From a recording to its story, in one pass and bounded memory."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger import details as d
from gradledger.ledger import events as ev
from gradledger.ledger.journal import Journal
from gradledger.story.curve import Thinning
from gradledger.story.epochs import Epochs
from gradledger.story.layers import layers
from gradledger.story.observation import observed, summed_up
from gradledger.story.stages import stages
from gradledger.story.state import NOTHING, gradients
from gradledger.story.told import Story
from gradledger.story.window import Item, StepWindow

CURVES = ("loss", "accuracy", "norm", "rate", "scale", "memory")


class _Teller:
    """Reads events and keeps what the story needs."""

    def __init__(self, step: int) -> None:
        self.journal = Journal()
        self.windows = [StepWindow(number) for number in sorted({1, step}, reverse=True)]
        """The step that was asked for, and the first one, should the run be shorter."""
        self.begun: dict[int, tuple[dict[int, float], dict[int, float]]] = {}
        self.epochs = Epochs()
        self.curves = {name: Thinning() for name in CURVES}
        self.metric: str | None = None
        self.complete = False
        self.closed = 0
        self._main: int | None = None
        self._by_batches = False
        self._rates: dict[int, float] = {}
        self._scales: dict[int, float] = {}

    def hear(self, event: ev.Event) -> None:
        """One more event."""
        wanting = [window for window in self.windows if window.wants]
        books = self.journal.books
        before = gradients(books) if wanting else NOTHING
        stale = isinstance(event, ev.OptimizerStepped) and self._is_stale(event)
        if isinstance(event, d.Detail):
            after = before
            self._detail(event)
        else:
            self.journal.post(event)
            after = gradients(books) if wanting else NOTHING
        for window in wanting:
            if not window.items:
                self.begun[window.step] = dict(self._rates), dict(self._scales)
            window.add(event, before, after, by_batches=self._by_batches)
        self._booked(event, stale=stale)

    def _is_stale(self, event: ev.OptimizerStepped) -> bool:
        accounts = self.journal.books.accounts
        states = [accounts[number] for number in event.accounts if number in accounts]
        return any(state.stale and state.content == "held" for state in states)

    def _detail(self, event: d.Detail) -> None:
        passes, closed = self.journal.books.backwards, self.closed
        match event:
            case d.BatchTaken():
                self._by_batches = True
            case d.LossSeen():
                value = event.value if event.criterion is None else event.criterion
                self.curves["loss"].add(passes + 1, value)
            case d.AccuracySeen():
                self.curves["accuracy"].add(passes + 1, event.value)
            case d.NormSeen() if event.before_clip is None:
                self.curves["norm"].add(closed + 1, event.value)
            case d.RateSeen():
                self._rates[event.optimizer] = event.value
            case d.ScaleSeen():
                self._scales[event.scaler] = event.value
                self.curves["scale"].add(closed, event.value)
            case d.MemorySeen():
                self.curves["memory"].add(passes, event.gradients)
            case d.MetricSeen():
                self.metric = event.name
            case _:
                pass

    def _booked(self, event: ev.Event, *, stale: bool) -> None:
        rate = None
        if isinstance(event, (ev.OptimizerStepped, ev.StepSkipped)):
            if self._main is None:
                self._main = event.optimizer
            rate = self._rates.get(event.optimizer or 0)
            if event.optimizer == self._main:
                self.closed += 1
                if rate is not None:
                    self.curves["rate"].add(self.closed, rate)
                for window in self.windows:
                    window.closed(self.closed, event)
        elif isinstance(event, ev.RunEnded):
            self.complete = event.complete
        self.epochs.hear(event, rate, stale=stale)


def tell(events: Iterable[ev.Event], step: int = 2) -> Story:
    """The story of these events; the first step is shown where there is no such step."""
    teller = _Teller(step)
    for event in events:
        teller.hear(event)
    window = next((window for window in teller.windows if window.found), teller.windows[-1])
    items = window.items
    rates, scales = teller.begun.get(window.step, ({}, {}))
    sample, loss, scaler = layers(item.event for item in items)
    rows, by_steps = teller.epochs.rows()
    table = observed(rows)
    books = teller.journal.books
    return Story(
        step=window.step if window.found else 0,
        steps=teller.closed,
        passes=books.backwards,
        stages=stages(items, rates, scales),
        layers=sample,
        loss=loss,
        scale=None if scaler is None else _scale_in(items, scaler, scales),
        epochs=table,
        by_steps=by_steps,
        curves={name: kept.curve() for name, kept in teller.curves.items()},
        metric=teller.metric,
        observation=summed_up(table),
        complete=teller.complete,
    )


def _scale_in(items: Iterable[Item], scaler: int, scales: dict[int, float]) -> float | None:
    """The scale that the window's first pass was made with."""
    scale = scales.get(scaler)
    for item in items:
        if isinstance(item.event, d.ScaleSeen) and item.event.scaler == scaler:
            scale = item.event.value
        elif isinstance(item.event, ev.BackwardRan):
            break
    return scale
