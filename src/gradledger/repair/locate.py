"""From a finding's place to the node that is meant."""

from __future__ import annotations

import ast

from gradledger.ledger.site import Site
from gradledger.repair.program import Program


def called(call: ast.Call) -> str:
    """The last name of what is called: `step` in `self.opt.step()`."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def call_at(program: Program, site: Site, *names: str) -> ast.Call | None:
    """The one call of these names at the site; where the site has no columns, the only one on its line."""
    named = [call for call in program.calls if not names or called(call) in names]
    if _has_span(site):
        span = ((site.line, site.column), (site.end_line, site.end_column))
        for call in named:
            if (program.start(call), program.end(call)) == span:
                return call
        inside = [c for c in named if span[0] <= program.start(c) and program.end(c) <= span[1]]
        if inside:
            return _only(inside)
        around = [c for c in named if program.start(c) <= span[0] and span[1] <= program.end(c)]
        if around:
            return _innermost(around)
    return _only([c for c in named if _name_line(c) == site.line]) or _only(
        [c for c in named if c.lineno <= site.line <= (c.end_lineno or 0)]
    )


def statement_at(program: Program, site: Site) -> ast.stmt | None:
    """The innermost statement at the site, for a compound one only at its first line."""
    place = (site.line, site.column) if _has_span(site) else None
    best: ast.stmt | None = None
    for node in program.nodes:
        if not isinstance(node, ast.stmt) or not node.lineno <= site.line <= (node.end_lineno or 0):
            continue
        if place and not program.start(node) <= place < program.end(node):
            continue
        if best is None or program.start(node) >= program.start(best):
            best = node
    if best is None or (hasattr(best, "body") and best.lineno != site.line):
        return None
    return best


def _has_span(site: Site) -> bool:
    return (site.end_line, site.end_column) > (site.line, site.column)


def _name_line(call: ast.Call) -> int:
    return call.func.end_lineno or call.lineno


def _only(calls: list[ast.Call]) -> ast.Call | None:
    if len(calls) == 1:
        return calls[0]
    return None


def _innermost(calls: list[ast.Call]) -> ast.Call:
    return max(calls, key=lambda call: (call.lineno, call.col_offset))
