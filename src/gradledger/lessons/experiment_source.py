"""The text of an experiment.py: which exhibits it has and what a reader sees of each; needs no torch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
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
    text, tree = _parsed(path)
    lines = text.splitlines()
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name: _shown(node, lines, path) for node in functions if not node.name.startswith("_")}


def first_used(folder: Path, names: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
    """By exhibit, shown in this order: the scaffolding that it is the first to use, with its source."""
    text, tree = _parsed(folder / FILE)
    named = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own = {name: node for name, node in named.items() if name.startswith("_")}  # the others are exhibits
    told: set[str] = set()
    found: dict[str, dict[str, str]] = {}
    for name in names:
        used = _used(named[name], own) - told if name in named else set()
        told |= used
        found[name] = {one: _whole(node, text) for one, node in own.items() if one in used}
    return found


def _used(node: ast.AST, defined: Mapping[str, ast.FunctionDef | ast.ClassDef]) -> set[str]:
    """Those of the definitions that a definition uses, and those that they use."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        for inner in ast.walk(waiting.pop()):
            if isinstance(inner, ast.Name) and inner.id in defined and inner.id not in found:
                found.add(inner.id)
                waiting.append(defined[inner.id])
    return found


def _whole(node: ast.FunctionDef | ast.ClassDef, text: str) -> str:
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])


def _parsed(path: Path) -> tuple[str, ast.Module]:
    try:
        text = path.read_text(encoding="utf-8")
        return text, ast.parse(text)
    except OSError as error:
        raise CourseError(path, 1, f"cannot be read: {error.strerror or error}") from error
    except SyntaxError as error:
        raise CourseError(path, error.lineno or 1, f"no Python: {error.msg}") from error


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
