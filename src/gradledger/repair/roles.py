"""What a call is in a training loop, by its name and by what the file does with its receiver."""

from __future__ import annotations

import ast

from gradledger.repair.locate import called
from gradledger.repair.program import Program

BACKWARD = ("backward", "manual_backward")
STEP = ("step", "optimizer_step")
CLEAR = ("zero_grad",)
CLIP = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grad_value", "clip_grads_with_norm_")


def receiver(call: ast.Call) -> ast.expr | None:
    """`self.opt` in `self.opt.step()`."""
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def is_plain(node: ast.expr | None) -> bool:
    """Whether reading the expression twice is reading the same thing twice."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=value):
            return is_plain(value)
        case ast.Subscript(value=value, slice=ast.Name() | ast.Constant() | ast.Attribute()):
            return is_plain(value)
    return False


def is_scaler(program: Program, node: ast.expr) -> bool:
    """Whether the expression is a gradient scaler: built as one, or used as only a scaler can be."""
    text = program.text_of(node)
    for call in program.calls:
        owner = receiver(call)
        if owner is not None and called(call) in ("scale", "unscale_") and program.text_of(owner) == text:
            return True
        if "GradScaler" in called(call):
            parent = program.parent(call)
            if isinstance(parent, ast.Assign) and any(program.text_of(t) == text for t in parent.targets):
                return True
    return text.rpartition(".")[2].strip("_") in ("scaler", "grad_scaler", "gradscaler")


def stepped(program: Program, call: ast.Call) -> ast.expr | None:
    """The optimizer that a step steps: its receiver, or the scaler's argument."""
    owner, name = receiver(call), called(call)
    if name == "optimizer_step" or (owner is not None and is_scaler(program, owner)):
        owner = call.args[0] if call.args else None
    return owner if is_plain(owner) else None


def differentiated(call: ast.Call) -> ast.expr | None:
    """The loss of a backward: its receiver, or the argument of a scaler's, library's or torch's own."""
    owner = receiver(call)
    if owner is None:
        return None
    if called(call) == "manual_backward" or (call.args and not _is_loss_method(call)):
        return call.args[0] if call.args else None
    if isinstance(owner, ast.Call) and called(owner) == "scale" and len(owner.args) == 1:
        return owner.args[0]
    return owner


def _is_loss_method(call: ast.Call) -> bool:
    """Whether the argument is the seed of `loss.backward(seed)` and not the loss itself."""
    owner = receiver(call)
    while isinstance(owner, ast.Attribute):
        if owner.attr in ("accelerator", "fabric", "autograd", "engine", "scaler"):
            return False
        owner = owner.value
    names = ("accelerator", "fabric", "engine", "autograd", "self", "trainer", "manager", "runtime", "scaler")
    return not (isinstance(owner, ast.Name) and owner.id in names)


def scaling(call: ast.Call) -> ast.expr | None:
    """`scaler` in `scaler.scale(loss).backward()`."""
    owner = receiver(call)
    if isinstance(owner, ast.Call) and called(owner) == "scale":
        return receiver(owner)
    return None


def expression_call(statement: ast.stmt) -> ast.Call | None:
    """The call that is the whole statement."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return statement.value
    return None


def does(statement: ast.stmt, *names: str) -> bool:
    """Whether the statement is nothing but a call of one of these names, its result kept or not."""
    value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    return isinstance(value, ast.Call) and called(value) in names
