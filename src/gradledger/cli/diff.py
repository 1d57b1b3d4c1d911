"""`gradledger diff`: what changed between two recorded runs."""

from __future__ import annotations

import argparse
import os
import sys

from gradledger.cli.sources import add_sources, confined

NAME = "diff"
HELP = "compare two recorded runs: findings gone and new, counts, windows"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("before", metavar="BEFORE", help="a recording")
    parser.add_argument("after", metavar="AFTER", help="another")
    parser.add_argument("--exit-zero", action="store_true", help="new findings do not change the exit code")
    add_sources(parser)


def run(args: argparse.Namespace) -> int:
    """Compare; the exit code is 1 if a certain error or warning is new."""
    from gradledger.cli.retelling import retold_or_refused
    from gradledger.cli.terminal import emit, terminal
    from gradledger.report.comparison import Side, compared, comparison_text

    facts = terminal(sys.stdout)

    def side(path: str) -> Side:
        told = retold_or_refused(path, facts.cwd)
        for note in told.answer.notes:
            emit(facts.prose(f"note: {path}: {note}") + "\n", sys.stderr)
        return Side(os.path.basename(path), told.answer, told.books)

    with confined(args, args.before, args.after):
        before, after = side(args.before), side(args.after)
    comparison = compared(before, after)
    emit(comparison_text(comparison, before, after, facts), sys.stdout)
    return 1 if comparison.fails and not args.exit_zero else 0
