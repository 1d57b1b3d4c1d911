"""TensorBoard: the ledger's numbers as scalars and its findings as text, live or from a recording."""

from __future__ import annotations

import os
from typing import Any

from gradledger.integrations.needs import needs
from gradledger.integrations.scalars import answer_of, as_markdown, points

FINDINGS = "gradledger/findings"


def export(recording: str | os.PathLike[str], log_dir: str | os.PathLike[str]) -> int:
    """Write a recording of `gradledger run --save` or `trace --save` to a log folder; gives its steps."""
    writer: Any = _board().SummaryWriter(os.fspath(log_dir))
    try:
        steps = 0
        for step, numbers in points(os.fspath(recording)):
            _write(writer, step, numbers)
            steps = step
        writer.add_text(FINDINGS, as_markdown(answer_of(os.fspath(recording))), steps)
    finally:
        writer.close()
    return steps


def watch(writer: Any, *things: Any) -> Any:
    """`gradledger.watch` that also writes every step to this SummaryWriter, and its findings at the end."""
    needs("torch.utils.tensorboard", "tensorboard")
    from gradledger.integrations.following import Followed

    latest = [0]

    def log(step: int, numbers: dict[str, float]) -> None:
        latest[0] = step
        _write(writer, step, numbers)

    return Followed(things, log, lambda answer: writer.add_text(FINDINGS, as_markdown(answer), latest[0]))


def _board() -> Any:
    needs("tensorboard", "tensorboard")
    return needs("torch.utils.tensorboard", "tensorboard")


def _write(writer: Any, step: int, numbers: dict[str, float]) -> None:
    for name, value in numbers.items():
        writer.add_scalar(name, value, step)
