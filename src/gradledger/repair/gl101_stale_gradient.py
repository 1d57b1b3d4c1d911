"""GL101: clear once per update."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.clearing import clear_call, settled
from gradledger.repair.locate import called
from gradledger.repair.program import Function, Program
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import BACKWARD, CLEAR, does, is_plain, receiver, stepped
from gradledger.repair.scope import reaches
from gradledger.repair.updates_by_hand import cleared_after
from gradledger.rules.finding import Fix


class ClearOncePerUpdate(Repairer):
    """Calls a clear that is only named, aims a wrong one at the right optimizer, or adds the missing one."""

    code = "GL101"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """A line that was meant to clear comes first; then the backward, the step, the closure."""
        yield _called(case)
        backward = case.call(*BACKWARD) or case.backward()
        step = case.step()
        if step is not None:
            yield from _aimed(case, step)
            yield _in_closure(case, step, backward)
            if backward is not None:
                yield _before_backward(case, backward, step)
            yield _after_step(case, step)
        yield from _by_hand(case)


def _called(case: Case) -> Fix | None:
    """`optimizer.zero_grad` -> `optimizer.zero_grad()`."""
    statement = case.statement()
    match statement:
        case ast.Expr(value=ast.Attribute(attr="zero_grad") as named):
            text = case.program.text_of(named)
            return case.fix(f"call it: `{text}()`", case.editor.around(named, "", "()"))
    return None


def _aimed(case: Case, step: ast.Call) -> Iterator[Fix | None]:
    """`teacher.zero_grad()` -> `optimizer.zero_grad()`, or both."""
    clear, optimizer = case.call(*CLEAR), stepped(case.program, step)
    if clear is None or optimizer is None or not reaches(case.program, optimizer, clear):
        return
    wrong = receiver(clear)
    if wrong is None or not is_plain(wrong):
        return
    name = case.program.text_of(optimizer)
    yield case.fix(f"clear `{name}`, which is stepped", case.editor.replace(wrong, name))


def _in_closure(case: Case, step: ast.Call, backward: ast.Call | None) -> Fix | None:
    """A closure is evaluated several times in one step, so it has to clear by itself."""
    optimizer = stepped(case.program, step)
    inside = None if backward is None else case.program.function(backward)
    if backward is None or inside is None or optimizer is None:
        return None
    handed = [node.id for argument in step.args for node in ast.walk(argument) if isinstance(node, ast.Name)]
    if inside.name not in handed or not reaches(case.program, optimizer, backward):
        return None
    call = clear_call(case.program, optimizer, backward)
    return case.fix(f"clear at the start of the closure: `{call}`", case.editor.before(_first(inside), call))


def _first(function: Function) -> ast.stmt:
    """The first statement of a function that is not its docstring."""
    body = function.body
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), second, *_]:
            return second
    return body[0]


def _before_backward(case: Case, backward: ast.Call, step: ast.Call) -> Fix | None:
    """Clear right before the only backward of an update, where that stands beside its step."""
    program = case.program
    optimizer = stepped(program, step)
    here = program.statement(backward)
    block = program.block(here)
    there = program.in_block(step, block)
    if optimizer is None or there is None or not reaches(program, optimizer, here):
        return None
    if _index(block, there) < _index(block, here) or not _same_turn(program, here, there, step):
        return None
    between = block[: _index(block, there)]
    if any(s is not here and any(_is_backward(n) for n in ast.walk(s)) for s in between):
        return None
    call = clear_call(program, optimizer, here)
    return case.fix(f"clear before this backward(): `{call}`", case.editor.before(here, call))


def _same_turn(program: Program, here: ast.stmt, there: ast.stmt, step: ast.Call) -> bool:
    """Whether each backward has its own step: no guard and no other loop in between."""
    return there is here or there is program.statement(step) or _only_loops_optimizers(program, there, step)


def _only_loops_optimizers(program: Program, there: ast.stmt, step: ast.Call) -> bool:
    between = [node for node in program.ancestors(step) if isinstance(node, ast.stmt)]
    inner = between[: next((i for i, n in enumerate(between) if n is there), 0) + 1]
    return all(isinstance(node, (ast.Expr, ast.With)) for node in inner)


def _is_backward(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called(node) in BACKWARD


def _index(block: list[ast.stmt], statement: ast.stmt) -> int:
    return next(i for i, item in enumerate(block) if item is statement)


def _after_step(case: Case, step: ast.Call) -> Fix | None:
    program = case.program
    optimizer, statement = stepped(program, step), program.statement(step)
    if optimizer is None:
        return None
    loop = next((a for a in program.ancestors(step) if isinstance(a, (ast.ListComp, ast.GeneratorExp))), None)
    if loop is not None and len(loop.generators) == 1:
        each = loop.generators[0]
        head = f"for {program.text_of(each.target)} in {program.text_of(each.iter)}:"
        call = clear_call(program, optimizer, statement)
        return case.fix(f"clear after the step: `{call}`", case.editor.after(statement, head, "\t" + call))
    if not does(statement, "step", "optimizer_step"):
        return None
    call = clear_call(program, optimizer, statement)
    return case.fix(f"clear after the step: `{call}`", case.editor.after(settled(program, statement), call))


def _by_hand(case: Case) -> Iterator[Fix | None]:
    """`w -= lr * w.grad` is a step, too."""
    for site in case.related_sites():
        yield case.fix("clear each gradient after its update", cleared_after(case, site))
