"""From a recording to its story, in one pass and bounded memory."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger import details as d
from gradledger.ledger import events as ev
from gradledger.ledger.books import Books
from gradledger.ledger.journal import Journal
from gradledger.story.curves import Curves
from gradledger.story.epochs import Epochs
from gradledger.story.layers import layers
from gradledger.story.observation import observed, summed_up
from gradledger.story.stages import stages
from gradledger.story.state import NOTHING, gradients
from gradledger.story.told import Gradients, Story
from gradledger.story.window import Item, StepWindow


class Teller:
    """Hears the events of a run on both sides of their booking, and keeps what the story needs."""

    def __init__(self, books: Books, step: int | None = None) -> None:
        self._books = books
        self._asked = step
        self._windows: list[StepWindow] = []
        """The step to show, and the first one, should the run be shorter."""
        self._want(step or d.DEFAULT_STEP)
        self._begun: dict[int, tuple[dict[int, float], dict[int, float]]] = {}
        self._epochs = Epochs()
        self._curves = Curves()
        self._metric: str | None = None
        self._complete = False
        self._closed = 0
        self._main: int | None = None
        self._by_batches = False
        self._evaluated = self._by_closure = False
        """Whether the running step, and the last one, evaluated a closure several times."""
        self._rates: dict[int, float] = {}
        self._scales: dict[int, float] = {}
        self._wanting: list[StepWindow] = []
        self._before: Gradients = NOTHING
        self._stale = False
        self.detailed = False
        """Whether anything was looked at closely."""

    def _want(self, step: int) -> None:
        self._windows = [StepWindow(number) for number in sorted({1, step}, reverse=True)]

    def coming(self, event: ev.Event) -> None:
        """One more event, which is about to be booked."""
        self._wanting = [window for window in self._windows if window.wants]
        self._before = gradients(self._books) if self._wanting else NOTHING
        self._stale = isinstance(event, ev.OptimizerStepped) and self._is_stale(event)

    def came(self, event: ev.Event) -> None:
        """It has been booked."""
        after = gradients(self._books) if self._wanting else NOTHING
        self._collect(event, self._before, after)
        self._booked(event)

    def overhear(self, event: ev.Event) -> None:
        """One more event of a recording without details, of which only curves can be made."""
        self._curves.hear(event)

    def look(self, detail: d.Detail) -> None:
        """One more detail, which nobody books."""
        self.detailed = True
        self._wanting = [window for window in self._windows if window.wants]
        self._detail(detail)
        if self._wanting:
            now = gradients(self._books)
            self._collect(detail, now, now)
        self._epochs.hear(detail)
        self._curves.hear(detail)

    def story(self) -> Story:
        """All that was heard."""
        window = next((window for window in self._windows if window.found), self._windows[-1])
        items = window.items
        rates, scales = self._begun.get(window.step, ({}, {}))
        sample, loss, scaler = layers(item.event for item in items)
        rows, by_steps = self._epochs.rows()
        table = observed(rows)
        return Story(
            step=window.step if window.found else 0,
            steps=self._closed,
            passes=self._books.backwards,
            stages=stages(items, rates, scales),
            layers=sample,
            loss=loss,
            scale=None if scaler is None else _scale_in(items, scaler, scales),
            epochs=table,
            by_steps=by_steps,
            curves=self._curves.told(),
            skips=tuple(self._curves.skips),
            epoch_ends=tuple(self._curves.epochs),
            metric=self._metric,
            observation=summed_up(table),
            complete=self._complete,
        )

    def _collect(self, event: ev.Event, before: Gradients, after: Gradients) -> None:
        for window in self._wanting:
            if not window.items:
                self._begun[window.step] = dict(self._rates), dict(self._scales)
            window.add(event, before, after, by_batches=self._by_batches, by_closure=self._by_closure)

    def _is_stale(self, event: ev.OptimizerStepped) -> bool:
        accounts = self._books.accounts
        states = [accounts[number] for number in event.accounts if number in accounts]
        return any(state.stale and state.content == "held" for state in states)

    def _detail(self, event: d.Detail) -> None:
        match event:
            case d.BatchTaken():
                self._by_batches = True
            case d.RateSeen():
                self._rates[event.optimizer] = event.value
            case d.ScaleSeen():
                self._scales[event.scaler] = event.value
            case d.MetricSeen():
                self._metric = event.name
            case d.StepsWanted() if self._asked is None and event.steps:
                self._want(max(event.steps))
            case _:
                pass

    def _booked(self, event: ev.Event) -> None:
        rate = None
        if isinstance(event, (ev.OptimizerStepped, ev.StepSkipped)):
            if self._main is None:
                self._main = event.optimizer
            self._by_closure, self._evaluated = self._evaluated, False
            rate = self._rates.get(event.optimizer or 0)
            if event.optimizer == self._main:
                self._closed += 1
                for window in self._windows:
                    window.closed(self._closed, event)
        elif isinstance(event, ev.RunEnded):
            self._complete = event.complete
        elif isinstance(event, ev.ClosureEvaluated):
            self._evaluated = True
        self._epochs.hear(event, rate, stale=self._stale)
        self._curves.hear(event)


def tell(events: Iterable[ev.Event], step: int | None = None) -> Story:
    """The story of these events, by default of the step that was looked at; else the first is shown."""
    journal = Journal()
    teller = Teller(journal.books, step)
    for event in events:
        if isinstance(event, d.Detail):
            teller.look(event)
        else:
            teller.coming(event)
            journal.post(event)
            teller.came(event)
    return teller.story()


def _scale_in(items: Iterable[Item], scaler: int, scales: dict[int, float]) -> float | None:
    """The scale that the window's first pass was made with."""
    scale = scales.get(scaler)
    for item in items:
        if isinstance(item.event, d.ScaleSeen) and item.event.scaler == scaler:
            scale = item.event.value
        elif isinstance(item.event, ev.BackwardRan):
            break
    return scale
