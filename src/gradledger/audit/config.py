"""The user's wishes in pyproject.toml: the table `[tool.gradledger]`."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping

from gradledger.audit.selector import UnknownRuleError, expand
from gradledger.ledger.record import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

TABLE = "tool.gradledger"


class ConfigError(ValueError):
    """A configuration that cannot be followed: which file, which key, what is wrong with it."""

    def __init__(self, path: Path, key: str | None, problem: str) -> None:
        """Say it in one line."""
        place = f"{path}: {TABLE}.{key}" if key else str(path)
        super().__init__(f"{place}: {problem}")
        self.path = path
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Config:
    """What `[tool.gradledger]` says; the defaults mean that it says nothing."""

    path: Path | None = None
    """The pyproject.toml it was read from."""
    select: frozenset[str] | None = None
    """The codes to report, or None for all."""
    ignore: frozenset[str] = frozenset()
    per_file_ignores: tuple[tuple[str, frozenset[str]], ...] = ()
    exclude: tuple[str, ...] = ()
    baseline: Path | None = None

    @property
    def root(self) -> Path | None:
        """The folder that patterns are relative to."""
        return None if self.path is None else self.path.parent


def load_config(directory: str | Path) -> Config | None:
    """Read the nearest pyproject.toml at or above the directory that has our table; None if none has it."""
    folder, below = os.path.join(os.getcwd(), directory), ""
    while folder != below:
        place = os.path.join(folder, "pyproject.toml")
        table = _table(place) if os.path.isfile(place) else None
        if table is not None:
            return read_table(_path(place), table)
        folder, below = os.path.dirname(folder), folder
    return None


def read_table(path: Path, table: Mapping[str, object]) -> Config:
    """Understand the table strictly: a misspelt key must not silently mean nothing."""
    config = Config(path=path)
    for key, value in table.items():
        match key:
            case "select":
                config = replace(config, select=_codes(path, key, value))
            case "ignore":
                config = replace(config, ignore=_codes(path, key, value))
            case "per-file-ignores":
                config = replace(config, per_file_ignores=_per_file(path, key, value))
            case "exclude":
                config = replace(config, exclude=_strings(path, key, value))
            case "baseline":
                if not isinstance(value, str) or not value:
                    raise ConfigError(path, key, f"must be the name of a file, not {_shown(value)}")
                config = replace(config, baseline=path.parent / value)
            case _:
                known = "baseline, exclude, ignore, per-file-ignores, select"
                raise ConfigError(path, key, f"unknown key (known: {known})")
    return config


def _path(place: str) -> Path:
    from pathlib import Path  # most projects say nothing about us, and it is slow to load

    return Path(place)


def _table(place: str) -> Mapping[str, object] | None:
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        with open(place, "rb") as file:
            whole: dict[str, object] = toml.load(file)
    except OSError as error:
        raise ConfigError(_path(place), None, f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(_path(place), None, f"is not valid TOML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise ConfigError(_path(place), None, "is nested too deeply") from error
    tool = whole.get("tool")
    table = tool.get("gradledger") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(_path(place), None, f"{TABLE} must be a table, not {_shown(table)}")
    return table


def _strings(path: Path, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ConfigError(path, key, f"must be a list of strings, not {_shown(value)}")
    return tuple(value)


def _codes(path: Path, key: str, value: object) -> frozenset[str]:
    words = _strings(path, key, value)
    try:
        return expand(words)
    except UnknownRuleError as error:
        raise ConfigError(path, key, str(error)) from error


def _per_file(path: Path, key: str, value: object) -> tuple[tuple[str, frozenset[str]], ...]:
    if not isinstance(value, dict):
        raise ConfigError(path, key, f"must be a table of patterns and lists, not {_shown(value)}")
    return tuple((glob, _codes(path, f'{key}."{glob}"', words)) for glob, words in value.items())


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
