"""A notebook for each lesson, made of its text and the exhibits of its experiment.

The body of each exhibit is a cell, so that a reader can change it and run it again. Text that tells values is
a cell, too: the values are those that the cells above have found.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

from gradledger.lessons.catalogue import lesson as lesson_named
from gradledger.lessons.experiment_source import FILE, exhibits, first_used
from gradledger.lessons.lesson import Lesson, Plot, Predict, Prose, Run

FOLDER = Path(__file__).with_name("notebooks")


def notebooks(lessons: tuple[Lesson, ...]) -> dict[Path, str]:
    """The text of every notebook by its path."""
    return {FOLDER / f"{lesson.id}_{lesson.slug}.ipynb": notebook(lesson) for lesson in lessons}


def notebook(lesson: Lesson) -> str:
    """The notebook of one lesson, the same bytes each time."""
    cells = [_text(_head(lesson)), _code(_setting(lesson))]
    shown = exhibits(lesson.folder)
    beside = first_used(lesson.folder, [part.name for part in lesson.parts if isinstance(part, Run)])
    found = _found(lesson)
    for part in lesson.parts:
        match part:
            case Prose():
                cells += _prose(part)
            case Predict(question=question):
                cells.append(_text(f"**Say it first:** {question}"))
            case Run(name=name):
                source = f'{shown[name].source}\n\nshown["{name}"] = {found[name]}'
                cells += map(_code, beside[name].values())
                cells += [_text(f"*{shown[name].about}*"), _code(source)]
            case Plot(name=name, key=key, title=title, x_label=x_label, y_label=y_label):
                words = ", ".join(map(_quoted, (name, key, title, x_label, y_label)))
                cells.append(_code(f"draw({words})", hidden=True))
    cells.append(_text(_tail(lesson)))
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"{lesson.id}-{number:02}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": [dict(sorted(cell.items())) for cell in cells],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _head(lesson: Lesson) -> str:
    lines = [f"# Lesson {lesson.number}: {lesson.title}", "", lesson.summary, ""]
    lines += [
        f"About {lesson.minutes} minutes. Every number below is computed by the cells: run them in order."
    ]
    if lesson.codes:
        lines += ["", "Explains " + ", ".join(f"[{code}](../rules.md)" for code in lesson.codes) + "."]
    return "\n".join(lines)


def _setting(lesson: Lesson) -> str:
    """The imports of the experiment, and its constants that the cells use."""
    text = (lesson.folder / FILE).read_text(encoding="utf-8")
    tree = ast.parse(text)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [part.name for part in lesson.parts if isinstance(part, Run)]
    beside = {one for used in first_used(lesson.folder, names).values() for one in used}
    used = {
        name.id
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in beside.union(names)
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    own = sorted(used & _constants(tree))
    lines = [_source(text, node) for node in imports if _needed(node, used)]
    lines += [
        "",
        "# pip install 'gradledger[learn]'",
        "from gradledger.lessons.notebook import draw, say, shown",
    ]
    if own:
        module = f"gradledger.lessons.course.{lesson.id}_{lesson.slug}.experiment"
        lines.append(f"from {module} import {', '.join(own)}")
    return "\n".join(lines).strip()


def _found(lesson: Lesson) -> dict[str, str]:
    """What each exhibit returns, as it is written there."""
    text = (lesson.folder / FILE).read_text(encoding="utf-8")
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and isinstance(last := node.body[-1], ast.Return) and last.value:
            found[node.name] = _source(text, last.value)
    return found


def _source(text: str, node: ast.stmt | ast.expr) -> str:
    """The source of a statement in a function's body, or of a part of one, from its own left edge."""
    first, *rest = (ast.get_source_segment(text, node) or "").splitlines()
    return "\n".join([first, *(line.removeprefix("    ") for line in rest)])


def _needed(node: ast.Import | ast.ImportFrom, used: set[str]) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return False
    return any((name.asname or name.name).partition(".")[0] in used for name in node.names)


def _constants(tree: ast.Module) -> set[str]:
    """What the module itself assigns."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names |= {
                one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)
            }
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def _prose(part: Prose) -> list[dict[str, object]]:
    """Paragraphs that tell values become cells of code, the others stay text."""
    lines = part.text.split("\n")
    telling = {line - part.line for _, _, line in part.fields}
    cells: list[dict[str, object]] = []
    for told, start, end in _stretches(lines, telling):
        text = "\n".join(lines[start:end]).strip("\n")
        if not text:
            continue
        if told:
            cells.append(_code(f"say({_raw(_linked(text))})", hidden=True))
        else:
            cells.append(_text(_linked(text.replace("{{", "{").replace("}}", "}"))))
    return cells


def _stretches(lines: list[str], telling: set[int]) -> list[tuple[bool, int, int]]:
    """Paragraphs put together while they are of one kind: whether they tell values, first line, end."""
    found: list[tuple[bool, int, int]] = []
    start, fence = 0, False
    for number, line in enumerate([*lines, ""]):
        fence ^= line.lstrip().startswith(("```", "~~~"))
        if line.strip() or fence:
            continue
        told = any(start <= at < number for at in telling)
        if found and found[-1][0] == told:
            found[-1] = (told, found[-1][1], number)
        else:
            found.append((told, start, number))
        start = number + 1
    return found


def _linked(text: str) -> str:
    """Links between lessons lead from notebook to notebook."""
    tokens = text.split("](")
    for number, token in enumerate(tokens[1:], 1):
        target, bracket, rest = token.partition(")")
        if bracket and target.startswith("l") and target[1:].isdigit():
            goal = lesson_named(target)
            tokens[number] = f"{goal.id}_{goal.slug}.ipynb){rest}"
        elif bracket and target.startswith("GL"):
            tokens[number] = f"../rules.md){rest}"
    return "](".join(tokens)


def _tail(lesson: Lesson) -> str:
    number = lesson.number
    return "\n".join(
        [
            "## What now",
            "",
            f"- `gradledger learn quiz {number}` asks what stayed, and explains every answer.",
            f"- `gradledger learn repair {number}` hands you a broken script, and judges your repair.",
            f"- `gradledger learn trace {number}` shows one step of its loop in stages.",
        ]
    )


def _raw(text: str) -> str:
    assert '"""' not in text
    return f'r"""\n{text}\n"""'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _text(source: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(source: str, *, hidden: bool = False) -> dict[str, object]:
    """A cell of code; where it only tells what was found, its source can stay folded."""
    metadata = {"jupyter": {"source_hidden": True}} if hidden else {}
    lines = source.splitlines(keepends=True)
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": metadata,
        "outputs": [],
        "source": lines,
    }
