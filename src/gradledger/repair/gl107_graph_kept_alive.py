"""GL107: keep the number, not the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.locate import called
from gradledger.repair.program import Program
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import receiver
from gradledger.rules.finding import Fix

_NUMERIC = ("float", "sum", "len", "print", "round", "str", "format", "min", "max", "append", "mean", "fmean")


class KeepTheNumber(Repairer):
    """Adds `.item()` where a plain number will do, `.detach()` everywhere else."""

    code = "GL107"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """The likelier of the two first."""
        statement = case.statement()
        kept = None if statement is None else _kept(case.program, statement)
        if kept is None or any(isinstance(value, ast.Constant) for value in kept[1]):
            return
        holder, values = kept
        calls = [".item()", ".detach()"]
        if not all(_is_scalar(case.program, v) for v in values) or not _is_numeric(case.program, holder):
            calls = [".detach()"]
        for call in calls:
            edits = [edit for value in values for edit in case.editor.method(value, call) or ()]
            yield case.fix(f"store the value without its graph: `{call}`", edits)


def _kept(program: Program, statement: ast.stmt) -> tuple[str, list[ast.expr]] | None:
    """Who holds the graphs, and the expressions that bring them in."""
    match statement:
        case ast.AugAssign(target=target, value=value):
            return program.text_of(target), [value]
        case ast.Assign(targets=[target], value=value):
            return _reassigned(program, target, value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append" | "add", value=owner), args=[value])):
            if isinstance(value, (ast.Tuple, ast.List)):
                return program.text_of(owner), [v for v in value.elts if not isinstance(v, ast.Constant)][-1:]
            return program.text_of(owner), [value]
    return None


def _reassigned(program: Program, target: ast.expr, value: ast.expr) -> tuple[str, list[ast.expr]]:
    """`total = total + loss`: everything in the sum but the total itself."""
    holder = program.text_of(target)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        sides = [s for s in (value.left, value.right) if program.text_of(s) != holder]
        if len(sides) == 1:
            return holder, sides
    return holder, [value]


def _is_scalar(program: Program, value: ast.expr) -> bool:
    """Whether the value is a loss that the file differentiates, so that it has one element."""
    text = program.text_of(value)
    for call in program.calls:
        owner = receiver(call)
        if called(call) not in ("backward", "scale", "manual_backward"):
            continue
        sources = [*call.args[:1], *([owner] if owner is not None else [])]
        if any(program.text_of(source) == text for source in sources):
            return True
    return False


def _is_numeric(program: Program, holder: str) -> bool:
    """Whether the holder is a plain variable of which nothing is asked that only a tensor can answer."""
    return holder.isidentifier() and not any(_needs_tensor(program, node, holder) for node in program.nodes)


def _needs_tensor(program: Program, node: ast.AST, holder: str) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == holder:
            return attribute not in ("append", "clear", "extend", "add")
        case ast.Call() if any(program.text_of(argument) == holder for argument in node.args):
            return called(node) not in _NUMERIC
        case ast.Assign(value=ast.Call() as value) if any(program.text_of(t) == holder for t in node.targets):
            return called(value) in ("zeros", "tensor", "zeros_like", "as_tensor")
        case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
            return name == holder
        case ast.Subscript(value=ast.Name(id=name)) if name == holder:
            return isinstance(program.parent(node), ast.Attribute)
        case ast.Return(value=ast.expr() as value):
            # What the caller asks of it is not seen here.
            return any(isinstance(inner, ast.Name) and inner.id == holder for inner in ast.walk(value))
    return False
