"""Transformers: `GradientAudit` audits a Trainer from inside; `verify` and `exact` mind its normalisation."""

from __future__ import annotations

from typing import Any

from gradledger.integrations.needs import needs

_transformers: Any = needs("transformers", "transformers")
needs("accelerate", "transformers")

from gradledger.integrations.attached import Attached  # noqa: E402  torch is loaded by Transformers first
from gradledger.integrations.counting import Count  # noqa: E402
from gradledger.integrations.trainer_window import Weighing, compare_window  # noqa: E402
from gradledger.rules.finding import Finding  # noqa: E402

if _transformers.utils.is_torch_available():
    from gradledger.engine.verification import Verification


class GradientAudit(_transformers.TrainerCallback):  # type: ignore[misc]
    """Audits `trainer.train()`: findings are warnings of Transformers' logger, and numbers in its log.

    Args:
        fail: Raise `gradledger.AuditError` at the end if there are findings that fail a run.
    """

    def __init__(self, *, fail: bool = False) -> None:
        self._logger = _transformers.utils.logging.get_logger("transformers.gradledger")
        self._audit = Attached(self._say, fail=fail)
        self._speaks = True
        self._trainer: Any = None
        self._verifies = False
        self.verification: Verification | None = None
        """Whether the Trainer's normalisation is exact, if that was asked for."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What has been found so far."""
        return self._audit.findings

    def joined(self, trainer: Any, *, verifies: bool) -> GradientAudit:
        """Know the trainer, to use its log and to verify its windows."""
        self._trainer, self._verifies = trainer, verifies
        return self

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, optimizer: Any = None, **more: Any
    ) -> None:
        """Begin, after the verification."""
        self._speaks = state.is_world_process_zero
        if self._verifies and args.world_size == 1 and hasattr(self._trainer.train_dataset, "__len__"):
            self._verify()
        self._audit.begin(*(thing for thing in (model, optimizer) if thing is not None))

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Tell what is new."""
        self._audit.news()

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Tell the rest and log it."""
        try:
            self._audit.end()
        finally:
            numbers = self._audit.numbers()
            if self.verification is not None:
                numbers["gradledger/window_error"] = self.verification.error
            if self._trainer is not None:
                self._trainer.log(numbers)
            else:
                state.log_history.append({**numbers, "step": state.global_step})

    def _verify(self) -> None:
        try:
            self.verification = verify(self._trainer)
        except ValueError as reason:
            self._say(f"gradledger: the normalisation was not verified: {reason}")
            return
        if not self.verification:
            self._say(f"gradledger: {self.verification.message}")

    def _say(self, text: str) -> None:
        if self._speaks:
            self._logger.warning(text)


def attach(trainer: Any, *, verify: bool = True, fail: bool = False) -> GradientAudit:
    """Audit this trainer's training, and before it verify the normalisation of one window.

    Args:
        trainer: The Trainer.
        verify: Compare one window with its full batch before training; in one process, and not on streams.
        fail: Raise `gradledger.AuditError` at the end if there are findings that fail a run.
    """
    callback = GradientAudit(fail=fail).joined(trainer, verifies=verify)
    trainer.add_callback(callback)
    return callback


def verify(trainer: Any, *, count: Count | None = None, tolerance: float = 1e-3) -> Verification:
    """Whether a window, as this Trainer accumulates it, has the gradient of its full batch; changes nothing.

    Args:
        trainer: The Trainer; in one process.
        count: From a batch to the number of samples or tokens its loss is the mean of; read off the loss
            where torch's own reductions tell.
        tolerance: The relative error that still counts as equal.
    """
    return compare_window(trainer, count, tolerance)


def exact(trainer: Any, *, count: Count | None = None) -> Any:
    """Make this Trainer's accumulation exact, whatever its model does with keyword arguments; gives it back.

    Each loss, a mean over its own batch, is weighed by its count over that of the window on all ranks.

    Args:
        trainer: The Trainer.
        count: From a batch to the number of samples or tokens its loss is the mean of; labels other than -100
            (shifted where the model's loss shifts them) unless told, or samples where there are no labels.
    """
    Weighing(trainer, count).install()
    return trainer
