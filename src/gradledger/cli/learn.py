"""`gradledger learn`: the course, in the terminal or in the browser."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from gradledger.cli.usage import UsageError

NAME = "learn"
HELP = "a course on gradients in which PyTorch computes every claim"

NEEDED = {"rich": "rich", "markdown_it": "markdown-it-py", "platformdirs": "platformdirs"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "gradledger learn [--reset | --web [--port N] [--no-browser]] [WAY [LESSON]]"
    parser.epilog = (
        "Without arguments: an overview and a menu. WAY: read, trace, predict, myths, repair, quiz, recall, "
        "measure, glossary or playground, as in: gradledger learn quiz 7; a rule's code (GL103) opens its "
        "lesson. What you did is kept in your data directory, or in the one that GRADLEDGER_DATA names."
    )
    parser.add_argument("words", metavar="WAY", nargs="*", help="a way to learn and its lesson: read 7")
    parser.add_argument(
        "--web", action="store_true", help="open the course and the playground in the browser"
    )
    parser.add_argument("--reset", action="store_true", help="forget what was read and answered")
    parser.add_argument(
        "--port", metavar="N", type=_port, help="--web: listen on this port (default: a free one)"
    )
    parser.add_argument("--no-browser", action="store_true", help="--web: only tell the address")
    parser.add_argument("--output", metavar="FILE", help="measure: write the plots to this picture")


def run(args: argparse.Namespace) -> int:
    """Do what was asked; what is not possible is said in one line."""
    for module, package in NEEDED.items():
        if find_spec(module) is None:
            raise UsageError(f"{package} is not installed here: pip install 'gradledger[learn]'")
    from gradledger.lessons.fault import CourseError
    from gradledger.lessons.learning import learn, the_reader
    from gradledger.lessons.refusal import Refusal

    if args.output is not None and args.words[:1] != ["measure"]:
        raise UsageError("--output belongs to measure: gradledger learn measure 3 --output plots.png")
    if (args.port is not None or args.no_browser) and not (args.web or args.words[:1] == ["playground"]):
        raise UsageError("--port and --no-browser belong to --web")
    try:
        reader = the_reader(output=args.output, port=args.port, browser=not args.no_browser, stdin=sys.stdin)
        return learn(args.words, reader, web=args.web, reset=args.reset)
    except (Refusal, LookupError, CourseError) as refusal:
        raise UsageError(str(refusal)) from refusal


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port (0 to 65535)")
    return int(text)
