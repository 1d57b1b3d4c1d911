"""What an optimizer was built from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.program import Program
from gradledger.repair.roles import is_plain, receiver


def parameters_given(program: Program, optimizer: ast.expr) -> Iterator[ast.Call]:
    """`model.parameters()` in `optimizer = SGD(model.parameters(), …)`."""
    text = program.text_of(optimizer)
    for node in program.nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or not node.value.args:
            continue
        if all(program.text_of(target) != text for target in node.targets):
            continue
        match node.value.args[0]:
            case ast.Call(func=ast.Attribute(attr="parameters"), args=[]) as parameters:
                if is_plain(receiver(parameters)):
                    yield parameters
