"""Lightning callbacks: `GradientAudit` audits a fit from inside, `ExactWindows` makes accumulation exact."""

from __future__ import annotations

import sys
from typing import Any

from gradledger.integrations.needs import needs

_NAME = "pytorch_lightning" if "pytorch_lightning" in sys.modules else "lightning.pytorch"
_lightning: Any = needs(_NAME, "lightning")

from gradledger.integrations.attached import Attached  # noqa: E402  torch is loaded by Lightning first
from gradledger.integrations.counting import Count, counted  # noqa: E402
from gradledger.rules.finding import Finding  # noqa: E402


class GradientAudit(_lightning.Callback):  # type: ignore[misc]
    """Audits `trainer.fit`: findings are warnings of rank zero, and numbers and text in its loggers.

    Args:
        fail: Raise `gradledger.AuditError` at the end of the fit if there are findings that fail a run.
    """

    def __init__(self, *, fail: bool = False) -> None:
        super().__init__()
        self._audit = Attached(_warn, fail=fail)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What has been found so far."""
        return self._audit.findings

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin."""
        self._audit.begin(pl_module, *trainer.optimizers)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Tell what is new."""
        if trainer.is_global_zero:
            self._audit.news()

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """Tell the rest and log it."""
        try:
            self._audit.end()
        finally:
            self._log(trainer)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Explain the crash if it can be explained."""
        self._audit.end(exception)

    def _log(self, trainer: Any) -> None:
        for logger in trainer.loggers:
            logger.log_metrics(self._audit.numbers(), step=trainer.global_step)
            text = getattr(getattr(logger, "experiment", None), "add_text", None)
            if callable(text) and self._audit.answer is not None:
                from gradledger.integrations.scalars import as_markdown

                text("gradledger/findings", as_markdown(self._audit.answer), trainer.global_step)


class ExactWindows(_lightning.Callback):  # type: ignore[misc]
    """Makes accumulation under automatic optimization exact: a window's gradient is that of one large batch.

    Lightning divides every loss by `accumulate_grad_batches`. This weighs each by what it is the mean of, and
    divides once by what is inside when the window closes, before gradients are clipped: uneven batches, token
    counts, short tails and unequal ranks are exact.

    Args:
        count: From a batch to the number of samples or tokens its loss is the mean of; read off the loss
            where torch's own reductions tell.
    """

    def __init__(self, count: Count | None = None) -> None:
        super().__init__()
        self._count = count
        self._batch: Any = None
        self._inside = 0.0

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Refuse what this cannot do."""
        if not pl_module.automatic_optimization:
            raise ValueError(
                "ExactWindows needs automatic optimization; where it is manual, use gradledger.Accumulator"
            )
        self._inside = 0.0

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Keep the batch until its loss is there."""
        self._batch = batch

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        """Let this loss weigh what it counts."""
        scaled = getattr(trainer.precision_plugin, "scaler", None) is not None
        number = counted(loss, self._batch, self._count, scaled=scaled)
        weight = number * trainer.accumulate_grad_batches
        loss.register_hook(lambda gradient: gradient * weight)
        self._inside += number

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """Divide by what is inside, on all ranks."""
        import torch

        inside, self._inside = self._inside, 0.0
        if trainer.world_size > 1:
            total = torch.tensor(inside, dtype=torch.float64, device=pl_module.device)
            inside = float(trainer.strategy.reduce(total, reduce_op="mean"))
        held = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if inside and held:
            torch._foreach_mul_(held, 1.0 / inside)


def _warn(text: str) -> None:
    from lightning_utilities.core.rank_zero import rank_zero_warn

    rank_zero_warn(text, stacklevel=2)
