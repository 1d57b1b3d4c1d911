"""Running a program, audited, from its first line to the report."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gradledger.host import ending
from gradledger.host.children import Child, Places, saved_as
from gradledger.host.final import LastMoments
from gradledger.host.mailbox import Mailbox
from gradledger.host.nodes import several_nodes
from gradledger.host.outcome import Outcome, end_interrupted, join_threads, outcome_of, run_exit_handlers
from gradledger.host.program import CannotRunError, Program, enter, prepare
from gradledger.host.ranks import Ranks, local_ranks
from gradledger.host.reporter import Conclude, Reporter
from gradledger.host.spawned import Descent
from gradledger.host.target import Options, Target
from gradledger.host.tracebacks import flush, write
from gradledger.host.vigil import SessionFactory, Vigil
from gradledger.ledger.record import replace


def run_target(
    target: Target, options: Options, conclude: Conclude, session: SessionFactory | None = None
) -> int:
    """Run the program as Python would and conclude once; returns the exit status of the process.

    If an uncaught KeyboardInterrupt ended the program, this raises KeyboardInterrupt again after the report,
    its traceback already printed, so that the interpreter finishes and dies by SIGINT.
    """
    try:
        program = prepare(target)
    except CannotRunError as refusal:
        write(f"gradledger: {refusal}\n")
        return refusal.status
    ranks = local_ranks(os.environ)
    vigil = Vigil(_options(options, ranks), None if ranks is None else ranks.rank, session)
    places = Places(Mailbox.fresh())
    nodes = None if ranks is None else several_nodes(os.environ)
    reporter = Reporter(vigil, places, ranks, conclude, nodes)
    descent = Descent(vigil, places)
    ending.take(reporter)
    ending.guard()
    descent.begin()
    vigil.begin()
    outcome = _run(program)
    role = ending.role()
    status = _part(role, outcome) if isinstance(role, Child) else _close(reporter, outcome)
    descent.end()
    ending.drop()
    if outcome.interrupted:
        end_interrupted()
    return status


def _run(program: Program) -> Outcome:
    main = enter(program)
    outcome = outcome_of(lambda: program.run(main))
    join_threads()
    return outcome


def _part(child: Child, outcome: Outcome) -> int:
    """The end of a child that the program forked and let run on to here."""
    child.error = outcome.error
    return child.leave(outcome.status, hurry=False)


def _close(reporter: Reporter, outcome: Outcome) -> int:
    """The end of the process that reports."""
    reporter.finish(outcome.error)  # before the exit handlers, in which libraries take themselves apart
    run_exit_handlers()
    with LastMoments() as last:
        flush(sys.stdout)
        hurry = outcome.status != 0  # other ranks may be waiting for this one to end
        status = reporter.report(outcome.status, hurry=hurry, pressed=lambda: last.pressed is not None)
        flush(sys.stderr)
    if last.pressed is not None:
        ending.die(last.pressed)
    return status


def _options(options: Options, ranks: Ranks | None) -> Options:
    """The program may change its directory, and ranks must not write into one file."""
    if options.save is None:
        return options
    save = str(Path(options.save).absolute())
    return replace(options, save=saved_as(save, f"rank{ranks.rank}") if ranks and ranks.rank else save)
