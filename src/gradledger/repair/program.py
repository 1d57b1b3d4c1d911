"""A program's text with its syntax tree: who contains whom, and where each node stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from gradledger.repair.text_lines import ending, split_lines

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
Place = tuple[int, int]


class Program:
    """Answers about one parsed text; columns are characters, lines and columns count from 1."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.text = text
        self.tree = tree
        self.lines = split_lines(text)
        self._parents: dict[ast.AST, ast.AST] = {}
        self.nodes: list[ast.AST] = list(ast.walk(tree))
        for node in self.nodes:
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]

    @property
    def eol(self) -> str:
        """The line ending that the text uses first."""
        return next((ending(line) for line in self.lines if ending(line)), "\n")

    def line(self, number: int) -> str:
        """One line without its ending."""
        return self.lines[number - 1].rstrip("\r\n") if 1 <= number <= len(self.lines) else ""

    def start(self, node: ast.expr | ast.stmt) -> Place:
        """Where the node begins; a decorated one at its first decorator's expression."""
        return node.lineno, self._column(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> Place:
        """Where the node ends, exclusive."""
        line = node.end_lineno or node.lineno
        return line, self._column(line, node.end_col_offset or 0)

    def _column(self, line: int, offset: int) -> int:
        text = self.line(line)
        if text.isascii():
            return offset + 1
        return len(text.encode()[:offset].decode(errors="ignore")) + 1

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        """The node's own text."""
        (line, column), (end_line, end_column) = self.start(node), self.end(node)
        if line == end_line:
            return self.lines[line - 1][column - 1 : end_column - 1]
        between = self.lines[line : end_line - 1]
        return "".join(
            (self.lines[line - 1][column - 1 :], *between, self.lines[end_line - 1][: end_column - 1])
        )

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that directly contains this one."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around this one, innermost first."""
        around = self._parents.get(node)
        while around is not None:
            yield around
            around = self._parents.get(around)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that is or contains the node."""
        while not isinstance(node, ast.stmt):
            node = self._parents[node]
        return node

    def function(self, node: ast.AST) -> Function | None:
        """The function whose body the node is in, None at module level."""
        return next((a for a in self.ancestors(node) if isinstance(a, Function)), None)

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """The class whose method the node is in."""
        return next((a for a in self.ancestors(node) if isinstance(a, ast.ClassDef)), None)

    def loops(self, node: ast.AST) -> list[Loop]:
        """The loops of the same function around the node, innermost first."""
        found: list[Loop] = []
        inside = node
        for around in self.ancestors(node):
            if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                break
            if isinstance(around, Loop) and inside in around.body:
                found.append(around)
            inside = around
        return found

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements among which this one stands."""
        for _, value in ast.iter_fields(self._parents[statement]):
            if isinstance(value, list) and any(item is statement for item in value):
                return value
        return [statement]

    def in_block(self, node: ast.AST, block: list[ast.stmt]) -> ast.stmt | None:
        """The statement of the block that is or contains the node."""
        inside = {id(item): item for item in block}
        return next((inside[id(n)] for n in (node, *self.ancestors(node)) if id(n) in inside), None)


@lru_cache(maxsize=8)
def read(text: str) -> Program | None:
    """The parsed program, or None where the text is none."""
    try:
        return Program(text, ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def before_of(statement: ast.stmt, block: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of the block above this one."""
    return block[: _index(statement, block)]


def after_of(statement: ast.stmt, block: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of the block below this one."""
    return block[_index(statement, block) + 1 :]


def _index(statement: ast.stmt, block: list[ast.stmt]) -> int:
    return next(index for index, item in enumerate(block) if item is statement)
