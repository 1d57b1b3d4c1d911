"""The condition under which a step is taken once per window."""

from __future__ import annotations

import ast

from gradledger.ledger.record import dataclass
from gradledger.repair.locate import called
from gradledger.repair.program import Program, before_of


@dataclass(frozen=True, slots=True)
class Guard:
    """`if (i + 1) % n == 0:` around a step, or its opposite before a `continue`."""

    branch: ast.If
    test: ast.expr
    """The expression that decides: the branch's own test, or the value of the flag it asks."""
    skips: bool
    """Whether the step is left out, and not taken, where the test is true."""
    count: ast.expr
    """What is counted: `i + 1`, or the counter."""
    every: ast.expr
    """The window's length."""
    modulo: ast.BinOp | None
    """`count % every`, where the guard divides."""


def guard_of(program: Program, node: ast.AST, depth: int = 2) -> Guard | None:
    """The window's guard around a step, in its own function or where that function is called."""
    inside = node
    for around in program.ancestors(node):
        if isinstance(around, ast.If) and inside is not around.test:
            found = _read(program, around, skips=inside in around.orelse)
            if found:
                return found
        if isinstance(inside, ast.stmt):
            for above in before_of(inside, program.block(inside)):
                if isinstance(above, ast.If) and _leaves(above) and not above.orelse:
                    found = _read(program, above, skips=True)
                    if found:
                        return found
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            callers = [call for call in program.calls if called(call) == around.name]
            if depth and len(callers) == 1:
                return guard_of(program, callers[0], depth - 1)
            return None
        inside = around
    return None


def _leaves(branch: ast.If) -> bool:
    return isinstance(branch.body[-1], (ast.Continue, ast.Return))


def _read(program: Program, branch: ast.If, *, skips: bool) -> Guard | None:
    test = _flag(program, branch.test)
    for node in ast.walk(test):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _decides(program, node):
            return Guard(branch, test, skips, node.left, node.right, node)
        match node:
            case ast.Compare(ops=[ast.Eq() | ast.GtE() | ast.Lt() | ast.NotEq()], comparators=[every]):
                trivial = isinstance(every, ast.Constant) and every.value in (0, 1)
                if _is_counter(program, node.left) and not trivial:
                    return Guard(branch, test, skips, node.left, every, None)
    return None


def _flag(program: Program, test: ast.expr) -> ast.expr:
    """The value of a flag that is assigned once in its function; any other test itself."""
    if not isinstance(test, ast.Name):
        return test
    function = program.function(test)
    values = [
        node.value
        for node in program.nodes
        if isinstance(node, ast.Assign)
        and program.function(node) is function
        and any(isinstance(t, ast.Name) and t.id == test.id for t in node.targets)
    ]
    return values[0] if len(values) == 1 else test


def _decides(program: Program, modulo: ast.BinOp) -> bool:
    """Whether the remainder is asked for, and not a part of some other arithmetic."""
    if isinstance(modulo.left, ast.Constant):
        return False  # a format string
    parent = program.parent(modulo)
    return not isinstance(parent, (ast.BinOp, ast.Call, ast.Subscript))


def _is_counter(program: Program, node: ast.expr) -> bool:
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    text = program.text_of(node)
    return any(
        isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Add) and program.text_of(n.target) == text
        for n in program.nodes
    )


def still_open(program: Program, guard: Guard) -> str | None:
    """The condition, behind the loop, that the last window was not stepped."""
    if guard.modulo is None:
        return None
    modulo, parent = program.text_of(guard.modulo), program.parent(guard.modulo)
    match parent:
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()], comparators=[remainder]) if (
            parent.left is guard.modulo
        ):
            return f"{modulo} != {program.text_of(remainder)}"
        case ast.UnaryOp(op=ast.Not()):
            return f"{modulo} != 0"
    return f"{modulo} != 0" if guard.skips and guard.test is guard.modulo else None
