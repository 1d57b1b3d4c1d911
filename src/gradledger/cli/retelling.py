"""Reading a recording that the user named."""

from __future__ import annotations

import sys

from gradledger.cli.terminal import terminal
from gradledger.cli.usage import UsageError
from gradledger.ledger.recording import RecordingError
from gradledger.report.replay.retelling import Retold, retold


def retold_or_refused(path: str, cwd: str) -> Retold:
    """The run, or one line that says why it cannot be read."""
    facts = terminal(sys.stderr)
    try:
        return retold(path, cwd)
    except RecordingError as error:
        raise UsageError(facts.prose(str(error))) from error
    except OSError as error:
        raise UsageError(facts.prose(f"cannot read {path}: {error.strerror or error}")) from error
