"""The example makes the same updates in one process, with DDP and with FSDP2, and nothing is found in it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "tokens.py"


def run(*arguments: str, ranks: int = 1) -> tuple[list[str], str]:
    start = [sys.executable, "-m", "gradledger", "run", str(SCRIPT), *arguments]
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


@pytest.mark.slow
@pytest.mark.distributed
def test_one_script_for_one_process_ddp_and_fsdp2() -> None:
    alone, said = run()
    assert len(alone) == 4
    assert "96 backward passes, 12 steps, 27 parameters in 1 group: no findings" in said
    for arguments in ((), ("--sharded",)):
        lines, said = run(*arguments, ranks=2)
        assert lines == alone
        assert "in 2 processes: no findings" in said
