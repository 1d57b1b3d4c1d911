"""What the source text around a line says: loops, guards, statements on gradients that no call reveals."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from functools import lru_cache

from gradledger.ledger.record import replace
from gradledger.ledger.site import Site

_LOOKS = re.compile(r"grad|parameters\s*\(|norm|\.step\b|scaler|clip|log|hook|state")

_CLIPS = re.compile(r"\s*([\w.]+\.)?clip_grad_(norm|value)_\(.*\)\s*(#.*)?$")
"""A clip whose norm nobody keeps is no look."""

_CLEARS = {"zero_", "detach_", "_foreach_zero_", "fill_"}


@lru_cache(maxsize=256)
def parsed(path: str) -> ast.Module | None:
    """The file as a syntax tree; None if it cannot be read as Python."""
    text = "".join(linecache.getlines(path))
    try:
        return ast.parse(text) if text else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def ancestors(path: str, line: int) -> list[ast.AST]:
    """The statements and definitions around a line, outermost first."""
    tree = parsed(path)
    if tree is None:
        return []
    chain: list[ast.AST] = []
    node: ast.AST | None = tree
    while node is not None:
        inner = None
        for child in ast.iter_child_nodes(node):
            start, end = getattr(child, "lineno", None), getattr(child, "end_lineno", None)
            if start is not None and end is not None and start <= line <= end:
                inner = child
                if isinstance(child, (ast.stmt, ast.excepthandler)):
                    break
        if inner is not None and isinstance(inner, (ast.stmt, ast.excepthandler, ast.Lambda)):
            chain.append(inner)
        elif inner is not None and isinstance(inner, ast.expr):
            break
        node = inner
    return chain


_Loop = ast.For | ast.AsyncFor | ast.While
_Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def within_function(chain: list[ast.AST]) -> list[ast.AST]:
    """The part of them inside the innermost function."""
    last = max((i for i, node in enumerate(chain) if isinstance(node, _Def)), default=-1)
    return chain[last + 1 :]


def loops_around(path: str, line: int) -> list[_Loop]:
    """The loops around a line within its function, innermost first; a line in a loop's head is outside it."""
    chain = within_function(ancestors(path, line))
    return [n for n in reversed(chain) if isinstance(n, _Loop) and n.body[0].lineno <= line]


def loop_names(loop: _Loop) -> tuple[str, ...]:
    """The names a for loop binds."""
    if isinstance(loop, ast.While):
        return ()
    return tuple(node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name))


Stack = tuple[Site, ...]
"""The user's lines on the stack, innermost first."""


def meeting(steps: Stack, backwards: Stack) -> tuple[Site, Site] | None:
    """The lines of the innermost function from which both were reached."""
    for step in steps:
        for backward in backwards:
            if (step.path, step.function) == (backward.path, backward.function):
                return step, backward
    return None


def owner_of(path: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function around a line."""
    chain = reversed(ancestors(path, line))
    return next((n for n in chain if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)), None)


def _owner_name(path: str, line: int) -> str:
    owner = owner_of(path, line)
    return "" if owner is None else owner.name


def function_text(site: Site) -> str:
    """The text of the function around a line, or of its surroundings."""
    owner = owner_of(site.path, site.line)
    lines = linecache.getlines(site.path)
    if owner is None:
        return "".join(lines[max(0, site.line - 30) : site.line + 30])
    return "".join(lines[owner.lineno - 1 : owner.end_lineno])


def nothing_looks(backward: Site | None, clear: Site | None) -> bool:
    """Whether certainly nothing between a backward and a clearing reads a gradient."""
    if (
        backward is None
        or clear is None
        or backward.path != clear.path
        or backward.function != clear.function
    ):
        return False
    if not 0 < clear.line - backward.line <= 12:
        return False
    between = linecache.getlines(clear.path)[backward.line : clear.line - 1]
    return not any(_LOOKS.search(text) and not _CLIPS.match(text) for text in between)


@lru_cache(maxsize=1024)
def hand_written_clear(
    near: Site | None, *, before: Site | None = None, to: str | None = None
) -> Site | None:
    """The statement that most likely emptied gradients without a call of zero_grad(), in this way."""

    def fits(node: ast.stmt) -> bool:
        return _clears_gradient(node) and _removes_gradient(node) == (to == "none")

    fitting = None if to is None else _closest(near, before, fits)
    return fitting or _closest(near, before, _clears_gradient)


def hidden_clear(steps: Stack, backwards: Stack) -> Site | None:
    """A statement between a backward and a step that empties gradients behind autograd's back."""
    pair = meeting(steps, backwards)
    tree = None if pair is None else parsed(pair[0].path)
    if pair is None or tree is None:
        return None
    step, backward = pair
    hidden = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and _clears_data(node)]
    between = [node for node in hidden if backward.line < node.lineno < step.line]
    if hidden and not between:
        called = {
            name
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and backward.line < node.lineno < step.line
            for name in [getattr(node.func, "attr", getattr(node.func, "id", None))]
        }
        between = [node for node in hidden if _owner_name(step.path, node.lineno) in called]
    return _site_of(step.path, between[0]) if between else None


