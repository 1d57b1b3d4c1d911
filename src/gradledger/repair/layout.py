"""How a statement lies on its lines: indentation, neighbours on the line, comments of its own."""

from __future__ import annotations

import ast

from gradledger.repair.program import Place, Program, before_of
from gradledger.repair.text_lines import ending


def first_line(statement: ast.stmt) -> int:
    """The statement's first line, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def last_line(statement: ast.stmt) -> int:
    """The statement's last line."""
    return statement.end_lineno or statement.lineno


def starts_line(program: Program, statement: ast.stmt) -> bool:
    """Whether nothing but white space stands before the statement."""
    line, column = program.start(statement)
    if first_line(statement) != line:
        return True
    return not program.line(line)[: column - 1].strip()


def ends_line(program: Program, statement: ast.stmt) -> bool:
    """Whether nothing but a comment follows the statement on its line."""
    line, column = program.end(statement)
    rest = program.line(line)[column - 1 :].strip().lstrip(";").strip()
    return not rest or rest.startswith("#")


def has_own_lines(program: Program, statement: ast.stmt) -> bool:
    """Whether the statement shares its lines with no other."""
    return starts_line(program, statement) and ends_line(program, statement)


def indent(program: Program, statement: ast.stmt) -> str:
    """The white space before the statement's block."""
    line = program.line(first_line(statement))
    return line[: len(line) - len(line.lstrip())]


def unit(program: Program) -> str:
    """What one level of indentation adds in this text."""
    for node in program.nodes:
        body = getattr(node, "body", None)
        if isinstance(node, ast.stmt) and isinstance(body, list) and body:
            outer, inner = indent(program, node), indent(program, body[0])
            if inner.startswith(outer) and len(inner) > len(outer) and starts_line(program, body[0]):
                return inner[len(outer) :]
    return "    "


def own_comment(program: Program, statement: ast.stmt) -> int:
    """The first line of the comment directly above the statement, or the statement's own."""
    block = program.block(statement)
    above = before_of(statement, block)
    floor = last_line(above[-1]) if above else getattr(program.parent(statement), "lineno", 0)
    line, margin = first_line(statement), indent(program, statement)
    if not starts_line(program, statement):
        return line
    while line - 1 > floor and program.line(line - 1).startswith(margin + "#"):
        line -= 1
    return line


def below(program: Program, line: int) -> tuple[Place, bool]:
    """The place of a new line below this one, and whether the text's last line has yet to be ended."""
    if ending(program.lines[line - 1]):
        return (line + 1, 1), False
    return (line, len(program.lines[line - 1]) + 1), True


def spans_lines_in_strings(statement: ast.stmt) -> bool:
    """Whether a string inside goes over several lines, so that its lines must not be indented anew."""
    return any(
        isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno != node.lineno
        for node in ast.walk(statement)
    )
