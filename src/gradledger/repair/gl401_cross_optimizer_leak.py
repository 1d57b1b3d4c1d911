"""GL401: clear before the optimizer's own backward."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.clearing import clear_call, cleared
from gradledger.repair.program import Program
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import BACKWARD, STEP, stepped
from gradledger.repair.scope import reaches
from gradledger.rules.finding import Fix


class ClearBeforeOwnBackward(Repairer):
    """Moves the optimizer's clear, or adds one, to right above the backward that its step is for."""

    code = "GL401"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """A clear in the same block is moved; otherwise one is added."""
        step = case.call(*STEP)
        backwards = list(case.related(*BACKWARD))
        optimizer = None if step is None else stepped(case.program, step)
        if optimizer is None or len(backwards) < 2:
            return
        program, editor = case.program, case.editor
        foreign, own = program.statement(backwards[0]), program.statement(backwards[-1])
        if foreign is own or not reaches(program, optimizer, own):
            return
        name = program.text_of(optimizer)
        block = program.block(own)
        clears = _clears(program, own, name)
        if len(clears) == 1 and clears[0] in block:
            yield case.fix(f"clear `{name}` before its own backward()", editor.move(clears[0], before=own))
        call = clear_call(program, optimizer, own)
        yield case.fix(f"clear before its own backward(): `{call}`", editor.before(own, call))


def _clears(program: Program, own: ast.stmt, name: str) -> list[ast.stmt]:
    """The statements of the same function that clear this optimizer."""
    function = program.function(own)
    found = []
    for node in program.nodes:
        if isinstance(node, ast.Expr) and program.function(node) is function:
            owner = cleared(node)
            if owner is not None and program.text_of(owner) == name:
                found.append(node)
    return list(found)
