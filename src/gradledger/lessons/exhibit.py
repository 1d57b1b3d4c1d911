"""Runs one function of an experiment.py in this process and keeps what it printed and returned."""

from __future__ import annotations

import importlib
import importlib.util
import io
import sys
import threading
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import gradledger
from gradledger.ledger.record import dataclass
from gradledger.lessons.experiment_source import FILE, exhibits
from gradledger.lessons.fault import CourseError

Value: TypeAlias = "float | int | bool | str | list[float] | dict[str, list[float]]"

_one_at_a_time = threading.RLock()
"""Standard output is the whole process's, so exhibits run one after the other."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What a reader sees of an experiment, and the values it found."""

    name: str
    about: str
    source: str
    printed: str
    values: Mapping[str, Value]


def run_exhibit(folder: Path, name: str) -> Exhibit:
    """Run the exhibit now; every number it shows is computed here."""
    known = exhibits(folder)
    if name not in known:
        raise CourseError(folder / FILE, 1, f"there is no exhibit {name} (there are: {', '.join(known)})")
    shown = known[name]
    with _one_at_a_time:
        function = getattr(experiment(folder), name)
        stdout = io.StringIO()
        with redirect_stdout(stdout):
            values = function()
    _check(values, folder / FILE, shown.line, name)
    return Exhibit(name, shown.about, shown.source, stdout.getvalue(), values)


def experiment(folder: Path) -> ModuleType:
    """The module of a folder's experiment.py, imported once."""
    with _one_at_a_time:
        package = Path(gradledger.__file__).parent
        path = (folder / FILE).resolve()
        if path.is_relative_to(package.resolve()):  # by its own name, so that child processes find it too
            inside = path.relative_to(package.resolve()).with_suffix("")
            return importlib.import_module(".".join(("gradledger", *inside.parts)))
        name = f"_gradledger_experiment_{abs(hash(str(path)))}"
        if name in sys.modules:
            return sys.modules[name]
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


def _check(values: object, path: Path, line: int, name: str) -> None:
    if not isinstance(values, dict):
        raise CourseError(path, line, f"the exhibit {name} returns {type(values).__name__}, not a dictionary")
    for key, value in values.items():
        if not _plain(value):
            kind = type(value).__name__
            raise CourseError(
                path, line, f"the exhibit {name} returns a {kind} under {key!r}, no plain value"
            )


def _plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(
            isinstance(key, str) and isinstance(one, list) and _plain(one) for key, one in value.items()
        )
    if isinstance(value, list):
        return all(isinstance(one, int | float) for one in value)
    return isinstance(value, int | float | str)
