"""GL305: scale every loss that a scaler's step will use."""

from __future__ import annotations

from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.expressions import in_parentheses
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import STEP, is_plain, receiver, scaling
from gradledger.repair.scope import reaches
from gradledger.rules.finding import Fix


class ScaleTheLoss(Repairer):
    """Writes `scaler.scale(loss).backward()` for `loss.backward()`."""

    code = "GL305"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """At the backward whose loss was not scaled."""
        program = case.program
        step, backward = case.call(*STEP), case.backward()
        scaler = None if step is None else receiver(step)
        loss = None if backward is None else receiver(backward)
        if scaler is None or backward is None or loss is None or not is_plain(scaler):
            return
        if scaling(backward) is not None or backward.args or not reaches(program, scaler, backward):
            return
        name = program.text_of(scaler)
        # `(a + b).backward()` has the parentheses already.
        right = "" if in_parentheses(program, loss) else ")"
        place = program.start(loss)
        if not right:
            place = (place[0], len(program.line(place[0])[: place[1] - 1].rstrip()))
        left = [case.editor.edit(place, place, f"{name}.scale" if not right else f"{name}.scale(")]
        closed = case.editor.around(loss, "", right) if right else []
        yield case.fix(f"scale this loss as well: `{name}.scale(…)`", left, closed)
