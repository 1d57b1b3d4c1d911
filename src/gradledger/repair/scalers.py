"""The gradient scaler of a finding, and the steps that go through it."""

from __future__ import annotations

import ast

from gradledger.repair.case import Case
from gradledger.repair.locate import call_at, called, statement_at
from gradledger.repair.program import Program
from gradledger.repair.roles import BACKWARD, STEP, is_plain, is_scaler, receiver, scaling


def scaler_of(case: Case) -> ast.expr | None:
    """The scaler that scaled the related loss, or the only scaler its function uses."""
    program = case.program
    for site in case.related_sites():
        backward = call_at(program, site, *BACKWARD)
        owner = None if backward is None else scaling(backward)
        if owner is not None and is_plain(owner):
            return owner
    here = case.statement() or next(
        filter(None, (statement_at(program, site) for site in case.related_sites())), None
    )
    function = None if here is None else program.function(here)
    used = {
        program.text_of(owner): owner
        for call in program.calls
        if called(call) == "scale" and program.function(call) is function
        for owner in (receiver(call),)
        if owner is not None and is_plain(owner) and is_scaler(program, owner)
    }
    return next(iter(used.values())) if len(used) == 1 else None


def calls_of(program: Program, owner: str, *names: str) -> list[ast.Call]:
    """The calls of these methods on the object with this text, all over the file."""
    found = []
    for call in program.calls:
        of = receiver(call)
        if called(call) in names and of is not None and program.text_of(of) == owner:
            found.append(call)
    return found


def scaler_steps(program: Program, near: ast.AST, scaler: str) -> list[ast.Call]:
    """The scaler's steps in the same function, those below the node first."""
    function = program.function(near)
    steps = [call for call in calls_of(program, scaler, *STEP) if program.function(call) is function]
    line = getattr(near, "lineno", 0)
    return sorted(steps, key=lambda call: (call.lineno < line, call.lineno))
