"""Forked processes that are killed from outside, by SIGKILL, while they train."""

from __future__ import annotations

import os
import pickle
import selectors
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import torch.distributed as dist


@dataclass
class Life:
    """One process: its number, and the pipe on which it says how far it is."""

    process: int
    pipe: int


def begin(work: Callable[[Callable[[int, str], None]], Any], result: Path) -> Life:
    """Fork; the child works, says each micro-batch on a pipe, and leaves its result in a file."""
    here, there = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(here)
        _live(work, there, result)
    os.close(there)
    return Life(process, here)


def killed(lives: list[Life], victim: int, after: int) -> bool:
    """Kill one process after so many of its messages, then the others; False if all came to their end."""
    heard, deadly = 0, False
    with selectors.DefaultSelector() as selector:
        for number, life in enumerate(lives):
            selector.register(life.pipe, selectors.EVENT_READ, number)
        while selector.get_map() and not deadly:
            for key, _ in selector.select():
                if not os.read(key.fd, 1):
                    selector.unregister(key.fd)
                elif key.data == victim:
                    heard += 1
                    deadly = heard >= after
    if deadly:
        for life in [lives[victim], *lives]:  # the others would wait for it, as they would under torchrun
            os.kill(life.process, signal.SIGKILL)
    states = [os.waitpid(life.process, 0)[1] for life in lives]
    for life in lives:
        os.close(life.pipe)
    return any(os.WIFSIGNALED(state) for state in states)


def joined(rank: int, world: int, store: Path) -> None:
    """Become one of several ranks that meet in this file."""
    dist.init_process_group("gloo", store=dist.FileStore(str(store), world), rank=rank, world_size=world)


def _live(work: Callable[[Callable[[int, str], None]], Any], pipe: int, result: Path) -> NoReturn:
    status = 1
    try:
        found = work(lambda done, when: os.write(pipe, b".") and None)
        result.write_bytes(pickle.dumps(found))
        status = 0
    except BaseException:
        result.with_suffix(".fault").write_text(traceback.format_exc())
    finally:
        os._exit(status)
