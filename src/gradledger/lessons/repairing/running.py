"""Runs a reader's script for as long as it may take, and keeps only the end of what it says on stderr."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

KEPT = 64 << 10
"""So many bytes of stderr are kept; a script may print without end."""
DRAINED = 2.0
"""So many seconds a child of the script may hold stderr open after its end."""


def ran(command: Sequence[str], patience: float) -> tuple[int | None, str]:
    """The exit status, None if the time was up, and the end of stderr."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0
    )
    assert process.stderr is not None
    said = bytearray()
    listener = Thread(target=_keep_the_end, args=(process.stderr.fileno(), said), daemon=True)
    listener.start()
    status = None
    with suppress(subprocess.TimeoutExpired):
        try:
            status = process.wait(patience)
        finally:  # also after Ctrl-C
            process.kill()
            process.wait()
    listener.join(DRAINED)
    if not listener.is_alive():
        process.stderr.close()
    return status, bytes(said).decode("utf-8", "replace")


def _keep_the_end(stream: int, said: bytearray) -> None:
    with suppress(OSError):
        while chunk := os.read(stream, KEPT):
            said += chunk
            del said[:-KEPT]
