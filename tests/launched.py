"""Runs a script under `gradledger run` in a process of its own, or in several under torchrun."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path


def launched(script: Path, *arguments: str, ranks: int = 1) -> tuple[list[str], str]:
    """The lines of its output, and what the audit said."""
    start = [sys.executable, "-m", "gradledger", "run", str(script), *arguments]
    if ranks > 1:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        launch = ["-m", "torch.distributed.run", "--nproc-per-node", str(ranks), "--master-port", str(port)]
        start[1:1] = launch
    done = subprocess.run(
        start, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    return done.stdout.splitlines(), done.stderr
