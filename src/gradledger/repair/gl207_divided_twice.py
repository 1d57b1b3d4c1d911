"""GL207: divide once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from gradledger.repair.case import Case
from gradledger.repair.edits import Edits
from gradledger.repair.expressions import ATOMS, closing, in_parentheses, is_receiver
from gradledger.repair.program import Program
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import BACKWARD, differentiated
from gradledger.rules.finding import Fix


class DivideOnce(Repairer):
    """Removes the division of gradients, or the one of the loss by hand."""

    code = "GL207"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """The mean of divided losses, the gradients' division, then the loss's own."""
        program, editor = case.program, case.editor
        statement = case.statement()
        if statement is not None and _divides_gradient(statement):
            whole = _lone(program, statement)
            yield case.fix("divide once: leave the gradients as they are", editor.remove(whole))
            return
        if isinstance(statement, (ast.Return, ast.Assign)) and _is_division(statement.value):
            yield case.fix("divide once", _undivided(case, statement.value))
        backward = case.call(*BACKWARD)
        loss = None if backward is None else differentiated(backward)
        if backward is None or loss is None:
            return
        yield _sum_of_shares(case, loss)
        for division in _divisions(program, loss):
            text = program.text_of(division.right)
            yield case.fix(f"divide by `{text}` once", _undivided(case, division))


def _divides_gradient(statement: ast.stmt) -> bool:
    match statement:
        case ast.AugAssign(op=ast.Div(), target=ast.Attribute(attr="grad")):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="div_", value=ast.Attribute(attr="grad")))):
            return True
    return False


def _is_division(value: ast.expr | None) -> TypeGuard[ast.BinOp]:
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)


def _lone(program: Program, statement: ast.stmt) -> ast.stmt:
    """The loop around the statement where it does nothing else."""
    around = program.parent(statement)
    if isinstance(around, (ast.For, ast.If, ast.With)) and around.body == [statement]:
        return _lone(program, around) if not getattr(around, "orelse", []) else statement
    return statement


def _sum_of_shares(case: Case, loss: ast.expr) -> Fix | None:
    """`torch.stack(losses).mean()` -> `.sum()`."""
    for value in (loss, *_assigned(case.program, loss)):
        match value:
            case ast.Call(func=ast.Attribute(attr="mean", value=owner) as method):
                end = case.program.end(method)
                name = case.editor.edit((end[0], end[1] - len("mean")), end, "sum")
                if not isinstance(owner, ast.Name) or owner.id != "torch":
                    return case.fix("sum the losses that were divided before", [name])
    return None


def _divisions(program: Program, loss: ast.expr) -> list[ast.BinOp]:
    """The divisions by a name or number at the loss itself and where its variable is made."""
    return [value for value in (loss, *_assigned(program, loss)) if _is_division(value)]


def _assigned(program: Program, loss: ast.expr) -> list[ast.expr]:
    """The values that the loss's variable is given in its function."""
    names = {node.id for node in ast.walk(loss) if isinstance(node, ast.Name)}
    function = program.function(loss)
    return [
        node.value
        for node in program.nodes
        if isinstance(node, ast.Assign)
        and program.function(node) is function
        and any(isinstance(target, ast.Name) and target.id in names for target in node.targets)
    ]


def _undivided(case: Case, division: ast.BinOp) -> Edits:
    """`loss / n` -> `loss`."""
    program = case.program
    left, statement = division.left, program.parent(division)
    if isinstance(statement, ast.Assign) and any(
        program.text_of(target) == program.text_of(left) for target in statement.targets
    ):
        return case.editor.remove(statement)  # `loss = loss / n`
    if isinstance(left, ATOMS) and is_receiver(program, division) and in_parentheses(program, division):
        # `(loss / n).backward()`: the parentheses were the division's.
        opening = program.start(division)
        before = program.line(opening[0])[: opening[1] - 1].rstrip()
        return [
            case.editor.edit((opening[0], len(before)), closing(program, division), program.text_of(left))
        ]
    start, end = program.end(left), program.end(division)
    if in_parentheses(program, left) and not is_receiver(program, left):
        line = program.line(start[0])
        start = (start[0], line.index(")", start[1] - 1) + 2)
    return [case.editor.edit(start, end, "")]