@lru_cache(maxsize=1024)
def hand_written_change(near: Site | None, *, before: Site | None = None) -> Site | None:
    """The statement that most likely altered gradients in place."""
    return _closest(near, before, _changes_gradient)


@lru_cache(maxsize=1024)
def steps_alone(step: Site | None, near: Site | None) -> bool:
    """Whether no statement alters gradients in place after a step and before this line, as the loop runs."""
    if step is None or near is None or step.path != near.path:
        return True
    change = hand_written_change(near, before=step)
    if change is None:
        return True
    late, early = step.line < change.line, change.line < near.line
    return not ((late and early) if step.line < near.line else (late or early))


@lru_cache(maxsize=1024)
def hand_written_update(near: Site | None, *, before: Site | None = None) -> Site | None:
    """The statement that most likely applied gradients to parameters without an optimizer."""
    return _closest(near, before, _updates_parameter)


@lru_cache(maxsize=1024)
def cleared_between(backward: Site | None, update: Site) -> bool:
    """Whether gradients are emptied by hand after a backward and before an update in the same function."""
    if backward is None or backward.path != update.path:
        return False
    clear = _closest(update, backward, _clears_gradient)
    if clear is None or not backward.line < clear.line < update.line:
        return False
    return len({id(owner_of(site.path, site.line)) for site in (backward, clear, update)}) == 1


def uncalled_clears(path: str) -> Iterator[tuple[Site, str]]:
    """Statements that name zero_grad and do not call it."""
    tree = parsed(path)
    for node in ast.walk(tree) if tree is not None else ():
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "zero_grad"
        ):
            value = node.value
            span = (value.col_offset + 1, value.end_lineno or value.lineno, (value.end_col_offset or 0) + 1)
            yield Site(path, value.lineno, *span), ast.unparse(value)


_PLAIN = frozenset({"item", "detach", "tolist", "numpy", "float", "int", "len"})
"""Calls that yield a number, or a tensor without its graph."""


def accumulating_statement(path: str, line: int, name: str, within: str | None = None) -> Site | None:
    """The statement that adds a tensor to `name`, nearest to a line; of one class if that is named."""
    tree: ast.AST | None = parsed(path)
    if tree is not None and within is not None:
        tree = next((n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == within), None)
    found: list[ast.stmt | ast.expr] = []
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.AugAssign(target=target) if ast.unparse(target) == name or ast.unparse(
                target
            ).startswith(f"{name}["):
                found.append(node)
            case ast.Assign(targets=[target], value=value) if ast.unparse(target) == name:
                if any(ast.unparse(part) == name for part in ast.walk(value) if isinstance(part, ast.expr)):
                    found.append(node)
            case ast.Call(func=ast.Attribute(value=owner, attr="append" | "extend" | "insert")):
                if ast.unparse(owner) == name or ast.unparse(owner).startswith(
                    (f"{name}[", f"{name}.setdefault(")
                ):
                    found.append(node)
            case ast.Assign(targets=[ast.Subscript(value=owner)]) if ast.unparse(owner) == name:
                found.append(node)
    if not found:
        return None
    best = min(
        [node for node in found if not _adds_a_number(node)] or found,
        key=lambda node: abs(node.lineno - line),
    )
    return _site_of(path, best)


def _adds_a_number(node: ast.stmt | ast.expr) -> bool:
    """Whether what a statement adds has certainly no graph."""
    match node:
        case ast.Call(args=[*_, added]) | ast.AugAssign(value=added) | ast.Assign(value=added):
            called = added.func if isinstance(added, ast.Call) else None
            name = getattr(called, "attr", getattr(called, "id", None))
            return isinstance(added, ast.Constant) or name in _PLAIN
        case _:
            return False


def _site_of(path: str, node: ast.stmt | ast.expr) -> Site:
    return Site(
        path, node.lineno, node.col_offset + 1, node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1
    )


