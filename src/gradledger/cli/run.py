"""`gradledger run`: a script under audit, otherwise exactly as Python would run it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from gradledger.cli.conclude import Conclusion

NAME = "run"
HELP = "run a script under audit; findings come on stderr at the end"
RUNS_USER_CODE = True

WITH_VALUE = frozenset(
    {
        *("--format", "--output", "--save", "--report", "--port"),
        *("--select", "--ignore", "--baseline", "--write-baseline"),
    }
)
"""Our options that take the next argument; a test compares this with the parser."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments before the script."""
    from gradledger.report.forms import form_names

    parser.usage = "gradledger run [options] (SCRIPT | -m MODULE) [ARGS ...]"
    parser.epilog = (
        "Everything after SCRIPT or -m MODULE belongs to the script, also what looks like an option here."
    )
    parser.add_argument("--format", choices=form_names(), default="text", help="default: text")
    parser.add_argument("--output", metavar="FILE", help="write the report to FILE instead of stderr")
    parser.add_argument("--save", metavar="RECORDING", help="save everything the ledger saw to RECORDING")
    parser.add_argument("--report", metavar="FILE.html", help="show the run as an HTML page in FILE.html")
    parser.add_argument("--live", action="store_true", help="serve that page on this machine during the run")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="for --live; default: a free one")
    parser.add_argument(
        "--fail-fast", action="store_true", help="raise an exception in the script at the first certain error"
    )
    parser.add_argument("--exit-zero", action="store_true", help="findings do not change the exit code")
    parser.add_argument(
        "--select", metavar="CODES", action="append", help="report only these codes, prefixes (GL3) or names"
    )
    parser.add_argument("--ignore", metavar="CODES", action="append", help="do not report these")
    parser.add_argument("--baseline", metavar="FILE", help="do not report the findings known from FILE")
    parser.add_argument(
        "--write-baseline", metavar="FILE", help="write the findings to FILE; from then on they are known"
    )


def ours(argv: list[str]) -> int:
    """How many leading arguments are ours: everything before SCRIPT, -m or --."""
    return leading(argv, WITH_VALUE)


def leading(argv: list[str], with_value: frozenset[str]) -> int:
    """How many arguments stand before SCRIPT, -m or --."""
    position = 0
    while position < len(argv):
        word = argv[position]
        is_option = word.startswith("-") and word not in ("-", "--")
        if not is_option or (word.startswith("-m") and not word.startswith("--")):
            break
        position += 2 if word in with_value else 1
    return min(position, len(argv))


def target(rest: list[str]) -> tuple[Literal["script", "module"], str, list[str]]:
    """The kind ("script" or "module"), the name and the arguments of what is to be run."""
    from gradledger.cli.usage import UsageError

    words = rest[1:] if rest[:1] == ["--"] else rest
    kind: Literal["script", "module"] = "script"
    if words and words[0].startswith("-m") and rest is words:
        kind = "module"
        words = words[1:] if words[0] == "-m" else [words[0][2:], *words[1:]]
    if not words or not words[0]:
        what = "a module after -m" if kind == "module" else "a SCRIPT or -m MODULE"
        raise UsageError(f"tell me {what} to run; see gradledger run --help")
    return kind, words[0], words[1:]


def run(args: argparse.Namespace) -> int:
    """Settle everything about the report, then hand over to the host."""
    from gradledger.cli.torch_needed import need_torch

    kind, name, rest = target(args.rest)
    folder = Path(name).parent if kind == "script" else Path()
    conclude = conclusion(args, folder)
    need_torch(folder)
    save = None if args.save is None else str(Path(args.save).absolute())

    def hosted(conclude: Conclusion, save: str | None) -> int:
        return _host(args, kind, name, rest, conclude, save)

    def paged(save: str | None) -> int:
        if args.report is None or _rank() != 0:
            return hosted(conclude, save)
        from gradledger.cli.page_of_run import recorded_for_page

        with recorded_for_page(conclude, save, args.report, os.path.basename(name)) as (concluding, saved):
            return hosted(concluding, saved)

    if not args.live or _rank() != 0:
        return paged(save)
    from gradledger.cli.live_run import shown_live

    with shown_live(args, save, os.path.basename(name), str(folder)) as recording:
        return paged(recording)


def _host(
    args: argparse.Namespace,
    kind: Literal["script", "module"],
    name: str,
    rest: list[str],
    conclude: Conclusion,
    save: str | None,
) -> int:
    from gradledger.host import Options, Target, run_target

    wanted = Target(kind=kind, name=name, args=tuple(rest))
    return int(run_target(wanted, Options(fail_fast=args.fail_fast, save=save), conclude))


def conclusion(args: argparse.Namespace, script_folder: Path) -> Conclusion:
    """Read configuration and baseline now: a mistake there must show before hours of training, not after."""
    from gradledger.cli.conclude import Conclusion
    from gradledger.cli.rank_path import with_rank
    from gradledger.cli.terminal import terminal
    from gradledger.cli.wishes import wishes
    from gradledger.report.forms import renderer
    from gradledger.report.style import file_facts

    facts = terminal(sys.stderr)
    wanted = wishes(args, script_folder, facts)
    return Conclusion(
        render=renderer(args.format),
        stream=sys.stderr,
        facts=facts,
        file_facts=file_facts(os.environ, facts.cwd),
        wishes=wanted.selection,
        baseline=wanted.baseline,
        new_baseline=wanted.new_baseline,
        output=None if args.output is None else Path(with_rank(str(Path(args.output).absolute()), _rank())),
        exit_zero=args.exit_zero,
    )


def _rank() -> int:
    text = os.environ.get("RANK", "")
    return int(text) if text.isascii() and text.isdigit() else 0
