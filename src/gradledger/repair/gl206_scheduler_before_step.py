"""GL206: advance after the step."""

from __future__ import annotations

from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import does
from gradledger.repair.scope import reaches
from gradledger.rules.finding import Fix


class AdvanceAfterTheStep(Repairer):
    """Moves the scheduler's call below the statement that contains the step."""

    code = "GL206"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """In the scheduler's own block."""
        advance, step = case.call("step"), case.step()
        if advance is None or step is None:
            return
        program = case.program
        statement = program.statement(advance)
        if not does(statement, "step"):
            return
        below = program.in_block(step, program.block(statement))
        if below is None or below is statement or program.start(below) < program.start(statement):
            return
        if does(below, "step"):
            following = program.block(below)
            index = next(i for i, item in enumerate(following) if item is below)
            # A scaler's update belongs to its step.
            if index + 1 < len(following) and does(following[index + 1], "update"):
                below = following[index + 1]
        if reaches(program, statement, below):
            yield case.fix("advance after the step", case.editor.move(statement, after=below))
