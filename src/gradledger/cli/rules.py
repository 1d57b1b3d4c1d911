"""`gradledger rules`: the catalogue."""

from __future__ import annotations

import argparse
import json
import sys

NAME = "rules"
HELP = "list all rules and which front end sees them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    from gradledger.cli.terminal import emit, terminal
    from gradledger.report.rule_text import rules_table
    from gradledger.rules.catalogue import catalogue

    emit(_json() if args.format == "json" else rules_table(catalogue(), terminal(sys.stdout)), sys.stdout)
    return 0


def _json() -> str:
    from gradledger._version import __version__
    from gradledger.rules.catalogue import catalogue

    rules = [
        {
            "code": rule.code,
            "name": rule.name,
            "severity": rule.severity.value,
            "static": rule.static,
            "runtime": rule.runtime,
            "summary": rule.summary,
        }
        for rule in catalogue()
    ]
    tool = {"name": "gradledger", "version": __version__}
    return json.dumps({"schema": 1, "tool": tool, "rules": rules}, indent=2) + "\n"
