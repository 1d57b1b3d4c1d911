"""All commands, found by looking into this folder: a new command is one new file.

A command's file holds `NAME = "…"` and `HELP = "…"`, each in one line, `add_arguments(parser)` and
`run(args)`. Names and help are read from its text, so that no command pays for the imports of another.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pkgutil
import re
from typing import Protocol, cast

import gradledger.cli
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
    found = {}
    for info in pkgutil.iter_modules(gradledger.cli.__path__):
        text = _source(f"gradledger.cli.{info.name}")
        literals = dict(_LITERAL.findall(text))
        if {"NAME", "HELP"} <= literals.keys():
            name = literals["NAME"]
            found[name] = Entry(name, literals["HELP"], f"gradledger.cli.{info.name}")
    return dict(sorted(found.items()))


def load(entry: Entry) -> Command:
    """Import the one command that was chosen."""
    return cast(Command, importlib.import_module(entry.module))


def _source(module: str) -> str:
    spec = importlib.util.find_spec(module)
    loader = spec.loader if spec else None
    get_source = getattr(loader, "get_source", None)
    return (get_source(module) if get_source else None) or ""
