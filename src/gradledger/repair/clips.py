"""Moving a clip to its right place: between the last backward and the step."""

from __future__ import annotations

import ast

from gradledger.repair.case import Case
from gradledger.repair.edits import Edits
from gradledger.repair.locate import called
from gradledger.repair.program import Program
from gradledger.repair.roles import STEP, does, is_scaler, receiver
from gradledger.repair.scope import reaches


def before_step(case: Case, clip: ast.stmt, step: ast.Call) -> Edits:
    """Move the clip to right above the step."""
    place = case.program.statement(step)
    whole = with_condition(case.program, clip, place)
    if whole is None or not does(place, *STEP) or not reaches(case.program, clip, place):
        return None
    return case.editor.move(whole, before=place)


def with_condition(program: Program, clip: ast.stmt, place: ast.stmt) -> ast.stmt | None:
    """The clip, or the `if` that is there for it alone; None if it would leave a condition behind."""
    here = clip
    around = set(map(id, program.ancestors(place)))
    for outer in program.ancestors(clip):
        if id(outer) in around:
            return here
        if isinstance(outer, ast.If):
            if outer.orelse or outer.body != [here]:
                return None
            here = outer
    return here


def optimizer_steps(program: Program, near: ast.stmt) -> list[ast.Call]:
    """The steps in the clip's function that may be an optimizer's, the nearest above first, then below."""
    function = program.function(near)
    steps = [
        call
        for call in program.calls
        if called(call) in STEP and program.function(call) is function and not _is_schedule(program, call)
    ]
    above = sorted((s for s in steps if s.lineno <= near.lineno), key=lambda s: -s.lineno)
    return above + sorted((s for s in steps if s.lineno > near.lineno), key=lambda s: s.lineno)


def _is_schedule(program: Program, call: ast.Call) -> bool:
    owner = receiver(call)
    if owner is None or is_scaler(program, owner):
        return False
    text = program.text_of(owner)
    if "sched" in text.lower():
        return True
    for node in program.nodes:
        if isinstance(node, ast.Assign) and any(program.text_of(t) == text for t in node.targets):
            built = program.text_of(node.value).lower()
            if "lr_scheduler" in built or "schedule" in built:
                return True
    return False


def clip_statement(case: Case) -> ast.stmt | None:
    """The statement of a clip that is a call of its own, its result kept or not.

    A condition that it alone stands under, `if max_norm > 0:`, goes with it.
    """
    found = case.statement()
    if found is None or not isinstance(found, (ast.Expr, ast.Assign)):
        return None
    around = case.program.parent(found)
    alone = isinstance(around, ast.If) and around.body == [found] and not around.orelse
    return around if alone and isinstance(around, ast.If) else found
