"""GL103: clear once per window."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.clearing import clear_call, needs_gradient, settled, whole_clear
from gradledger.repair.clips import with_condition
from gradledger.repair.edits import Edits
from gradledger.repair.guards import guard_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import differentiated, stepped
from gradledger.repair.scope import reaches
from gradledger.repair.tails import after_loop, at_last_batch
from gradledger.repair.windows import micro_loop, window_length
from gradledger.rules.finding import Fix


class ClearOncePerWindow(Repairer):
    """Moves the clear to the window's edge, and mends the mistakes that this brings to light."""

    code = "GL103"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """The move alone; then with the loss divided, the last window flushed, or both."""
        step = case.step()
        found = case.statement()
        clear = None if found is None else whole_clear(case.program, found)
        if clear is None or step is None:
            return
        if with_condition(case.program, clear, case.program.statement(step)) is not clear:
            return  # a condition of its own says when to clear
        for moved in _moves(case, clear, step):
            yield case.fix("clear once per window", moved)
        moved = next((m for m in _moves(case, clear, step) if m is not None), None)
        divided, flushes = _divided(case, step), _flushes(case, step)
        for flush in flushes:
            yield case.fix("clear once per window, and step the last, short one", moved, flush)
        yield case.fix("clear once per window, and average over it", moved, divided)
        for flush in flushes:
            yield case.fix("clear, average and step once per window", moved, divided, flush)


def _moves(case: Case, clear: ast.stmt, step: ast.Call) -> Iterator[Edits]:
    program, editor = case.program, case.editor
    place = settled(program, program.statement(step))
    loop = micro_loop(program, clear, step)
    if loop is not None and reaches(program, clear, loop) and not needs_gradient(clear):
        yield editor.move(clear, before=loop)
    if reaches(program, clear, place):
        yield editor.move(clear, after=place)
    optimizer = stepped(program, step)
    if optimizer is not None:
        removed, placed = editor.remove(clear), editor.after(place, clear_call(program, optimizer, place))
        yield None if removed is None or placed is None else [*removed, *placed]


def _divided(case: Case, step: ast.Call) -> Edits:
    backward = case.backward()
    loss = None if backward is None else differentiated(backward)
    length = None if backward is None else window_length(case.program, backward, step)
    return None if loss is None or length is None else case.editor.divided(loss, length)


def _flushes(case: Case, step: ast.Call) -> list[Edits]:
    guard = guard_of(case.program, step)
    return [] if guard is None else [at_last_batch(case.editor, guard), after_loop(case.editor, guard)]
