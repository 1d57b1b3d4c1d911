"""GL105: step once per update."""

from __future__ import annotations

from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.guards import guard_of, still_open
from gradledger.repair.program import before_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import STEP, does
from gradledger.rules.finding import Fix


class StepOnce(Repairer):
    """Removes the second step, or takes it only where a window is still open."""

    code = "GL105"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """A flush behind a window's loop keeps its use; any other second step goes."""
        step, first = case.call(*STEP), case.step()
        if step is None or first is None or step is first:
            return
        program, editor = case.program, case.editor
        statement = program.statement(step)
        if not does(statement, *STEP):
            return
        guard = guard_of(program, first)
        loops = program.loops(first)
        condition = None if guard is None else still_open(program, guard)
        if condition is not None and loops and loops[0] in before_of(statement, program.block(statement)):
            nested = editor.nest(statement, f"if {condition}:")
            yield case.fix("flush only a window that is still open", nested)
        yield case.fix("remove the second step", editor.remove(statement))
