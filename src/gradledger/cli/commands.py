"""All commands, found by looking into this folder: a new command is one new file.

A command's file holds `NAME = "…"` and `HELP = "…"`, each in one line, `add_arguments(parser)` and
`run(args)`. Names and help are read from its text, so that no command pays for the imports of another.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
from contextlib import suppress
from typing import Protocol, cast

import gradledger.cli
from gradledger.ledger.modules import modules_in
from gradledger.ledger.record import dataclass

_LITERAL = re.compile(r'^(NAME|HELP) = "([^"\\]*)"$', re.MULTILINE)


class Command(Protocol):
    """What a command's file provides; `ours` and `RUNS_USER_CODE` may be left out."""

    NAME: str
    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; the result is the exit code."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A command that could be imported."""

    name: str
    summary: str
    module: str


def commands() -> dict[str, Entry]:
    """Every command by its name, none of them imported."""
    entries = (_entry(module) for module in modules_in(gradledger.cli.__path__))
    return dict(sorted((entry.name, entry) for entry in entries if entry is not None))


def command(name: str) -> Entry | None:
    """The command with this name; most often its file is called the same, and no other is opened."""
    if name in modules_in(gradledger.cli.__path__):
        entry = _entry(name)
        if entry is not None and entry.name == name:
            return entry
    return commands().get(name)


def load(entry: Entry) -> Command:
    """Import the one command that was chosen."""
    return cast(Command, importlib.import_module(entry.module))


def _entry(module: str) -> Entry | None:
    literals = dict(_LITERAL.findall(_source(f"gradledger.cli.{module}")))
    if not {"NAME", "HELP"} <= literals.keys():
        return None
    return Entry(literals["NAME"], literals["HELP"], f"gradledger.cli.{module}")


def _source(module: str) -> str:
    name = module.rpartition(".")[2]
    for folder in gradledger.cli.__path__:  # the loader would import `tokenize` to find out the encoding
        with suppress(OSError), open(os.path.join(folder, f"{name}.py"), encoding="utf-8") as file:
            return file.read()
    import importlib.util

    spec = importlib.util.find_spec(module)
    loader = spec.loader if spec else None
    get_source = getattr(loader, "get_source", None)
    return (get_source(module) if get_source else None) or ""
