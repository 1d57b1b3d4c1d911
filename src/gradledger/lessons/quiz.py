"""The questions of a lesson, read from its quiz.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gradledger.ledger.record import dataclass
from gradledger.lessons.front import Table, toml_file


@dataclass(frozen=True, slots=True)
class Option:
    """One answer: its text, and what is to be said to who chooses it."""

    key: str
    text: str
    why: str
    value: float | bool | None = None
    """What the exhibit would return if this were the right one."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its options, the right one, and the exhibit that proves it."""

    id: str
    text: str
    options: tuple[Option, ...]
    answer: str
    exhibit: str | None = None
    """NAME.KEY in the lesson's experiment.py."""

    @property
    def right(self) -> Option:
        """The option named by the answer."""
        return next(option for option in self.options if option.key == self.answer)


def questions(folder: Path) -> tuple[Question, ...]:
    """Read `quiz.toml`."""
    path = folder / "quiz.toml"
    whole = toml_file(path).only("question")
    tables = _tables(whole, "question", _lines(path, "[[question]]"))
    found = tuple(map(_question, tables))
    for number, (question, table) in enumerate(zip(found, tables, strict=True)):
        if question.id in {earlier.id for earlier in found[:number]}:
            raise table.fault(f'the id "{question.id}" was used above', "id")
    return found


def _question(table: Table) -> Question:
    table.only("id", "text", "answer", "exhibit", "option")
    lines = [at for at in _lines(table.path, "[[question.option]]") if at > table.line]
    options = tuple(map(_option, _tables(table, "option", lines)))
    answer = table.take("answer", str)
    keys = [option.key for option in options]
    if len(set(keys)) != len(keys):
        raise table.fault(f"two options have the same key: {', '.join(keys)}")
    if answer not in keys:
        raise table.fault(f'the answer "{answer}" is none of the options {", ".join(keys)}', "answer")
    exhibit = table.values.get("exhibit")
    if exhibit is not None and (not isinstance(exhibit, str) or exhibit.count(".") != 1):
        raise table.fault(f'"exhibit" is NAME.KEY, not {exhibit!r}', "exhibit")
    question = Question(table.take("id", str), table.take("text", str), options, answer, exhibit)
    if question.right.value is not None and exhibit is None:
        raise table.fault('an option has a "value", but the question names no exhibit')
    return question


def _option(table: Table) -> Option:
    table.only("key", "text", "why", "value")
    value = table.values.get("value")
    if value is not None and not isinstance(value, int | float):
        raise table.fault(f'"value" must be a number, true or false, not {value!r}', "value")
    return Option(table.take("key", str), table.take("text", str), table.take("why", str), value)


def _tables(owner: Table, key: str, lines: list[int]) -> list[Table]:
    items: Any = owner.values.get(key)
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise owner.fault(f"there is no [[{key}]]")
    at = [*lines, *[owner.line] * len(items)]
    return [Table(item, owner.path, line) for item, line in zip(items, at, strict=False)]


def _lines(path: Path, head: str) -> list[int]:
    text = path.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(text, 1) if line.strip().startswith(head)]
