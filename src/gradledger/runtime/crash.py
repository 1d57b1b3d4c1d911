"""Crashes that the state of a gradient explains."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from types import TracebackType

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime.sites import Sites


def explain(error: BaseException, sites: Sites) -> Iterator[ev.Event]:
    """The event behind an exception, if it came from a `.grad` that is None."""
    if not isinstance(error, (AttributeError, TypeError)) or "NoneType" not in str(error):
        return
    last: TracebackType | None = None
    walk = error.__traceback__
    while walk is not None:
        if sites.is_users(walk.tb_frame.f_code):
            last = walk
        walk = walk.tb_next
    if last is None:
        return
    path, line = last.tb_frame.f_code.co_filename, last.tb_lineno
    text = _access(linecache.getline(path, line), str(error))
    if text is not None:
        column = linecache.getline(path, line).find(text.split(".")[0]) + 1
        name = last.tb_frame.f_code.co_name
        yield ev.GradientMissing(Site(path, line, max(column, 1), line, 0, name), text)


def _access(source_line: str, message: str) -> str | None:
    """The `x.grad` in this line that was None."""
    attribute = re.search(r"has no attribute '(\w+)'", message)
    wanted = attribute.group(1) if attribute else None
    try:
        tree = ast.parse(
            source_line.strip().rstrip(":")
            if not source_line.strip().endswith(":")
            else source_line.strip() + " pass"
        )
    except SyntaxError:
        found = re.search(r"[\w.\[\]]+\.grad\b", source_line)
        return found.group(0) if found else None
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and _is_grad(node.value)
            and (wanted is None or node.attr == wanted)
        ):
            return ast.unparse(node.value)
    if wanted is None:
        return next((ast.unparse(node) for node in ast.walk(tree) if _is_grad(node)), None)
    return None


def _is_grad(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "grad"