def _closest(near: Site | None, before: Site | None, wanted: object) -> Site | None:
    """Of the statements in the file that do it, the one between two lines, or the nearest."""
    if near is None:
        return None
    tree = parsed(near.path)
    if tree is None:
        return replace(near, column=1)
    found = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and wanted(n)]  # type: ignore[operator]
    if not found:
        return None
    low = before.line if before is not None and before.path == near.path else None
    # In the order in which a loop runs: after `before`, up to `near`, around the end of the loop if need be.
    if low is not None and low < near.line:
        between = [n for n in found if low < n.lineno < near.line]
    elif low is not None:
        between = [n for n in found if n.lineno > low or n.lineno < near.line]
    else:
        between = []
    # A statement under a condition may never have run: one that certainly did is likelier.
    shared = {id(n) for n in ancestors(near.path, near.line)}
    best = min(between or found, key=lambda n: (_conditions(near.path, n, shared), abs(n.lineno - near.line)))
    return _site_of(near.path, best)


def _conditions(path: str, node: ast.stmt, shared: set[int]) -> int:
    """How many conditions, other than that there is a gradient, must hold for a statement to run."""
    around = within_function(ancestors(path, node.lineno))
    return sum(
        isinstance(outer, ast.If) and id(outer) not in shared and "grad" not in ast.unparse(outer.test)
        for outer in around
    )


def _own(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that are not statements of their own."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from ast.walk(child)


def _is_grad(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("grad", "_grad")


def _clears_gradient(node: ast.stmt) -> bool:
    if isinstance(node, ast.Delete) and any(_is_grad(target) for target in node.targets):
        return True
    if isinstance(node, ast.Assign) and any(_is_grad(target) for target in node.targets):
        value = node.value
        return (isinstance(value, ast.Constant) and value.value is None) or "zeros" in ast.unparse(value)
    for part in _own(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _CLEARS:
            if part.func.attr == "_foreach_zero_" or any(
                _is_grad(inner) for inner in ast.walk(part.func.value)
            ):
                return True
            if part.func.attr == "zero_":
                return True
    return isinstance(node, ast.AugAssign) and "grad" in ast.unparse(node) and "* 0" in ast.unparse(node)


def _removes_gradient(node: ast.stmt) -> bool:
    """Whether what it clears is None afterwards."""
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Constant) and node.value.value is None
    return isinstance(node, ast.Delete)


def _clears_data(node: ast.stmt) -> bool:
    """Whether it sets `.grad.data` to zero, which no version counter tells."""
    own = [node, *_own(node)]
    if not any(
        isinstance(part, ast.Attribute) and part.attr == "data" and _is_grad(part.value) for part in own
    ):
        return False
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Attribute) for target in node.targets) and "zeros" in ast.unparse(
            node.value
        )
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Mult) and _is_zero(node.value)
    calls = [part for part in own if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)]
    for call in calls:
        name = getattr(call.func, "attr", "")
        if name in ("zero_", "_foreach_zero_"):
            return True
        if name in ("fill_", "mul_") and len(call.args) == 1 and _is_zero(call.args[0]):
            return True
    return False


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _changes_gradient(node: ast.stmt) -> bool:
    if isinstance(node, ast.AugAssign) and any(_is_grad(part) for part in ast.walk(node.target)):
        return True
    for part in _own(node):
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
            continue
        name, target = part.func.attr, part.func.value
        if name.endswith("_") and (name.startswith("_foreach") or any(map(_is_grad, ast.walk(target)))):
            return True
    return False


def _updates_parameter(node: ast.stmt) -> bool:
    if isinstance(node, ast.AugAssign):
        return "grad" in ast.unparse(node.value) and not any(_is_grad(part) for part in ast.walk(node.target))
    if isinstance(node, ast.Assign):
        moves = any(isinstance(target, ast.Attribute) and target.attr == "data" for target in node.targets)
        return moves and "grad" in ast.unparse(node.value)
    for part in _own(node):
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
            continue
        if part.func.attr not in ("sub_", "add_", "addcdiv_", "copy_", "_foreach_add_", "_foreach_sub_"):
            continue
        if any(_is_grad(inner) for inner in ast.walk(part.func.value)):
            continue
        if any("grad" in ast.unparse(argument) for argument in part.args):
            return True
        if any(word.arg == "alpha" and "-" in ast.unparse(word.value) for word in part.keywords):
            return True
    return False
