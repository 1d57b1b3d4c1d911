"""GL205: advance the schedule once per update."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.gates import sync_gate
from gradledger.repair.program import Program, after_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import CLEAR, does
from gradledger.repair.scope import reaches
from gradledger.rules.finding import Fix


class AdvanceOncePerUpdate(Repairer):
    """Moves the scheduler's call below the step, under the step's own guard."""

    code = "GL205"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Below the update, or where a library decides about the step, under the library's condition."""
        advance, step = case.call("step"), case.step()
        if advance is None or step is None:
            return
        program, editor = case.program, case.editor
        statement, update = program.statement(advance), program.statement(step)
        if not does(statement, "step") or statement is update:
            return
        gate = sync_gate(program, statement, update)
        if gate is not None:
            yield case.fix("advance once per update", editor.nest(statement, f"if {gate}:"))
        last = end_of_update(program, update, leaving=statement)
        if reaches(program, statement, last):
            yield case.fix("advance once per update, after the step", editor.move(statement, after=last))


def end_of_update(program: Program, update: ast.stmt, leaving: ast.stmt) -> ast.stmt:
    """The last of the calls that follow the step and belong to it."""
    last = update
    for statement in after_of(update, program.block(update)):
        if statement is leaving or not does(statement, "update", *CLEAR):
            break
        last = statement
    return last
