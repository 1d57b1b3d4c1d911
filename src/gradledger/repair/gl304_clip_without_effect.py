"""GL304: clip between backward and step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.clips import before_step, clip_statement, optimizer_steps, with_condition
from gradledger.repair.edits import Edits
from gradledger.repair.program import Program, before_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import does, is_scaler, receiver, stepped
from gradledger.repair.scope import reaches
from gradledger.rules.finding import Fix


class ClipBeforeTheStep(Repairer):
    """Moves the clip to right above the step, below an unscale if the step goes through a scaler."""

    code = "GL304"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """The nearest steps of the same function, one after the other."""
        clip = clip_statement(case)
        if clip is None:
            return
        late = "after the step" in case.finding.message
        for step in optimizer_steps(case.program, clip):
            if late != (step.lineno <= clip.lineno):
                continue
            yield case.fix("clip before the step", _with_unscale(case, clip, step))
            yield case.fix("clip before the step", before_step(case, clip, step))


def _with_unscale(case: Case, clip: ast.stmt, step: ast.Call) -> Edits:
    """Clip unscaled gradients where the step goes through a scaler that nobody has asked yet."""
    program = case.program
    scaler, optimizer, place = receiver(step), stepped(program, step), program.statement(step)
    if scaler is None or optimizer is None or not is_scaler(program, scaler):
        return None
    whole = with_condition(program, clip, place)
    if whole is None or _unscaled(program, place) or not reaches(program, clip, place):
        return None
    call = f"{program.text_of(scaler)}.unscale_({program.text_of(optimizer)})"
    return case.editor.move(whole, before=place, led_by=call)


def _unscaled(program: Program, place: ast.stmt) -> bool:
    return any(does(statement, "unscale_") for statement in before_of(place, program.block(place)))
