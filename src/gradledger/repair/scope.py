"""Which names mean the same at two places of a program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.program import Function, Program


def used_names(node: ast.AST) -> set[str]:
    """The names that the node reads and does not bind itself; of an expression alone, all."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    read = {n.id for n in names if isinstance(n.ctx, ast.Load) or isinstance(node, ast.expr)}
    return read - _bound_inside(node)


def _bound_inside(node: ast.AST) -> set[str]:
    bound: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, (ast.For, ast.comprehension)):
            bound |= _targets(inner.target)
    return bound


def reaches(program: Program, node: ast.AST, target: ast.AST) -> bool:
    """Whether every name that the node uses can be used at the target and means the same there."""
    return all(_reaches(program, name, node, target) for name in used_names(node))


def _reaches(program: Program, name: str, node: ast.AST, target: ast.AST) -> bool:
    here, there = program.function(node), program.function(target)
    if any(
        name in _bound_inside(c) for c in _comprehensions(program, node) if target not in set(ast.walk(c))
    ):
        return False
    if here is there:
        return not any(
            isinstance(loop, ast.For) and name in _targets(loop.target) and target not in set(ast.walk(loop))
            for loop in program.loops(node)
        )
    if name in ("self", "cls"):
        return _has_parameter(there, name) and _related(program, program.owner(node), program.owner(target))
    inner, outer = _binder(program, name, here), _binder(program, name, there)
    if inner is outer:
        return True
    # A helper's parameter of the same name is, in the same program, nearly always the same thing;
    # a global that some method happens to see is not.
    local = isinstance(outer, Function) or (there is None and outer is program.tree)
    return isinstance(inner, Function) and name in _parameters(inner) and local


def _comprehensions(program: Program, node: ast.AST) -> list[ast.AST]:
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    return [around for around in program.ancestors(node) if isinstance(around, kinds)]


def _binder(program: Program, name: str, function: Function | None) -> object:
    """The function or module that gives the name its value, the program itself where nobody does."""
    scope: ast.AST | None = function
    while scope is not None:
        if isinstance(scope, Function) and name in bindings(scope):
            return scope
        scope = program.function(scope)
    return program.tree if name in bindings(program.tree) else program


def bindings(scope: ast.AST) -> set[str]:
    """The names that a function or module binds itself."""
    names = set(_parameters(scope)) if isinstance(scope, Function) else set()
    for node in _own_nodes(scope):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=alias):
                names.add(alias or name.split(".")[0])
    return names


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def _parameters(function: Function) -> list[str]:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return [argument.arg for argument in (*named, *filter(None, (given.vararg, given.kwarg)))]


def _has_parameter(function: Function | None, name: str) -> bool:
    return function is not None and name in _parameters(function)


def _targets(target: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def _related(program: Program, one: ast.ClassDef | None, other: ast.ClassDef | None) -> bool:
    """Whether both are one class, or one is derived from the other in this file."""
    if one is None or other is None:
        return False
    return one is other or one.name in _bases(program, other) or other.name in _bases(program, one)


def _bases(program: Program, owner: ast.ClassDef) -> set[str]:
    classes = {node.name: node for node in program.nodes if isinstance(node, ast.ClassDef)}
    found: set[str] = set()
    waiting = [owner]
    while waiting:
        for base in waiting.pop().bases:
            if isinstance(base, ast.Name) and base.id not in found:
                found.add(base.id)
                waiting += [classes[base.id]] if base.id in classes else []
    return found
