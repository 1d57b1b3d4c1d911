"""Stepping the last short window of an epoch: in the guard, or once more after the loop."""

from __future__ import annotations

import ast

from gradledger.repair import layout
from gradledger.repair.edits import Editor, Edits
from gradledger.repair.expressions import atom
from gradledger.repair.guards import Guard, still_open
from gradledger.repair.locate import called
from gradledger.repair.program import Program
from gradledger.repair.roles import CLEAR, CLIP, STEP, does
from gradledger.repair.windows import is_sized

_UPDATES = (*STEP, *CLEAR, *CLIP, "unscale_", "update")


def at_last_batch(editor: Editor, guard: Guard) -> Edits:
    """Make the guard true at the last batch as well."""
    program = editor.program
    loops = program.loops(guard.branch)
    last = _last_batch(program, loops[0]) if loops and isinstance(loops[0], ast.For) else None
    if last is None or guard.modulo is None:
        return None
    index, length = last
    if guard.skips:
        loose = isinstance(guard.test, (ast.IfExp, ast.Lambda, ast.NamedExpr)) or _is_or(guard.test)
        return editor.around(guard.test, "(" * loose, ")" * loose + f" and {index} != {length}")
    loose = isinstance(guard.test, (ast.IfExp, ast.Lambda, ast.NamedExpr))
    return editor.around(guard.test, "(" * loose, ")" * loose + f" or {index} == {length}")


def _is_or(test: ast.expr) -> bool:
    return isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)


def _last_batch(program: Program, loop: ast.For) -> tuple[str, str] | None:
    """What counts the batches from one, and how many there are."""
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=index), *_]),
            iter=ast.Call(func=ast.Name(id="enumerate"), args=[batches, *start], keywords=keywords),
        ):
            length = _size(program, batches)
            first = start[0] if start else next((k.value for k in keywords if k.arg == "start"), None)
        case ast.For(target=ast.Name(id=index), iter=ast.Call(func=ast.Name(id="range"), args=[count])):
            length, first = atom(count, program.text_of(count)), None
        case _:
            return None
    if length is None:
        return None
    if first is None or (isinstance(first, ast.Constant) and first.value == 0):
        return f"{index} + 1", length
    return (index, length) if isinstance(first, ast.Constant) and first.value == 1 else None


def _size(program: Program, batches: ast.expr) -> str | None:
    match batches:
        case ast.Call(func=ast.Name(id="zip"), args=parts) if all(is_sized(program, p) for p in parts):
            lengths = [f"len({program.text_of(part)})" for part in parts]
            return lengths[0] if len(lengths) == 1 else f"min({', '.join(lengths)})"
        case ast.Call(args=[inner, *_]) if called(batches) in ("tqdm", "track"):
            return _size(program, inner)
    return f"len({program.text_of(batches)})" if is_sized(program, batches) else None


def after_loop(editor: Editor, guard: Guard) -> Edits:
    """Step once more behind the loop where a window is still open."""
    program, branch = editor.program, guard.branch
    loops = program.loops(branch)
    if not loops or guard.skips:
        return None
    loop = loops[0]
    if loop.orelse or not layout.has_own_lines(program, loop):
        return None
    if not layout.starts_line(program, branch.body[0]) or branch.test is not guard.test:
        return None
    counter = program.text_of(guard.count)
    kept = [s for s in branch.body if does(s, *_UPDATES) or _resets(program, s, counter)]
    condition = still_open(program, guard)
    if guard.modulo is None and any(_resets(program, s, counter) for s in kept):
        condition = f"{counter} > 0"
    if condition is None:
        return None
    margin = layout.indent(program, loop)
    lines = [editor.lines_of(s, margin + layout.unit(program)) for s in kept]
    if not any(does(s, *STEP) for s in kept) or any(line is None for line in lines):
        return None
    place, unended = layout.below(program, layout.last_line(loop))
    text = f"{margin}if {condition}:{program.eol}" + "".join(filter(None, lines))
    return [editor.edit(place, place, program.eol + text[: -len(program.eol)] if unended else text)]


def _resets(program: Program, statement: ast.stmt, counter: str) -> bool:
    match statement:
        case ast.Assign(targets=[target], value=ast.Constant(value=0)):
            return program.text_of(target) == counter
    return False
