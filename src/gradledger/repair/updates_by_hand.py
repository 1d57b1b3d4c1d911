"""Updates written by hand, `w -= lr * w.grad`, and the clearing that belongs below them."""

from __future__ import annotations

import ast

from gradledger.ledger.site import Site
from gradledger.repair.case import Case
from gradledger.repair.edits import Edits
from gradledger.repair.locate import statement_at
from gradledger.repair.program import Program


def cleared_after(case: Case, site: Site) -> Edits:
    """Below the updates by hand around the site, one clearing for each gradient they used."""
    statement = statement_at(case.program, site)
    if statement is None:
        return None
    block = case.program.block(statement)
    updates = [item for item in block if used_gradient(case.program, item) is not None]
    if statement not in updates:
        return None
    gradients = dict.fromkeys(filter(None, (used_gradient(case.program, item) for item in updates)))
    zeroing = ".grad.zero_()" in case.program.text
    clears = [f"{gradient}.zero_()" if zeroing else f"{gradient} = None" for gradient in gradients]
    return case.editor.after(updates[-1], *clears)


def used_gradient(program: Program, statement: ast.stmt) -> str | None:
    """`w.grad` in `w -= lr * w.grad`, `w.data.sub_(lr * w.grad)` or `w.add_(w.grad, alpha=-lr)`."""
    target: ast.expr | None = None
    match statement:
        case ast.AugAssign(target=target, op=ast.Sub() | ast.Add()):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="sub_" | "add_" | "copy_", value=target))):
            pass
        case ast.Assign(targets=[target]):
            pass
    if target is None:
        return None
    owner = program.text_of(target).removesuffix(".data")
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and node.attr == "grad" and program.text_of(node.value) == owner:
            return f"{owner}.grad"
    return None
