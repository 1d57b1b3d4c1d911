"""The text of an experiment.py: which exhibits it has and what a reader sees of each; needs no torch."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from gradledger.ledger.record import dataclass
from gradledger.lessons.fault import CourseError

FILE = "experiment.py"


@dataclass(frozen=True, slots=True)
class Shown:
    """An exhibit before it runs: its name, its one sentence, and the source that is shown."""

    name: str
    about: str
    source: str
    line: int


def exhibits(folder: Path) -> Mapping[str, Shown]:
    """Every exhibit of a folder by its name, in the order of the file."""
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except OSError as error:
        raise CourseError(path, 1, f"cannot be read: {error.strerror or error}") from error
    except SyntaxError as error:
        raise CourseError(path, error.lineno or 1, f"no Python: {error.msg}") from error
    lines = text.splitlines()
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name: _shown(node, lines, path) for node in functions if not node.name.startswith("_")}


def _shown(node: ast.FunctionDef, lines: list[str], path: Path) -> Shown:
    about = ast.get_docstring(node)
    if about is None:
        raise CourseError(path, node.lineno, f"the exhibit {node.name} has no docstring")
    if any((node.args.args, node.args.posonlyargs, node.args.kwonlyargs, node.args.vararg, node.args.kwarg)):
        raise CourseError(
            path, node.lineno, f"the exhibit {node.name} takes arguments; scaffolding begins with _"
        )
    last = node.body[-1]
    if not isinstance(last, ast.Return):
        raise CourseError(path, last.lineno, f"the exhibit {node.name} does not end with return {{...}}")
    first = (node.body[0].end_lineno or node.lineno) + 1
    source = dedent("\n".join(lines[first - 1 : last.lineno - 1])).strip("\n")
    return Shown(node.name, " ".join(about.split()), source, node.lineno)
