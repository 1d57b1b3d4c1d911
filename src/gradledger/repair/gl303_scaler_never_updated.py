"""GL303: update the scaler once per iteration."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.program import Program, after_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import STEP, does, expression_call, is_plain, receiver
from gradledger.repair.scalers import calls_of
from gradledger.rules.finding import Fix


class UpdateTheScaler(Repairer):
    """Adds `scaler.update()` below the scaler's last step, or brings the only one there is to that place."""

    code = "GL303"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Below the last step of the block."""
        program, editor = case.program, case.editor
        step = case.call(*STEP)
        scaler = None if step is None else receiver(step)
        if step is None or scaler is None or not is_plain(scaler):
            return
        name = program.text_of(scaler)
        last = _last_step(program, program.statement(step), name)
        added = editor.after(last, f"{name}.update()")
        updates = [program.statement(call) for call in calls_of(program, name, "update")]
        lone = [update for update in updates if not _has_own_step(program, update, name)]
        if not lone:
            yield case.fix("update the scaler once per iteration", added)
        elif len(lone) == 1 and does(lone[0], "update"):
            # It would find no step since the new one, and torch raises there.
            yield case.fix("update the scaler once per iteration", editor.remove(lone[0]), added)


def _has_own_step(program: Program, update: ast.stmt, scaler: str) -> bool:
    """Whether the update closes a step of its own block."""
    return any(does(s, *STEP) and _owner(program, s) == scaler for s in program.block(update))


def _last_step(program: Program, statement: ast.stmt, scaler: str) -> ast.stmt:
    """The last of the scaler's steps in the block: one update closes them all."""
    last = statement
    for below in after_of(statement, program.block(statement)):
        if does(below, *STEP) and _owner(program, below) == scaler:
            last = below
    return last


def _owner(program: Program, statement: ast.stmt) -> str | None:
    call = expression_call(statement)
    owner = None if call is None else receiver(call)
    return None if owner is None else program.text_of(owner)
