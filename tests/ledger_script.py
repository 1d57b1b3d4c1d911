"""A training loop told as ledger events: each call is one line of the imagined program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from gradledger.audit.auditor import Auditor
from gradledger.ledger import events as ev
from gradledger.ledger.books import Books
from gradledger.ledger.journal import Journal
from gradledger.ledger.site import Site
from gradledger.rules.finding import Certainty, Finding

PATH = "train.py"
LOADER = 7
"""The number of the data loader that gives the batches."""


def at(line: int | None, path: str = PATH) -> Site | None:
    return None if line is None else Site(path, line)


class Script:
    """Posts to a journal that all rules read; optimizer 1 holds account 1 unless told otherwise."""

    apart = False
    """Whether each line stands in a file of its own."""
    before: Callable[[Script], object] | None = None
    """What the program does first."""

    def __init__(self, *, opened: bool = True) -> None:
        self.auditor = Auditor()
        self.journal = Journal(self.auditor)
        if self.before is not None:
            self.before()
        if opened:
            self.optimizer(1, 1).open(1, optimizer=1)

    def at(self, line: int | None) -> Site | None:
        return at(line, f"line{line}.py" if self.apart else PATH)

    def post(self, event: ev.Event) -> Script:
        self.journal.post(event)
        return self

    # -- who is there

    def optimizer(self, line: int | None, number: int = 1) -> Script:
        return self.post(ev.OptimizerBuilt(self.at(line), number, "SGD"))

    def open(self, account: int, optimizer: int | None = None, size: int = 2, **facts: Any) -> Script:
        return self.post(ev.AccountOpened(None, account, size, optimizer=optimizer, **facts))

    # -- the cycle

    def backward(self, line: int | None, *accounts: int, **facts: Any) -> Script:
        return self.post(ev.BackwardRan(self.at(line), accounts or (1,), **facts))

    def batch(self, line: int, *accounts: int, **facts: Any) -> Script:
        """A backward() on a new batch of the loader."""
        return self.backward(line, *accounts, loader=LOADER, **facts)

    def step(self, line: int | None, *accounts: int, optimizer: int | None = 1, **facts: Any) -> Script:
        return self.post(ev.OptimizerStepped(self.at(line), accounts or (1,), optimizer, **facts))

    def clear(self, line: int | None, *accounts: int, owner: int | None = 1, **facts: Any) -> Script:
        return self.post(ev.GradientCleared(self.at(line), accounts or (1,), owner=owner, **facts))

    def clear_nothing(self, line: int | None) -> Script:
        return self.post(ev.GradientCleared(self.at(line), ()))

    def skip(self, line: int, *accounts: int, optimizer: int = 1, scaler: int = 1) -> Script:
        return self.post(ev.StepSkipped(self.at(line), accounts or (1,), optimizer, scaler))

    def refuse(self, line: int, reason: Literal["already-stepped", "never-scaled", "no-gradients"]) -> Script:
        return self.post(ev.StepRefused(self.at(line), (1,), 1, 1, reason))

    def closure(self, line: int, *accounts: int) -> Script:
        return self.post(ev.ClosureEvaluated(self.at(line), accounts or (1,), 1))

    def change(self, line: int | None, *accounts: int, clipping: bool = False, divided_by: int = 0) -> Script:
        return self.post(ev.GradientChanged(self.at(line), accounts or (1,), clipping, divided_by))

    def assign(self, line: int, *accounts: int) -> Script:
        return self.post(ev.GradientAssigned(self.at(line), accounts or (1,)))

    def clip(self, line: int, accounts: tuple[int, ...] = (1,), *, only_measures: bool = False) -> Script:
        return self.post(ev.GradientsClipped(self.at(line), accounts, only_measures))

    def reduce(self, line: int, *accounts: int) -> Script:
        return self.post(ev.GradientsReduced(self.at(line), accounts or (1,)))

    def epoch_ends(self) -> Script:
        return self.post(ev.EpochEnded(None, LOADER))

    def loss(
        self,
        factor: float | None,
        count: float | None = 8,
        *,
        reduction: Literal["mean", "masked", "sum", "unknown"] = "mean",
    ) -> Script:
        return self.post(ev.LossMeasured(None, (1,), reduction, factor, count))

    # -- scalers and schedules

    def scaler(self, line: int, number: int = 1, **facts: Any) -> Script:
        return self.post(ev.ScalerBuilt(self.at(line), number, **facts))

    def unscale(self, line: int) -> Script:
        return self.post(ev.GradientsUnscaled(self.at(line), (1,), 1, 1))

    def scaler_step(self, line: int, scaler: int = 1, optimizer: int = 1) -> Script:
        """`scaler.step(optimizer)` that went through."""
        self.post(ev.ScalerStepped(self.at(line), scaler, optimizer))
        return self.step(line, optimizer=optimizer, scaler=scaler)

    def update(self, line: int, scaler: int = 1) -> Script:
        return self.post(ev.ScalerUpdated(self.at(line), scaler))

    def scheduler(self, line: int, kind: str = "StepLR", *, number: int = 1, **facts: Any) -> Script:
        """A schedule of the optimizer with the same number."""
        return self.post(ev.SchedulerBuilt(self.at(line), number, number, kind, **facts))

    def advance(self, line: int, *, number: int = 1, explicit: bool = False) -> Script:
        return self.post(ev.SchedulerStepped(self.at(line), number, number, explicit))

    # -- the answer

    def end(self, *, complete: bool = True) -> Script:
        return self.post(ev.RunEnded(None, complete))

    @property
    def books(self) -> Books:
        return self.journal.books

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.auditor.findings(self.books)

    @property
    def certain(self) -> list[tuple[str, int]]:
        """Code and line of what is certain."""
        return [(f.code, f.site.line) for f in self.findings if f.certainty is Certainty.CERTAIN]

    @property
    def possible(self) -> list[tuple[str, int]]:
        """Code and line of what is only possible."""
        return [(f.code, f.site.line) for f in self.findings if f.certainty is Certainty.POSSIBLE]

    def only(self, code: str, line: int) -> Finding:
        """The one finding there is, which must be this one."""
        (finding,) = self.findings
        assert (finding.code, finding.site.line) == (code, line), finding
        assert finding.message
        assert finding.remedy
        assert finding.detail
        return finding
