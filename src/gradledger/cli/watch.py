"""`gradledger watch`: the report page of a run that goes on, served to this machine alone."""

from __future__ import annotations

import argparse
import os
import sys

from gradledger.cli.sources import add_sources, confined

NAME = "watch"
HELP = "show a recording as a page while it grows; served on this machine only, read only"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "recording", metavar="RECORDING", help="written by gradledger run --save; it may not be there yet"
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="default: a free one")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--select", metavar="CODES", action="append", help="report only these codes")
    parser.add_argument("--ignore", metavar="CODES", action="append", help="do not report these")
    add_sources(parser)
    parser.set_defaults(baseline=None, write_baseline=None)


def run(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    from gradledger.cli.live_page import served
    from gradledger.cli.progress import progress
    from gradledger.cli.retelling import refuse_foreign
    from gradledger.cli.terminal import emit, terminal
    from gradledger.cli.wishes import wishes

    facts = terminal(sys.stdout)
    path = os.path.abspath(args.recording)
    wanted = wishes(args, os.path.dirname(path), facts)
    refuse_foreign(path)
    there = os.path.exists(path)
    with confined(args, path), served(path, wanted, args.port) as page:
        word = "watching" if there else "waiting for"
        emit(facts.plain(f"{word} {args.recording} at {page.url} (Ctrl-C ends it)") + "\n", sys.stdout)
        if args.open:
            import webbrowser

            webbrowser.open(page.url)
        with progress(f"reading {args.recording}", "events") as shown:
            while not page.follower.caught_up.wait(0.1):
                shown.done = page.follower.read
        page.wait()
    return 0
