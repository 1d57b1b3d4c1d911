"""GL301: unscale, then clip."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.locate import called
from gradledger.repair.program import Program, after_of, before_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import does, expression_call, stepped
from gradledger.repair.scalers import scaler_of, scaler_steps
from gradledger.repair.scope import reaches
from gradledger.rules.finding import Fix


class UnscaleFirst(Repairer):
    """Puts `scaler.unscale_(optimizer)` above the clip: moves one that comes too late, or adds one."""

    code = "GL301"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """In the block of the clip, or of the call of the helper that clips."""
        program, editor = case.program, case.editor
        found, scaler = case.statement(), scaler_of(case)
        clip = None if found is None or scaler is None else _clip(program, found, program.text_of(scaler))
        if clip is None or scaler is None:
            return
        name = program.text_of(scaler)
        top = _first_touch(program, clip)
        for late in after_of(clip, program.block(clip)):
            if does(late, "unscale_"):
                yield case.fix("unscale before clipping", editor.move(late, before=top))
        for step in _steps_below(program, clip, name):
            optimizer = stepped(program, step)
            if optimizer is None:
                continue
            call = f"{name}.unscale_({program.text_of(optimizer)})"
            guards = _guards(program, step, clip)
            if any(_is_window(guard) for guard in guards):
                place = program.statement(step)
                if reaches(program, clip, place):
                    moved = editor.move(clip, before=place, led_by=call)
                    yield case.fix("unscale and clip once, before the step", moved)
            elif guards:
                head = f"if {program.text_of(guards[0].test)}:"
                yield case.fix(f"unscale before clipping: `{call}`", editor.before(top, head, "\t" + call))
            else:
                yield case.fix(f"unscale before clipping: `{call}`", editor.before(top, call))


def _clip(program: Program, found: ast.stmt, scaler: str) -> ast.stmt | None:
    """The clip's statement beside the scaler's step; of a clip in a helper, the helper's only call."""
    function = program.function(found)
    if function is not None and not scaler_steps(program, found, scaler):
        callers = [call for call in program.calls if called(call) == function.name]
        return program.statement(callers[0]) if len(callers) == 1 else None
    return _outermost_of_clip(program, found)


def _steps_below(program: Program, clip: ast.stmt, scaler: str) -> list[ast.Call]:
    """The scaler's steps below the clip whose optimizer is not unscaled yet, the likeliest first."""
    block = program.block(clip)
    below, above = after_of(clip, block), before_of(clip, block)
    calls = [call for call in map(expression_call, above) if call is not None and called(call) == "unscale_"]
    unscaled = [program.text_of(argument) for call in calls for argument in call.args]
    steps = []
    for step in scaler_steps(program, clip, scaler):
        optimizer = stepped(program, step)
        if optimizer is None or program.text_of(optimizer) in unscaled:
            continue
        if program.in_block(step, below) is not None:
            steps.append((not _holds(program, optimizer, clip), step))
    return [step for _, step in sorted(steps, key=lambda pair: pair[0])]


def _holds(program: Program, optimizer: ast.expr, clip: ast.stmt) -> bool:
    """Whether the optimizer was built from the parameters that the clip names."""
    name = program.text_of(optimizer)
    call = expression_call(clip)
    clipped = program.text_of(call.args[0]) if call is not None and call.args else None
    return clipped is not None and any(
        isinstance(node, ast.Assign)
        and any(program.text_of(target) == name for target in node.targets)
        and clipped in program.text_of(node.value)
        for node in program.nodes
    )


def _outermost_of_clip(program: Program, clip: ast.stmt) -> ast.stmt:
    """A clip by hand is the loop over the parameters, not its one line."""
    around = program.parent(clip)
    while isinstance(around, (ast.For, ast.If, ast.With)) and _works_on_grads(clip):
        if any(does(s, "step", "update") for s in around.body) or _is_window(around):
            break
        clip = around
        around = program.parent(clip)
    return clip


def _first_touch(program: Program, clip: ast.stmt) -> ast.stmt:
    """The first statement above the clip, in its block, that belongs to it by reading gradients."""
    top = clip
    if not _works_on_grads(clip):
        return top
    for above in reversed(before_of(clip, program.block(clip))):
        if _calls_any(above, "backward", "step", "zero_grad"):
            break
        if _works_on_grads(above):
            top = above
    return top


def _calls_any(statement: ast.stmt, *names: str) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in names for n in ast.walk(statement))


def _works_on_grads(statement: ast.stmt) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "grad" for n in ast.walk(statement))


def _guards(program: Program, step: ast.Call, clip: ast.stmt) -> list[ast.If]:
    """The branches around the step and not around the clip, outermost first."""
    block = program.block(clip)
    around = []
    for node in program.ancestors(step):
        if isinstance(node, ast.If):
            around.append(node)
        if any(node is item for item in block):
            break
    return list(reversed(around))


def _is_window(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and any(isinstance(n, (ast.Mod, ast.GtE)) for n in ast.walk(node.test))
