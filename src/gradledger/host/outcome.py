"""How a program ended, and the end of it that Python itself would bring about."""

from __future__ import annotations

import atexit
import sys
import threading
import traceback
from collections.abc import Callable

from gradledger.host.tracebacks import exit_status, show, without_us, write
from gradledger.ledger.record import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """The exit status, and what led to it."""

    status: int
    error: BaseException | None = None
    """What ended the program, unless it ended by itself."""
    interrupted: bool = False
    """Whether the process has to die by SIGINT."""


def outcome_of(run: Callable[[], object]) -> Outcome:
    """Run; whatever ends it is printed as Python does."""
    ended: BaseException | None = None
    try:
        run()
    except BaseException as error:
        ended = error
    # Beyond the except clause, so that what goes wrong from here on is not chained to the program's error.
    if ended is None:
        return Outcome(0)
    without_us(ended)
    if isinstance(ended, SystemExit):
        status = exit_status(ended)
        return Outcome(status, ended.__context__ if status else None)
    return Outcome(show(ended), ended, interrupted=type(ended) is KeyboardInterrupt)


def join_threads() -> None:
    """Wait for the threads that are no daemons, as the interpreter does at its end."""
    # The interpreter's own function: it also wakes idle thread pools, which would be waited for forever.
    try:
        threading._shutdown()  # type: ignore[attr-defined]
    except BaseException as error:
        without_us(error)
        write(f"Exception ignored in: {threading!r}\n{''.join(traceback.format_exception(error))}")


def run_exit_handlers() -> None:
    """Run what the program registered with atexit, which also joins its child processes."""
    atexit._run_exitfuncs()


def end_interrupted() -> None:
    """Let the interpreter finish, and die by SIGINT; the traceback has been printed."""
    sys.excepthook = lambda *_: None
    raise KeyboardInterrupt
