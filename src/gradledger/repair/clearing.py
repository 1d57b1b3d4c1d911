"""How this file clears gradients: whose, in which words, and where else it already does."""

from __future__ import annotations

import ast
from collections import Counter

from gradledger.repair.construction import parameters_given
from gradledger.repair.locate import called
from gradledger.repair.program import Program
from gradledger.repair.roles import CLEAR, does, is_plain, receiver
from gradledger.repair.scope import reaches


def clear_call(program: Program, optimizer: ast.expr, place: ast.AST) -> str:
    """The call that clears the optimizer's gradients, in the words that the file uses elsewhere."""
    clears = [call for call in program.calls if called(call) in CLEAR and not call.args]
    model = _cleared_model(program, optimizer, clears)
    owner = model if model is not None and reaches(program, model, place) else optimizer
    options = Counter(
        ", ".join(f"{keyword.arg}={program.text_of(keyword.value)}" for keyword in call.keywords)
        for call in clears
        if all(_is_constant(keyword) for keyword in call.keywords)
    )
    usual = options.most_common(1)[0][0] if options else ""
    return f"{program.text_of(owner)}.zero_grad({usual})"


def _cleared_model(program: Program, optimizer: ast.expr, clears: list[ast.Call]) -> ast.expr | None:
    """The optimizer's model, where the file clears through the model and never through the optimizer."""
    owners = {program.text_of(owner) for owner in map(receiver, clears) if owner is not None}
    if program.text_of(optimizer) in owners:
        return None
    models = (receiver(parameters) for parameters in parameters_given(program, optimizer))
    return next((m for m in models if m is not None and program.text_of(m) in owners), None)


def _is_constant(keyword: ast.keyword) -> bool:
    return keyword.arg is not None and isinstance(keyword.value, ast.Constant)


def cleared(statement: ast.stmt) -> ast.expr | None:
    """Whose gradients the statement clears, where it does nothing else."""
    if isinstance(statement, ast.Expr) and does(statement, *CLEAR) and isinstance(statement.value, ast.Call):
        owner = receiver(statement.value)
        return owner if is_plain(owner) else None
    return None


def whole_clear(program: Program, statement: ast.stmt) -> ast.stmt | None:
    """The statement that does the clearing: one call, or the whole loop of `p.grad = None`."""
    around = program.parent(statement)
    body = getattr(around, "body", [])
    if (
        isinstance(around, ast.If)
        and not around.orelse
        and body == [statement]
        and _asks_for_grad(around.test)
    ):
        return whole_clear(program, around)
    alone = body == [statement] and not getattr(around, "orelse", [])
    if isinstance(around, ast.With) and alone:
        return whole_clear(program, around)
    if isinstance(around, ast.For) and alone and _writes_grad(statement):
        return whole_clear(program, around)
    if isinstance(statement, (ast.For, ast.If, ast.With)):
        return statement if all(_clears(inner) for inner in statement.body) else None
    return statement if _clears(statement) else None


def _clears(statement: ast.stmt) -> bool:
    match statement:
        case ast.For(body=body, orelse=[]) | ast.With(body=body) | ast.If(body=body, orelse=[]):
            return all(_clears(inner) for inner in body)
    return does(statement, *CLEAR) or _writes_grad(statement)


def _writes_grad(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="grad")], value=ast.Constant(value=None)):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="zero_", value=owner))):
            return any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in ast.walk(owner))
        case ast.If(body=[inner], orelse=[], test=test):
            return _asks_for_grad(test) and _writes_grad(inner)
    return False


def needs_gradient(statement: ast.stmt) -> bool:
    """Whether the clear fails where there is no gradient yet: `p.grad.zero_()` without asking."""
    match statement:
        case ast.For(body=body) | ast.With(body=body):
            return any(needs_gradient(inner) for inner in body)
        case ast.If(test=test, body=body):
            return not _asks_for_grad(test) and any(needs_gradient(inner) for inner in body)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="zero_"))):
            return True
    return False


def _asks_for_grad(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in ast.walk(test))


def settled(program: Program, step: ast.stmt) -> ast.stmt:
    """The last statement that closes the update: the step, or the scaler's update right after it."""
    block = program.block(step)
    index = next(i for i, item in enumerate(block) if item is step)
    last = step
    for statement in block[index + 1 :]:
        if not does(statement, "update", "step"):
            break
        if does(statement, "update"):
            last = statement
    return last
