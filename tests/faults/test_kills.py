"""SIGKILL at any moment: the run that goes on ends with the bits of the run that was never disturbed."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch._dynamo  # torch imports it at the first optimizer; here once for all forked processes

from tests.faults import trainee
from tests.faults.lives import Life, begin, joined, killed
from tests.replicas import together

KILLS = int(os.environ.get("GRADLEDGER_KILLS", "4"))
SAYS = 2
"""Messages per micro-batch."""


def start(folder: Path, life: int, ranks: int) -> list[Life]:
    def of(rank: int) -> Life:
        def work(after):
            if ranks > 1:
                joined(rank, ranks, folder / f"store{life}")
            return trainee.train(folder, after)

        return begin(work, folder / f"{life}.{rank}.result")

    return [of(rank) for rank in range(ranks)]


def disturbed(folder: Path, ranks: int, seed: int) -> tuple[list[torch.Tensor], int]:
    """Train with a kill after a few micro-batches of each life, until a life comes to the end."""
    plan = random.Random(seed)
    for life in range(200):
        lives = start(folder, life, ranks)
        died = killed(lives, plan.randrange(ranks), plan.randrange(1, 2 * SAYS * trainee.BATCHES))
        faults = [path.read_text() for path in sorted(folder.glob(f"{life}.*.fault"))]
        if not died:
            assert not faults, faults
            return pickle.loads((folder / f"{life}.0.result").read_bytes()), life
        # Whoever was not killed may only have noticed that a peer has gone.
        assert all("Connection" in fault or "lost contact" in fault for fault in faults), faults
    raise AssertionError("no life came to its end")


def whole(ranks: int, folder: Path) -> list[torch.Tensor]:
    folder.mkdir()
    if ranks > 1:
        return together(lambda rank: trainee.train(folder), ranks)[0]
    (life,) = start(folder, 0, 1)
    assert not killed([life], 0, 10**9)
    return pickle.loads((folder / "0.0.result").read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.distributed)])
def test_killed_runs_end_with_the_same_bits(ranks: int, tmp_path: Path) -> None:
    expected = whole(ranks, tmp_path / "whole")
    kills = run = 0
    while kills < KILLS:
        folder = tmp_path / f"run{run}"
        folder.mkdir()
        found, died = disturbed(folder, ranks, seed=run)
        assert all(torch.equal(p, q) for p, q in zip(found, expected, strict=True))
        left = {path.name for path in folder.iterdir() if ".part-" in path.name}
        assert len(left) <= ranks, left  # at most what the last life's own end has left
        kills, run = kills + died, run + 1


@pytest.mark.slow
@pytest.mark.distributed
def test_torchrun_restarts_killed_ranks_and_nothing_is_lost(tmp_path: Path) -> None:
    lives = max(1, KILLS // 4)
    expected = whole(2, tmp_path / "whole")
    folder = tmp_path / "run"
    folder.mkdir()
    line = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", f"--max-restarts={lives}"]
    line += ["--standalone", "--monitor-interval=0.1", "-m", "tests.faults.trainee", str(folder), str(lives)]
    # Without this the ranks of a new life may read where those of the last one listened, and fail to connect.
    environment = os.environ | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120 + 60 * lives)
    assert done.returncode == 0, done.stderr[-4000:]
    found = torch.load(folder / "weights.pt")
    assert all(torch.equal(p, q) for p, q in zip(found, expected, strict=True))


def test_every_life_hears_of_every_micro_batch(tmp_path: Path) -> None:
    (life,) = start(tmp_path, 0, 1)
    heard = 0
    while os.read(life.pipe, 1):
        heard += 1
    os.waitpid(life.process, 0)
    assert heard == SAYS * trainee.LENGTH
