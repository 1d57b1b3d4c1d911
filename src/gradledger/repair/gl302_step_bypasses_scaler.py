"""GL302: step through the scaler."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.edits import Edits
from gradledger.repair.program import Program, after_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import STEP, does, expression_call, receiver, stepped
from gradledger.repair.scalers import calls_of, scaler_of
from gradledger.repair.scope import reaches
from gradledger.rules.finding import Fix


class StepThroughTheScaler(Repairer):
    """Writes `scaler.step(optimizer)` for `optimizer.step()`, and the scaler's update below it."""

    code = "GL302"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Under the condition under which the loss was scaled, if there is one."""
        program = case.program
        step, scaler = case.call(*STEP), scaler_of(case)
        if step is None or scaler is None or step.args or step.keywords:
            return
        optimizer, statement = stepped(program, step), program.statement(step)
        if optimizer is None or not does(statement, *STEP) or not reaches(program, scaler, statement):
            return
        name = program.text_of(scaler)
        through, update = f"{name}.step({program.text_of(optimizer)})", f"{name}.update()"
        description = f"step through the scaler: `{through}`"
        updated = _updated_below(program, statement, name) or _updated_elsewhere(program, statement, name)
        condition = _condition(case, statement)
        if condition is not None:
            code = [through] if updated else [through, update]
            yield case.fix(description, _two_arms(case, statement, condition, code))
            return
        replaced = case.editor.replace(step, through)
        if updated:
            yield case.fix(description, replaced)
        else:
            yield case.fix(description, replaced, case.editor.after(statement, update))


def _two_arms(case: Case, statement: ast.stmt, condition: str, code: list[str]) -> Edits:
    """`if use_amp:` through the scaler, `else:` as it was."""
    editor = case.editor
    nested = editor.nest(statement, "else:")
    arm = editor.before(statement, f"if {condition}:", *("\t" + line for line in code))
    if nested is None or arm is None or arm[0].start > nested[0].start:
        return None
    # A comment above the step stays above the whole.
    merged = editor.edit(nested[0].start, nested[0].end, arm[0].text + nested[0].text)
    return [merged, *nested[1:]]


def _updated_elsewhere(program: Program, statement: ast.stmt, scaler: str) -> bool:
    """Whether another function updates the scaler, as when two networks take turns."""
    function = program.function(statement)
    return any(program.function(call) is not function for call in calls_of(program, scaler, "update"))


def _updated_below(program: Program, statement: ast.stmt, scaler: str) -> bool:
    """Whether the scaler is updated further down in the same block."""
    for below in after_of(statement, program.block(statement)):
        call = expression_call(below)
        owner = None if call is None else receiver(call)
        if owner is not None and does(below, "update") and program.text_of(owner) == scaler:
            return True
    return False


def _condition(case: Case, statement: ast.stmt) -> str | None:
    """The condition of the branch in which the loss is scaled, where the step is outside of it."""
    program, backward = case.program, case.backward()
    if backward is None or program.function(backward) is not program.function(statement):
        return None
    around_step = list(program.ancestors(statement))
    inside: ast.AST = backward
    for around in program.ancestors(backward):
        if around in around_step:
            break
        if isinstance(around, ast.If) and inside in around.body and around.orelse:
            return program.text_of(around.test)
        inside = around
    return None
