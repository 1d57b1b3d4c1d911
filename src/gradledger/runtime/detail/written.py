"""The statement that gives a loss its value, found in the text above the line that differentiates it."""

from __future__ import annotations

import ast
from functools import lru_cache

from gradledger.ledger.record import replace
from gradledger.ledger.site import Site
from gradledger.runtime import source

_Block = list[ast.stmt]
_ENDS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.AsyncFor, ast.While)
"""What stands before these may be of another call or another turn."""


@lru_cache(maxsize=1024)
def written(backward: Site) -> Site | None:
    """The line before `backward` that assigns what it starts from; None where more than one may have."""
    tree = source.parsed(backward.path)
    way = _way(tree, backward.line) if tree is not None else []
    name = _name(way[-1][0][way[-1][1]]) if way else None
    if name is None:
        return None
    owners = [None, *(block[at] for block, at in way)]
    for owner, (block, at) in reversed([*zip(owners, way, strict=False)]):
        found = _last(block[:at], name)
        if isinstance(found, ast.stmt):
            return replace(backward, line=found.lineno, column=found.col_offset + 1, end_line=0, end_column=0)
        if found or isinstance(owner, _ENDS):
            return None
    return None


def _way(tree: ast.AST, line: int) -> list[tuple[_Block, int]]:
    """The blocks around a line, outermost first, and the statement's place in each."""
    way: list[tuple[_Block, int]] = []
    node: ast.AST | None = tree
    while node is not None:
        blocks = _blocks(node)
        places = [(block, at) for block in blocks for at, inner in enumerate(block) if _holds(inner, line)]
        # Of several statements on one line it is the one that differentiates.
        place = next((p for p in places if _name(p[0][p[1]]) is not None), places[0] if places else None)
        if place is None:
            return way
        way.append(place)
        node = place[0][place[1]]
    return way


def _holds(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", 0) <= line <= getattr(node, "end_lineno", 0)


def _blocks(node: ast.AST) -> list[_Block]:
    blocks = [getattr(node, field, None) for field in ("body", "orelse", "finalbody")]
    blocks += [inner.body for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
    return [block for block in blocks if isinstance(block, list)]


def _last(statements: _Block, name: str) -> ast.stmt | bool:
    """The statement that assigns the name last; True if it is not certain that it is the last."""
    for statement in reversed(statements):
        match statement:
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                if _stores(statement, name):
                    return statement
            case ast.With() | ast.AsyncWith():
                found = _last(statement.body, name)
                if found:
                    return found
            case _:
                if _stores(statement, name):
                    return True
    return False


def _stores(node: ast.AST, name: str) -> bool:
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and inner.id == name]
    return any(isinstance(inner.ctx, ast.Store) for inner in names)


def _name(statement: ast.stmt) -> str | None:
    """The variable that a statement differentiates: of `loss`, `scaler.scale(loss)` or `backward(loss)`."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(ast.Attribute(_, "backward"), [ast.Name(name), *_]):
                return name
            case ast.Call(ast.Attribute(ast.Name(name) | ast.Call(_, [ast.Name(name), *_]), "backward"), []):
                return name
    return None
