"""What the source text says of windows: a counter that guards a step, or lets the program leave before it."""

from __future__ import annotations

import ast
import re

from gradledger.ledger.site import Site
from gradledger.runtime.source import (
    Stack,
    ancestors,
    function_text,
    loops_around,
    meeting,
    owner_of,
    within_function,
)

_COUNTED = re.compile(
    r"accum|micro|step|count|batch|iter|idx|index|last|sync|updat|boundary|every|pending|window|full|ready|\bi\b|\bn\b|\bk\b|\bb\b"
)
_WINDOWED = re.compile(
    r"accum|micro|grad_steps|chunk|sub_?batch|sub_?i\b|sub_?iter|iter_?size|update_freq|mini_?step|\bsplit"
)
_OTHER_GUARDS = re.compile(r"finite|nan|isinf|norm|none|grad_enabled|training|loss|epoch|acc\b|rank")


def steps_close_windows(steps: Stack, backwards: Stack) -> bool:
    """Whether the text says that this step closes a window of micro-batches."""
    pair = meeting(steps, backwards)
    if pair is None:
        around = "".join(function_text(site) for site in (*steps[:1], *backwards[:1]))
        return bool(backwards) and "accum" in around.lower()
    step, backward = pair
    shared = {id(node) for node in ancestors(backward.path, backward.line)}
    for node in within_function(ancestors(step.path, step.line)):
        if isinstance(node, ast.If) and id(node) not in shared and _counts(node.test):
            return True
    called = steps[: steps.index(step)]
    if any(_leaves_early(site, 0) or _divides_counter(site) for site in called):
        return True
    if _leaves_early(step, backward.line):
        return True
    loops = loops_around(backward.path, backward.line)
    if (
        loops
        and not isinstance(loops[0], ast.While)
        and not loops[0].lineno <= step.line <= (loops[0].end_lineno or 0)
    ):
        head = ast.unparse(loops[0].target) + " " + ast.unparse(loops[0].iter)
        return bool(_WINDOWED.search(head.lower()))
    return False


def _divides_counter(site: Site) -> bool:
    """Whether a remainder guards a line within its function."""
    around = within_function(ancestors(site.path, site.line))
    return any(isinstance(node, ast.If) and _has_remainder(node.test) for node in around)


def _leaves_early(step: Site, after: int) -> bool:
    """Whether a count lets the program leave the loop's turn, or the function, just before this line."""
    around = within_function(ancestors(step.path, step.line))
    for node in around:
        for stmt in getattr(node, "body", ()):
            if not isinstance(stmt, ast.If) or not after < stmt.lineno < step.line or stmt in around:
                continue
            if isinstance(stmt.body[-1], ast.Continue) and (
                _has_remainder(stmt.test) or _falls_short(stmt.test)
            ):
                return True
    owner = owner_of(step.path, step.line)
    return owner is not None and any(
        isinstance(stmt, ast.If)
        and after < stmt.lineno < step.line
        and isinstance(stmt.body[-1], ast.Return)
        and _has_remainder(stmt.test)
        for stmt in owner.body
    )


def _has_remainder(test: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test))


def _falls_short(test: ast.expr) -> bool:
    """Whether a count is compared with more than it has reached."""
    if _OTHER_GUARDS.search(ast.unparse(test).lower()):
        return False
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.NotEq))


def _counts(test: ast.expr) -> bool:
    if _has_remainder(test):
        return True
    text = ast.unparse(test).lower()
    if _OTHER_GUARDS.search(text):
        return False
    if any(
        isinstance(n, ast.Compare) and isinstance(n.ops[0], (ast.Eq, ast.GtE, ast.Gt)) for n in ast.walk(test)
    ):
        return True
    return bool(_COUNTED.search(text))
