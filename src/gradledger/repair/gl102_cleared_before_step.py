"""GL102: clear before the backward or after the step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.clearing import clear_call, needs_gradient, settled, whole_clear
from gradledger.repair.program import Program
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import stepped
from gradledger.repair.scope import reaches
from gradledger.rules.finding import Fix


class ClearOutsideTheUpdate(Repairer):
    """Drops a clear that another one makes needless, or moves it out of the update."""

    code = "GL102"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Remove, move up, move down, in this order."""
        program, editor = case.program, case.editor
        found = case.statement()
        clear = None if found is None else whole_clear(program, found)
        if clear is None:
            return
        step, backward = case.step(), case.backward()
        removed = case.fix("remove this clear: the gradients are cleared elsewhere", editor.remove(clear))
        if _elsewhere(program, clear):
            yield removed
        if backward is not None:
            above = program.in_block(backward, program.block(clear))
            early = above is not None and program.start(above) < program.start(clear)
            if early and not needs_gradient(clear):
                yield case.fix("clear before the backward()", editor.move(clear, before=above))
        if step is None:
            return
        place = settled(program, program.statement(step))
        if reaches(program, clear, place):
            yield case.fix("clear after the step", editor.move(clear, after=place))
        optimizer = stepped(program, step)
        if optimizer is not None:
            call = clear_call(program, optimizer, place)
            yield case.fix("clear after the step", editor.remove(clear), editor.after(place, call))


def _elsewhere(program: Program, clear: ast.stmt) -> bool:
    """Whether the same clear stands a second time in the same block."""
    text = program.text_of(clear)
    return any(s is not clear and program.text_of(s) == text for s in program.block(clear))
