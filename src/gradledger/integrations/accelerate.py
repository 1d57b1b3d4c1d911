"""Accelerate: `attach(accelerator)` audits from there to `accelerator.end_training()`."""

from __future__ import annotations

import atexit
import functools
from typing import Any

from gradledger.integrations.needs import needs

_logging: Any = needs("accelerate.logging", "accelerate")

from gradledger.integrations.attached import Attached  # noqa: E402  torch is loaded by Accelerate first


def attach(accelerator: Any, *things: Any, fail: bool = False) -> Attached:
    """Audit from here on; findings are warnings of the main process, and numbers in the trackers.

    The audit ends with `accelerator.end_training()`, with `close` of what this gives, or with the process.

    Args:
        accelerator: The accelerator.
        things: Models and optimizers to know from the start; those that were prepared are known anyway.
        fail: Raise `gradledger.AuditError` at the end if there are findings that fail a run.
    """
    logger = _logging.get_logger("gradledger")

    def say(text: str) -> None:
        logger.warning(text, main_process_only=True)

    audit = Attached(say, fail=fail)
    audit.begin(*accelerator._models, *accelerator._optimizers, *things)
    end_training = accelerator.end_training

    @functools.wraps(end_training)
    def ended() -> Any:
        try:
            audit.end()
            if accelerator.trackers:
                accelerator.log(audit.numbers())
        finally:
            accelerator.end_training = end_training
            done = end_training()
        return done

    accelerator.end_training = ended
    atexit.register(_alone, audit)
    return audit


def _alone(audit: Attached) -> None:
    """The process ends without end_training(): other ranks may be gone, so this one speaks for itself."""
    audit.end(SystemExit())
