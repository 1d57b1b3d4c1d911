"""Runs a function in several forked processes that are joined by gloo: far quicker than spawning new ones."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch.distributed as dist


def together(work: Callable[[int], Any], world: int = 2) -> list[Any]:
    """What the function returned in each rank."""
    folder = Path(tempfile.mkdtemp())
    try:
        children = []
        for rank in range(world):
            child = os.fork()
            if child == 0:
                _take_part(work, rank, world, folder)
            children.append(child)
        states = [os.waitpid(child, 0)[1] for child in children]
        faults = "".join(path.read_text() for path in sorted(folder.glob("*.fault")))
        assert not any(states), faults or states
        return [pickle.loads((folder / f"{rank}.result").read_bytes()) for rank in range(world)]
    finally:
        shutil.rmtree(folder)


def _take_part(work: Callable[[int], Any], rank: int, world: int, folder: Path) -> None:
    status = 1
    try:
        store = dist.FileStore(str(folder / "store"), world)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=world)
        result = work(rank)
        dist.barrier()
        (folder / f"{rank}.result").write_bytes(pickle.dumps(result))
        status = 0
    except BaseException:
        (folder / f"{rank}.fault").write_text(f"rank {rank}:\n{traceback.format_exc()}")
    finally:
        os._exit(status)
