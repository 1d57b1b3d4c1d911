"""MLflow: the ledger's numbers as metrics and its findings as an artifact, live or from a recording."""

from __future__ import annotations

import os
from typing import Any

from gradledger.audit.answer import Answer
from gradledger.integrations.needs import needs
from gradledger.integrations.scalars import answer_of, as_markdown, points

FINDINGS = "gradledger/findings.md"


def export(recording: str | os.PathLike[str], run_id: str | None = None) -> int:
    """Log a recording of `gradledger run --save` or `trace --save` to a run, the active one unless told.

    Gives the steps logged.
    """
    mlflow: Any = needs("mlflow", "mlflow")
    steps = 0
    for step, numbers in points(os.fspath(recording)):
        mlflow.log_metrics(numbers, step=step, run_id=run_id)
        steps = step
    _tell(answer_of(os.fspath(recording)), run_id)
    return steps


def watch(*things: Any, run_id: str | None = None) -> Any:
    """`gradledger.watch` that also logs every step to a run, and its findings at the end."""
    mlflow: Any = needs("mlflow", "mlflow")
    from gradledger.integrations.following import Followed

    active = mlflow.active_run()
    run = run_id or (active.info.run_id if active is not None else None)
    if run is None:
        raise ValueError("there is no active MLflow run: call mlflow.start_run() first, or pass run_id=")
    return Followed(
        things,
        lambda step, numbers: mlflow.log_metrics(numbers, step=step, run_id=run),
        lambda answer: _tell(answer, run),
    )


def _tell(answer: Answer, run_id: str | None) -> None:
    mlflow: Any = needs("mlflow", "mlflow")
    client = mlflow.MlflowClient()
    run = run_id or mlflow.active_run().info.run_id
    mlflow.log_text(as_markdown(answer), FINDINGS, run_id=run)
    client.set_tag(run, "gradledger.found", ", ".join(sorted({finding.code for finding in answer.findings})))
    client.set_tag(run, "gradledger.failed", str(answer.fails).lower())
