"""GL202: step the last, short window."""

from __future__ import annotations

from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.guards import guard_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import STEP
from gradledger.repair.tails import after_loop, at_last_batch
from gradledger.rules.finding import Fix


class StepTheTail(Repairer):
    """Steps at the last batch as well, or once more behind the loop."""

    code = "GL202"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """In the guard where the batches can be counted, else behind the loop."""
        step, statement = case.call(*STEP), case.statement()
        guard = guard_of(case.program, step) if step is not None else None
        if guard is None and statement is not None and getattr(statement, "body", None):
            guard = guard_of(case.program, statement.body[0])  # type: ignore[attr-defined]
        if guard is None:
            return
        yield case.fix("step at the last batch as well", at_last_batch(case.editor, guard))
        yield case.fix("step what is left behind the loop", after_loop(case.editor, guard))
