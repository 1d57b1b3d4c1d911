"""`gradledger trace`: what a training script does with data and gradients, by stages, layers and epochs."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gradledger.cli.stamp import Stamp, stamp
from gradledger.cli.torch_needed import need_torch
from gradledger.cli.usage import UsageError

if TYPE_CHECKING:
    from gradledger.audit.answer import Answer
    from gradledger.report.style import StreamFacts

NAME = "trace"
HELP = "show a training step in stages, layer by layer, and its epochs"
RUNS_USER_CODE = True

PROGRAMS = Path(__file__).parent / "trace_programs"
WITH_VALUE = frozenset({"--step", "--save", "--metric", "--report"})
"""Our options that take the next argument; a test compares this with the parser."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments before the script."""
    parser.usage = "gradledger trace [options] [SCRIPT | -m MODULE] [ARGS ...]"
    parser.epilog = (
        "Without SCRIPT a built-in example is trained. Everything after SCRIPT belongs to it; it runs "
        "as Python would run it; the trace follows its output."
    )
    parser.add_argument("--step", metavar="N", type=_positive, help="the step to show (default: the second)")
    parser.add_argument("--save", metavar="RECORDING", help="keep the recording, details included")
    parser.add_argument(
        "--report", metavar="FILE.html", help="also write it as a page, with ledger timeline and curves"
    )
    parser.add_argument(
        "--metric", metavar="NAME", help="a variable of the script whose value is read when an epoch is over"
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="train the built-in example with each of four mistakes and without, side by side",
    )


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no step: the first is 1")
    return int(text)


def ours(argv: list[str]) -> int:
    """How many leading arguments are ours."""
    from gradledger.cli.run import leading

    return leading(argv, WITH_VALUE)


def run(args: argparse.Namespace) -> int:
    """Train, then tell."""
    report = None if args.report is None else Path(args.report).absolute()
    if report is not None and not report.parent.is_dir():
        raise UsageError(f"there is no folder {report.parent} for the page")
    if args.compare:
        if args.rest or args.step or args.save or args.metric:
            raise UsageError("--compare trains the built-in example and takes nothing else but --report")
        from gradledger.cli.comparing import compare

        need_torch()
        return compare(report)
    from gradledger.cli.run import target
    from gradledger.cli.terminal import terminal
    from gradledger.host import Options, Target, run_target
    from gradledger.ledger.details import DEFAULT_STEP
    from gradledger.ledger.record import replace
    from gradledger.runtime.detail.wanted import Wanted

    kind, name, rest = target(args.rest or [str(PROGRAMS / "example.py")])
    need_torch(Path(name).parent if kind == "script" else Path())
    wanted = Wanted(tuple({1, args.step or DEFAULT_STEP}), args.metric)
    page = None if report is None else (report, os.path.basename(name))
    facts = terminal(sys.stdout)
    if not args.rest:  # the reader knows the built-in example by its name, not by where it was installed
        facts = replace(facts, cwd=str(PROGRAMS))
    trace = _Trace(args, facts, page, script=bool(args.rest))
    options = Options(save=trace.recording, details=wanted)
    return int(run_target(Target(kind=kind, name=name, args=tuple(rest)), options, trace))


class _Trace:
    """The end of a traced run: reads the recording and prints its story."""

    def __init__(
        self, args: argparse.Namespace, facts: StreamFacts, page: tuple[Path, str] | None, *, script: bool
    ) -> None:
        import tempfile

        self._step: int | None = args.step
        self._metric: str | None = args.metric
        self._facts = facts
        self._page = page
        """Where the page goes, and what it is called."""
        self._script = script
        self._stream = sys.stdout
        self._folder: str | None = None
        self.recording: str | None = None
        """Where the recording goes; of several ranks on one machine only the one that reports has one."""
        if args.save:
            self.recording = str(Path(args.save).absolute())
        elif os.environ.get("LOCAL_RANK", "0") == "0":
            # Not one that cleans up after itself: exit handlers run before the report.
            self._folder = tempfile.mkdtemp(prefix="gradledger-")
            self.recording = str(Path(self._folder) / "run.jsonl")
        self._earlier: Stamp | None = None if self.recording is None else stamp(self.recording)
        """Of another run, whose story is not this one's."""

    def __call__(self, answer: Answer, script_exit: int) -> int:
        """Tell the story; the exit code is the script's own."""
        import shutil
        from contextlib import suppress

        from gradledger.cli.terminal import emit
        from gradledger.ledger.recording import RecordingError, read
        from gradledger.report.cells import wrap
        from gradledger.report.story_text import story_text
        from gradledger.story.telling import tell

        trouble: str | None = None
        try:
            # A script that ends before torch is there leaves none.
            path = self.recording
            there = path is not None and stamp(path) not in (None, self._earlier)
            events = read(path) if path is not None and there else ()
            try:
                story = tell(events, self._step)
            except RecordingError as error:  # the script wrote to it as well
                story, trouble = tell((), self._step), f"gradledger trace: {error}"
            if self._page is not None:
                trouble = self._drawn(answer, *self._page) or trouble
        finally:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
        text = story_text(story, self._facts, asked=self._step)
        notes = [*self._notes(answer), *answer.notes]
        if self._page is not None and trouble is None and self.recording is not None:
            notes.append(f"the trace as a page: {self._page[0]}")
        if self._metric is not None and story.metric is None and story.passes:
            notes.append(f'no epoch left a number in a variable "{self._metric}"')
        for note in notes:
            lines = wrap(self._facts.prose(f"note: {note}"), self._facts.width, self._facts.width - 6)
            text += "\n" + "\n      ".join(lines) + "\n"
        with suppress(OSError, ValueError):  # the script may have closed the stream, or nobody reads it
            emit(("\n" if self._script else "") + text, self._stream)
        if trouble is not None:
            with suppress(OSError, ValueError):
                emit(self._facts.plain(trouble) + "\n", sys.stderr)
            return script_exit or 2
        return script_exit

    def _drawn(self, answer: Answer, output: Path, name: str) -> str | None:
        """Write the page; says what went wrong, if anything did."""
        from gradledger.cli.paging import Page

        if self.recording is None:  # a rank that does not report
            return None
        try:
            Page(self.recording, output, name, earlier=self._earlier).write(answer, self._facts.cwd)
        except OSError as error:
            return f"gradledger trace: cannot write the page to {output}: {error.strerror or error}"
        return None

    def _notes(self, answer: Answer) -> list[str]:
        if not answer.findings:
            return []
        from gradledger.audit.place import shown_place

        named = (f"{f.code} {f.name} ({shown_place(f.site, self._facts.cwd)})" for f in answer.findings)
        codes = ", ".join(dict.fromkeys(named))
        return [f"the audit finds {codes}; gradledger run tells more"]
