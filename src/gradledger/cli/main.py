"""The command `gradledger`: finds the command that was asked for and runs only that."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NoReturn

from gradledger._version import __version__
from gradledger.cli.collecting import seldom
from gradledger.cli.commands import Command, command, commands, load
from gradledger.cli.quiet import quietly
from gradledger.cli.usage import UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given and not given[0].startswith("-"):
        return _command(given[0], given[1:], alone=argv is None)

    def overview() -> int:
        parser = _top()
        parser.parse_args(given)  # --help and --version end here, anything else is an error
        parser.print_help(sys.stderr)
        return 2

    return quietly(overview)


def _command(name: str, rest: list[str], *, alone: bool) -> int:
    entry = command(name)
    if entry is None:
        return quietly(lambda: _unknown(name))
    chosen = load(entry)
    if getattr(chosen, "RUNS_USER_CODE", False):
        return _run(chosen, rest)  # its exceptions and interrupts belong to the user's program
    with seldom() if alone else nullcontext():
        return quietly(lambda: _run(chosen, rest))


def parser_of(command: Command) -> argparse.ArgumentParser:
    """What reads a command's arguments, and tells of them."""
    parser = _Parser(
        prog=f"gradledger {command.NAME}",
        description=command.HELP,
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    command.add_arguments(parser)
    return parser


def _run(command: Command, argv: list[str]) -> int:
    parser = parser_of(command)
    ours = getattr(command, "ours", len)(argv)
    args = parser.parse_args(argv[:ours])
    args.rest = argv[ours:]
    try:
        return command.run(args)
    except UsageError as error:
        _say(f"gradledger {command.NAME}: {error}")
        return 2


def _formatter(prog: str) -> argparse.HelpFormatter:
    """The usual form of help; argparse would import half of the standard library to learn the width."""
    columns = os.environ.get("COLUMNS", "")
    try:
        width = int(columns) if columns.isdigit() else os.get_terminal_size().columns
    except (OSError, ValueError):
        width = 80
    return argparse.HelpFormatter(prog, width=max(width, 20) - 2)


def _top() -> argparse.ArgumentParser:
    known = commands()
    width = max(map(len, known), default=0)
    listing = "\n".join(f"  {entry.name:<{width}}  {entry.summary}" for entry in known.values())
    parser = _Parser(
        prog="gradledger",
        usage="gradledger [-h] [--version] COMMAND ...",
        description="Keeps the books on PyTorch gradients.",
        epilog=f"commands:\n{listing}\n\ngradledger COMMAND --help tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"gradledger {__version__}")
    return parser


def _unknown(name: str) -> int:
    shown = name.encode("unicode_escape").decode("ascii")
    _say(f'gradledger: no command "{shown}" (there are: {", ".join(commands())})')
    return 2


def _say(words: str) -> None:
    """One line of error, in which nothing is obeyed by a terminal: a file may have any name."""
    from gradledger.cli.terminal import emit
    from gradledger.report.plain import harmless

    emit(harmless(words) + "\n", sys.stderr)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """The usual end, with what was typed made harmless."""
        from gradledger.report.plain import harmless

        super().error(harmless(message))
