"""`gradledger check`: source and notebooks, without running them."""

from __future__ import annotations

import argparse

NAME = "check"
HELP = "check source files and notebooks without running them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "paths", metavar="PATHS", nargs="*", help="files and folders (default: .), - for standard input"
    )
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired for certain")
    parser.add_argument("--diff", action="store_true", help="show the repairs instead of writing them")
    parser.add_argument(
        "--select", metavar="CODES", action="append", help="report only these codes, prefixes (GL3) or names"
    )
    parser.add_argument("--ignore", metavar="CODES", action="append", help="do not report these")
    parser.add_argument(
        "--format",
        choices=("text", "json", "sarif", "github", "markdown"),
        default="text",
        help="default: text",
    )
    parser.add_argument("--output", metavar="FILE", help="write the report to FILE")
    parser.add_argument("--strict", action="store_true", help="possible findings fail the check, too")
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 even if there are findings")
    parser.add_argument("--baseline", metavar="FILE", help="do not report the findings known from FILE")
    parser.add_argument(
        "--write-baseline", metavar="FILE", help="write the findings to FILE; from then on they are known"
    )
    parser.add_argument("--stdin-filename", metavar="NAME", help="what standard input is called")
    parser.add_argument("--no-cache", action="store_true", help="neither use nor write the cache")


def run(args: argparse.Namespace) -> int:
    """Check, repair if asked, report."""
    from gradledger.cli.checking import check

    return check(args)
