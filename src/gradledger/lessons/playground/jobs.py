"""What a worker process can be asked for: trying a set-up, running an exhibit of the course."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gradledger.lessons.catalogue import HERE
from gradledger.lessons.exhibit import run_exhibit
from gradledger.lessons.playground.setup import read
from gradledger.lessons.playground.trial import trial


def _trial(job: Mapping[str, Any]) -> dict[str, object]:
    return trial(read(job["setup"]))


def _exhibit(job: Mapping[str, Any]) -> dict[str, object]:
    shown = run_exhibit(HERE / Path(job["folder"]), job["name"])
    return {"name": shown.name, "printed": shown.printed, "values": dict(shown.values)}


JOBS: dict[str, Callable[[Mapping[str, Any]], dict[str, object]]] = {"trial": _trial, "exhibit": _exhibit}


def done(job: Mapping[str, Any]) -> dict[str, object]:
    """Do a job; what goes wrong in it is part of the answer."""
    try:
        return {"result": JOBS[job["kind"]](job)}
    except Exception as error:  # told to the page, which says what failed
        return {"failed": f"{type(error).__name__}: {error}"}


def warm_up() -> None:
    """Load now what every job needs, without a backward pass: its threads would not survive a fork."""
    import torch
    import torch._dynamo

    from gradledger.rules.catalogue import catalogue

    torch.set_num_threads(1)
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.zeros(2)
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        kind([weight], lr=0.1).step()
    torch.amp.GradScaler("cpu")
    catalogue()
