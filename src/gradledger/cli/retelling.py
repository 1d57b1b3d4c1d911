"""Reading a recording that the user named."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gradledger.cli.progress import progress
from gradledger.cli.terminal import terminal
from gradledger.cli.usage import UsageError
from gradledger.ledger.recording import RecordingError, read
from gradledger.report.replay.retelling import Retold, retold


def retold_or_refused(path: str, cwd: str) -> Retold:
    """The run, or one line that says why it cannot be read."""
    with _refusing(path), progress(f"reading {os.path.basename(path)}", "events") as shown:
        return retold(path, cwd, shown.counted)


def refuse_foreign(path: str) -> None:
    """One line if this is something else than a recording; what is not there yet may become one."""
    with _refusing(path):
        if os.path.isdir(path) or (os.path.exists(path) and os.path.getsize(path)):
            next(read(path), None)


@contextmanager
def _refusing(path: str) -> Iterator[None]:
    facts = terminal(sys.stderr)
    try:
        yield
    except RecordingError as error:
        raise UsageError(facts.prose(str(error))) from error
    except OSError as error:
        raise UsageError(facts.prose(f"cannot read {path}: {error.strerror or error}")) from error
