"""`gradledger check --fix` and `--diff`: repairs, written or shown."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path

from gradledger.audit.answer import Answer, Checked
from gradledger.audit.atomic import write_atomically
from gradledger.audit.place import shown_path
from gradledger.audit.select import final
from gradledger.audit.source import hold
from gradledger.checking.difference import difference
from gradledger.checking.document import open_document
from gradledger.checking.neighbours import Neighbours
from gradledger.checking.outcome import Outcome, Outcomes
from gradledger.checking.problem import Problem
from gradledger.checking.reading import read
from gradledger.checking.repairing import Keep, Repaired, repaired
from gradledger.cli.conclude import CANNOT_WRITE, Conclusion
from gradledger.cli.terminal import emit, terminal
from gradledger.cli.wishes import Wishes
from gradledger.ledger.record import replace
from gradledger.report.plain import harmless
from gradledger.rules.finding import Finding
from gradledger.rules.wording import times


def fix_and_report(
    args: argparse.Namespace,
    outcomes: Outcomes,
    wanted: Wishes,
    conclude: Conclusion,
    given: tuple[str, bytes] | None,
    exit_code: int,
) -> int:
    """Repair what the user wants to hear of; then report what is left, or with --diff show the changes."""
    from gradledger.cli.checking import answer_of

    cwd = conclude.facts.cwd

    def keep(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        return final(Answer("static", findings, Checked()), conclude.wishes, cwd, wanted.baseline).findings

    repairs = [_repair(outcome, given, keep, cwd) for outcome in outcomes.each if _fixable(outcome)]
    changed = [repair for repair in repairs if repair is not None and repair.after != repair.before]
    if args.diff:
        return _show(args, outcomes, changed, conclude, exit_code)
    written: list[Repaired] = []
    for repair in changed:
        if given is not None and repair.path == given[0]:
            written.append(repair)
            for cell, text in open_document(repair.path, repair.after).parts():
                hold(repair.path, cell, text)
        elif _write(repair, cwd):
            written.append(repair)
        else:
            exit_code = CANNOT_WRITE
    if given is not None:
        output = next((repair.after for repair in written if repair.path == given[0]), given[1])
        with suppress(BrokenPipeError):
            sys.stdout.buffer.write(output)
            sys.stdout.flush()
    left = {repair.path: repair.left for repair in written}
    remaining = Outcomes(outcomes.files, tuple(left.get(o.path, o) for o in outcomes.each))
    return conclude(_with_count(answer_of(remaining, args.format, cwd), written, args.format), exit_code)


def _with_count(answer: Answer, written: list[Repaired], form: str) -> Answer:
    count = sum(len(repair.fixed) for repair in written)
    said = f"repaired {times(count, 'finding')} in {times(len(written), 'file')}"
    if form != "text":
        emit(said + "\n", sys.stderr)
        return answer
    return replace(answer, notes=(*answer.notes, said))


def _show(
    args: argparse.Namespace,
    outcomes: Outcomes,
    changed: list[Repaired],
    conclude: Conclusion,
    exit_code: int,
) -> int:
    """The changes on stdout; what was found goes to --output, and decides the exit code."""
    from gradledger.audit.select import selected
    from gradledger.cli.checking import answer_of

    cwd = conclude.facts.cwd
    for repair in changed:
        name = shown_path(repair.path, cwd)
        emit(difference(repair.path, harmless(name), repair.before, repair.after), sys.stdout, exact=True)
    count = sum(len(repair.fixed) for repair in changed)
    emit(f"--fix would repair {times(count, 'finding')} in {times(len(changed), 'file')}\n", sys.stderr)
    answer = answer_of(outcomes, args.format, cwd)
    if args.output is not None or args.write_baseline is not None:
        return replace(conclude, stream=sys.stderr, facts=terminal(sys.stderr))(answer, exit_code)
    left = selected(answer, conclude.wishes, cwd)
    if conclude.baseline is not None:
        from gradledger.audit.baseline import without_known

        left = without_known(left, conclude.baseline)
    return exit_code or (1 if conclude.fails(left) and not conclude.exit_zero else 0)


def _fixable(outcome: Outcome) -> bool:
    return any(finding.fix is not None for finding in outcome.findings)


def _repair(outcome: Outcome, given: tuple[str, bytes] | None, keep: Keep, cwd: str) -> Repaired | None:
    raw = given[1] if given is not None and outcome.path == given[0] else read(outcome.path, named=True)
    if raw is None or isinstance(raw, Problem):  # it was there a moment ago
        return None
    return repaired(outcome.path, raw, Neighbours(cwd), keep)


def _write(repair: Repaired, cwd: str) -> bool:
    try:
        write_atomically(Path(repair.path), repair.after)
    except OSError as error:
        place = shown_path(repair.path, cwd)
        said = f"{place}:1: cannot be written: {error.strerror or error}; its findings are left as they are"
        emit(terminal(sys.stderr).plain(said) + "\n", sys.stderr)
        return False
    return True
