"""How an expression stands in its text: whether it needs parentheses, or has them already."""

from __future__ import annotations

import ast

from gradledger.repair.program import Place, Program

ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
TIGHT = (*ATOMS, ast.Constant)


def is_product(node: ast.expr) -> bool:
    """Whether a further division can simply be written behind."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div))


def atom(node: ast.expr, text: str) -> str:
    """The text, in parentheses unless it can stand beside any operator."""
    return text if isinstance(node, TIGHT) else f"({text})"


def is_receiver(program: Program, node: ast.expr) -> bool:
    """Whether a method is looked up on the expression."""
    parent = program.parent(node)
    return isinstance(parent, ast.Attribute) and parent.value is node


def in_parentheses(program: Program, node: ast.expr) -> bool:
    """Whether the expression, a method's receiver or a whole value, stands in its own parentheses."""
    start = program.start(node)
    line, column = program.end(node)
    if not program.line(start[0])[: start[1] - 1].rstrip().endswith("("):
        return False
    parent = program.parent(node)
    if isinstance(parent, ast.Call) and not is_receiver(program, node):
        return False
    return program.line(line)[column - 1 :].lstrip().startswith(")")


def closing(program: Program, node: ast.expr) -> Place:
    """The place behind the parenthesis that closes the expression."""
    line, column = program.end(node)
    return line, program.line(line).index(")", column - 1) + 2
