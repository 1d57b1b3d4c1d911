"""Conditions under which a library lets a step pass: Accelerate's `sync_gradients`."""

from __future__ import annotations

import ast

from gradledger.repair.locate import called
from gradledger.repair.program import Program
from gradledger.repair.roles import is_plain, receiver


def sync_gate(program: Program, statement: ast.stmt, update: ast.stmt) -> str | None:
    """`accelerator.sync_gradients`, where both statements stand under `accelerator.accumulate()`."""
    manager = _accumulating(program, update)
    inside = manager is not None and any(around is manager for around in program.ancestors(statement))
    if manager is None or not (inside or program.block(statement) is program.block(manager)):
        return None
    for item in manager.items:
        context = item.context_expr
        if isinstance(context, ast.Call) and called(context) == "accumulate":
            owner = receiver(context)
            if owner is not None and is_plain(owner):
                return f"{program.text_of(owner)}.sync_gradients"
    return None


def _accumulating(program: Program, node: ast.AST) -> ast.With | None:
    for around in program.ancestors(node):
        if isinstance(around, ast.With) and any(
            isinstance(item.context_expr, ast.Call) and called(item.context_expr) == "accumulate"
            for item in around.items
        ):
            return around
    return None
