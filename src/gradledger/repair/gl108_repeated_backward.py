"""GL108: differentiate each loss once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair import layout
from gradledger.repair.case import Case
from gradledger.repair.edits import Edits
from gradledger.repair.program import Loop, before_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import BACKWARD, does
from gradledger.repair.scope import reaches
from gradledger.repair.windows import micro_loop
from gradledger.rules.finding import Fix


class DifferentiateOnce(Repairer):
    """Removes the first of two backwards, which the second contains, or takes one out of its loop."""

    code = "GL108"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Only where nothing between the two looks at the gradients."""
        second = case.call(*BACKWARD)
        first = next((call for call in case.related(*BACKWARD) if call is not second), None)
        if second is None:
            return
        statement = case.program.statement(second)
        if first is not None:
            yield case.fix(
                "remove the first backward(): the second contains it", _first_removed(case, first, second)
            )
            return
        loop = micro_loop(case.program, second, case.step())
        if loop is not None and does(statement, *BACKWARD):
            yield case.fix("differentiate once, after the loop", _after_loop(case, statement, loop))


def _first_removed(case: Case, first: ast.Call, second: ast.Call) -> Edits:
    program = case.program
    statement = program.statement(first)
    if not does(statement, *BACKWARD):
        return None
    around = program.parent(statement)
    if isinstance(around, ast.For) and around.body == [statement] and not around.orelse:
        statement = around
    block = program.block(statement)
    below = program.in_block(second, block)
    if below is None or below is statement:
        return None
    between = [s for s in before_of(below, block) if program.start(s) > program.start(statement)]
    return None if any(_reads_gradients(s) for s in between) else case.editor.remove(statement)


def _reads_gradients(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Attribute) and ("grad" in node.attr or node.attr == "step")
        for node in ast.walk(statement)
    )


def _after_loop(case: Case, statement: ast.stmt, loop: Loop) -> Edits:
    """A running sum is complete behind the loop; a loop of nothing else goes away."""
    program = case.program
    if not reaches(program, statement, loop) or statement not in loop.body:
        return None
    if loop.body == [statement]:
        return _instead_of_loop(case, statement, loop)
    if statement is not loop.body[-1] or not _sums_up(statement, loop):
        return None
    return case.editor.move(statement, after=loop)


def _instead_of_loop(case: Case, statement: ast.stmt, loop: Loop) -> Edits:
    program, editor = case.program, case.editor
    if not layout.has_own_lines(program, loop) or loop.orelse:
        return None
    removed = editor.remove(loop)
    lines = editor.lines_of(statement, layout.indent(program, loop))
    if removed is None or lines is None or not layout.starts_line(program, statement):
        return None
    return [editor.edit(removed[0].start, removed[0].end, lines)]


def _sums_up(statement: ast.stmt, loop: Loop) -> bool:
    """Whether the loop adds to the variable that is differentiated."""
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    for node in ast.walk(loop):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()) if name in names:
                return True
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add()) as value) if (
                name in names
            ):
                if any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(value)):
                    return True
    return False
