"""`gradledger report`: a recorded run as a page, a picture, as Markdown, as JSON or as text."""

from __future__ import annotations

import argparse
import os
import sys

from gradledger.cli.sources import add_sources, confined

NAME = "report"
HELP = "show a recorded run: an HTML page with findings, ledger timeline and curves"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("recording", metavar="RECORDING", help="written by gradledger run --save")
    parser.add_argument(
        "--output", metavar="FILE", help="default: the recording's name with .html, .png or .svg; else stdout"
    )
    parser.add_argument(
        "--format",
        choices=("html", "markdown", "json", "text", "png", "svg"),
        default="html",
        help="default: html; png and svg show the timeline",
    )
    parser.add_argument("--select", metavar="CODES", action="append", help="report only these codes")
    parser.add_argument("--ignore", metavar="CODES", action="append", help="do not report these")
    add_sources(parser)
    parser.set_defaults(baseline=None, write_baseline=None)


def run(args: argparse.Namespace) -> int:
    """Read the recording and write what was asked for."""
    with confined(args, args.recording):
        return _report(args)


def _report(args: argparse.Namespace) -> int:
    from gradledger.audit.select import final
    from gradledger.cli.paging import with_notes, write_image, write_page
    from gradledger.cli.repairs import with_repairs
    from gradledger.cli.retelling import retold_or_refused
    from gradledger.cli.terminal import emit, terminal
    from gradledger.cli.wishes import absolute, wishes
    from gradledger.report.forms import renderer
    from gradledger.report.page.build import script_of
    from gradledger.report.style import file_facts
    from gradledger.report.summary import summary

    facts = terminal(sys.stdout)
    wanted = wishes(args, os.path.dirname(os.path.abspath(args.recording)), facts)
    told = retold_or_refused(args.recording, facts.cwd)
    answer = with_notes(final(told.answer, wanted.selection, facts.cwd, wanted.baseline), args.recording)
    answer = with_repairs(answer)
    name = script_of(answer, os.path.basename(args.recording))
    if args.format not in ("html", "png", "svg") and args.output is None:
        emit(renderer(args.format)(answer, facts), sys.stdout)
        return 0
    output = absolute(args.output or f"{os.path.splitext(args.recording)[0]}.{args.format}")
    try:
        if args.format == "html":
            write_page(told, answer, output, name, facts.cwd)
        elif args.format in ("png", "svg"):
            write_image(told, answer, output, name, args.format)
        else:
            from gradledger.audit.atomic import write_atomically

            write_atomically(output, renderer(args.format)(answer, file_facts(os.environ, facts.cwd)))
    except OSError as error:
        from gradledger.cli.usage import UsageError

        raise UsageError(facts.prose(f"cannot write {output}: {error.strerror or error}")) from error
    emit(facts.plain(f"{summary(answer)} (report in {output.name})") + "\n", sys.stdout)
    for note in answer.notes:
        emit(facts.prose(f"note: {note}") + "\n", sys.stdout)
    return 0
