"""How our own commands end when the reader goes away or the user interrupts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

INTERRUPTED = 130
PIPE_BROKEN = 141
"""128 plus the number of the signal, as shells report it."""


def quietly(work: Callable[[], int]) -> int:
    """Do the work; an interrupt or a closed pipe is no reason for a traceback."""
    try:
        try:
            return work()
        finally:  # argparse leaves through SystemExit
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at exit, which must not fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_BROKEN
    except KeyboardInterrupt:
        return INTERRUPTED
