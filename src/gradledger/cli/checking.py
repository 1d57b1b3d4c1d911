"""From the arguments of `gradledger check` to its exit code."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from gradledger.audit.answer import Answer, Checked
from gradledger.audit.place import shown_path
from gradledger.checking.outcome import Outcome, Outcomes
from gradledger.checking.tree import check_paths
from gradledger.cli.conclude import Conclusion
from gradledger.cli.progress import progress
from gradledger.cli.terminal import emit, terminal
from gradledger.cli.wishes import Wishes, absolute, wishes
from gradledger.ledger.record import replace
from gradledger.report.forms import renderer
from gradledger.report.style import StreamFacts, file_facts
from gradledger.rules.finding import Certainty, Finding

if TYPE_CHECKING:
    from gradledger.checking.problem import Problem
    from gradledger.checking.walking import Excluded

UNREADABLE = 2
STANDARD_INPUT = "<stdin>"


def check(args: argparse.Namespace) -> int:
    """Check, repair if asked, report."""
    facts = terminal(sys.stdout)
    paths: list[str] = args.paths or ["."]
    wanted = wishes(args, _folder(paths, facts.cwd), facts)
    given = _standard_input(args, facts.cwd) if "-" in paths else None
    outcomes = _outcomes(args, paths, wanted, given, facts.cwd)
    conclude = _conclusion(args, wanted, facts, quiet_stdout=given is not None and args.fix and not args.diff)
    problems = outcomes.problems
    for problem in problems:
        emit(conclude.facts.plain(_said(problem, facts.cwd)) + "\n", sys.stderr)
    exit_code = UNREADABLE if problems else 0
    if args.fix or args.diff:
        from gradledger.cli.fixing import fix_and_report

        return fix_and_report(args, outcomes, wanted, conclude, given, exit_code)
    return conclude(answer_of(outcomes, args.format, facts.cwd), exit_code)


def answer_of(outcomes: Outcomes, form: str, cwd: str) -> Answer:
    """All outcomes as one answer; for programs, which do not read stderr, the problems are notes as well."""
    notes = [f"{shown_path(o.path, cwd)}: {note}" for o in outcomes.each for note in o.notes]
    unread = tuple(_said(problem, cwd) for problem in outcomes.problems)
    if form != "text":
        notes += unread
    findings = sorted(outcomes.findings, key=_order)
    return Answer("static", tuple(findings), Checked(files=outcomes.files), tuple(notes), unread)


def any_certain(answer: Answer) -> bool:
    """Whether a finding is more than possible; for a check, a matter of performance counts."""
    return any(finding.certainty is Certainty.CERTAIN for finding in answer.findings)


def _order(finding: Finding) -> tuple[object, ...]:
    site = finding.site
    return site.path, site.cell or 0, site.line, site.column, finding.code


def _outcomes(
    args: argparse.Namespace, paths: list[str], wanted: Wishes, given: tuple[str, bytes] | None, cwd: str
) -> Outcomes:
    files = [path for path in paths if path != "-"]
    with progress("checking", "training files") as shown:
        found = check_paths(files, cwd, excluded=_excluded(wanted), cached=not args.no_cache, tick=shown.step)
    if given is None:
        return found
    return Outcomes(found.files + 1, (_outcome_of_input(*given, cwd), *found.each))


def _outcome_of_input(path: str, raw: bytes, cwd: str) -> Outcome:
    from gradledger.audit.source import hold
    from gradledger.checking.document import open_document
    from gradledger.checking.neighbours import Neighbours
    from gradledger.checking.one_file import check_file
    from gradledger.checking.problem import Problem, Unreadable

    try:
        for cell, text in open_document(path, raw).parts():
            hold(path, cell, text)
    except Unreadable as error:
        return Outcome(path, problems=(Problem(path, error.line, error.reason, error.cell),))
    return check_file(path, raw, Neighbours(cwd))


def _standard_input(args: argparse.Namespace, cwd: str) -> tuple[str, bytes]:
    name = args.stdin_filename
    path = STANDARD_INPUT if name is None else os.path.normpath(os.path.join(cwd, name))
    return path, b"" if sys.stdin is None else sys.stdin.buffer.read()


def _excluded(wanted: Wishes) -> Excluded | None:
    globs = wanted.config.exclude
    if not globs:
        return None
    from gradledger.audit.globs import matches

    root = str(wanted.selection.root)
    return lambda path: any(matches(glob, path, root) for glob in globs)


def _conclusion(
    args: argparse.Namespace, wanted: Wishes, facts: StreamFacts, *, quiet_stdout: bool
) -> Conclusion:
    stream = sys.stderr if quiet_stdout else sys.stdout
    return Conclusion(
        render=renderer(args.format),
        stream=stream,
        facts=terminal(stream) if quiet_stdout else facts,
        file_facts=file_facts(os.environ, facts.cwd),
        # a file was left out when folders were walked; one that was named is wanted
        wishes=replace(wanted.selection, exclude=()),
        baseline=wanted.baseline,
        new_baseline=wanted.new_baseline,
        output=None if args.output is None else absolute(args.output),
        exit_zero=args.exit_zero,
        command="check",
        fails=(lambda answer: bool(answer.findings)) if args.strict else any_certain,
        complaints=sys.stderr,
    )


def _folder(paths: list[str], cwd: str) -> str:
    """Where the configuration is looked for if the working directory has none."""
    first = os.path.join(cwd, next((path for path in paths if path != "-"), "."))
    return first if os.path.isdir(first) else os.path.dirname(first)


def _said(problem: Problem, cwd: str) -> str:
    cell = "" if problem.cell is None else f"cell {problem.cell}:"
    return f"{shown_path(problem.path, cwd)}:{cell}{problem.line}: {problem.reason}"
