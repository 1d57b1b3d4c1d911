"""Weights & Biases: the ledger's numbers as history and its findings as a table, live or from a recording."""

from __future__ import annotations

import os
from typing import Any

from gradledger.audit.answer import Answer
from gradledger.integrations.needs import needs
from gradledger.integrations.scalars import COLUMNS, answer_of, finding_rows, points

STEP = "gradledger/step"
"""The axis of our numbers, so that they do not disturb the run's own steps."""


def export(recording: str | os.PathLike[str], run: Any) -> int:
    """Log a recording of `gradledger run --save` or `trace --save` to this run; gives the steps logged."""
    _axis(run)
    steps = 0
    for step, numbers in points(os.fspath(recording)):
        run.log({STEP: step, **numbers})
        steps = step
    _tell(run, answer_of(os.fspath(recording)))
    return steps


def watch(run: Any, *things: Any) -> Any:
    """`gradledger.watch` that also logs every step to this run, and its findings at the end."""
    from gradledger.integrations.following import Followed

    _axis(run)
    return Followed(
        things, lambda step, numbers: run.log({STEP: step, **numbers}), lambda answer: _tell(run, answer)
    )


def _axis(run: Any) -> None:
    needs("wandb", "wandb")
    run.define_metric(STEP)
    run.define_metric("gradledger/*", step_metric=STEP)


def _tell(run: Any, answer: Answer) -> None:
    table = needs("wandb", "wandb").Table(columns=COLUMNS, data=finding_rows(answer))
    run.log({"gradledger/findings": table})
    run.summary["gradledger/failed"] = answer.fails
    run.summary["gradledger/found"] = ", ".join(sorted({finding.code for finding in answer.findings}))
