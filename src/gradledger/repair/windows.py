"""The number of micro-batches in a window, as the file writes it."""

from __future__ import annotations

import ast

from gradledger.repair.expressions import atom
from gradledger.repair.guards import guard_of
from gradledger.repair.locate import called
from gradledger.repair.program import Loop, Program
from gradledger.repair.roles import is_plain
from gradledger.repair.scope import reaches

_WRAPPERS = ("enumerate", "tqdm", "trange", "reversed", "track")


def window_length(program: Program, backward: ast.Call, step: ast.Call | None) -> str | None:
    """The window's length in source text that can be read at the backward."""
    for node in _candidates(program, backward, step):
        if reaches(program, node, backward):
            return atom(node, program.text_of(node))
    loop = micro_loop(program, backward, step)
    return None if loop is None else _counted(program, loop)


def _candidates(program: Program, backward: ast.Call, step: ast.Call | None) -> list[ast.expr]:
    guard = guard_of(program, step) if step is not None else None
    found = [guard.every] if guard is not None else []
    loop = micro_loop(program, backward, step)
    length = _length(loop.iter) if isinstance(loop, ast.For) else None
    return [*([length] if length is not None else []), *found]


def micro_loop(program: Program, backward: ast.AST, step: ast.AST | None) -> Loop | None:
    """The outermost loop around the backward and not around the step, in one function."""
    if step is None or program.function(backward) is not program.function(step):
        return None
    around_step = program.loops(step)
    inner = [loop for loop in program.loops(backward) if loop not in around_step]
    return inner[-1] if inner else None


def _length(iterable: ast.expr) -> ast.expr | None:
    """`n` in `range(n)`, `x.chunk(n)`, `zip(x.chunk(n), …)`."""
    match iterable:
        case ast.Call(func=ast.Name(id="range"), args=[length]):
            return length
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=0), length]):
            return length
        case ast.Call(func=ast.Attribute(attr="chunk", value=ast.Name(id="torch")), args=[_, length, *_]):
            return length
        case ast.Call(func=ast.Attribute(attr="chunk" | "tensor_split"), args=[length, *_]):
            return length if not isinstance(length, (ast.List, ast.Tuple)) else None
        case ast.Call(func=ast.Name(id="zip"), args=[first, *rest]):
            return next((n for n in map(_length, (first, *rest)) if n is not None), None)
        case ast.Call(args=[inner, *_]) if called(iterable) in _WRAPPERS:
            return _length(inner)
    return None


def _counted(program: Program, loop: Loop) -> str | None:
    """`len(chunks)` of the list that a micro-loop runs over."""
    if not isinstance(loop, ast.For):
        return None
    parts = loop.iter
    while isinstance(parts, ast.Call) and parts.args and called(parts) in (*_WRAPPERS, "zip"):
        parts = parts.args[0]
    return f"len({program.text_of(parts)})" if is_sized(program, parts) else None


def is_sized(program: Program, node: ast.expr) -> bool:
    """Whether `len()` can be asked of the expression: it is elsewhere, or this is a list or a loader."""
    if isinstance(node, ast.Call):
        return called(node) in ("split", "chunk", "list") and is_plain(getattr(node.func, "value", None))
    if not is_plain(node):
        return False
    text = program.text_of(node)
    for call in program.calls:
        if called(call) == "len" and len(call.args) == 1 and program.text_of(call.args[0]) == text:
            return True
    builds = ("DataLoader", "list", "split", "chunk", "sorted")
    values = [
        n.value
        for n in program.nodes
        if isinstance(n, ast.Assign) and any(program.text_of(t) == text for t in n.targets)
    ]
    if values:
        lists = (ast.List, ast.ListComp, ast.Tuple)
        return all(isinstance(v, lists) or (isinstance(v, ast.Call) and called(v) in builds) for v in values)
    return any(word in text.lower() for word in ("loader", "batches"))
