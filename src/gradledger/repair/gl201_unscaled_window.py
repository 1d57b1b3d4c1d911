"""GL201: average over the window."""

from __future__ import annotations

from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.guards import guard_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import BACKWARD, differentiated
from gradledger.repair.tails import after_loop, at_last_batch
from gradledger.repair.windows import window_length
from gradledger.rules.finding import Fix


class AverageOverTheWindow(Repairer):
    """Divides the loss where it is differentiated, so that what is logged stays as it was."""

    code = "GL201"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Divide by the window's length as the file writes it."""
        backward, step = case.call(*BACKWARD), case.step()
        if backward is None:
            return
        loss = differentiated(backward)
        length = window_length(case.program, backward, step)
        if loss is None or length is None:
            return
        divided = case.editor.divided(loss, length)
        yield case.fix(f"divide the loss by the window's length, `{length}`", divided)
        guard = None if step is None else guard_of(case.program, step)
        if guard is not None:
            for flush in (at_last_batch(case.editor, guard), after_loop(case.editor, guard)):
                yield case.fix("divide the loss, and step the last, short window", divided, flush)
