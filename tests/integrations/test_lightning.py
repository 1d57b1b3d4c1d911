"""Lightning: the audit from inside, and windows that are exact."""

from __future__ import annotations

import copy
import logging
import warnings
from pathlib import Path
from typing import Any

import lightning
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

import gradledger
from gradledger import AuditError
from gradledger.integrations.lightning import ExactWindows, GradientAudit

pytestmark = pytest.mark.libraries

SIZES = [8, 8, 3, 5, 1, 8, 2]


class Tokens(lightning.LightningModule):
    """A model of token losses that keeps the gradients of every step."""

    def __init__(self, optimizer: type[torch.optim.Optimizer] = torch.optim.SGD) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Embedding(16, 8), nn.Tanh(), nn.Linear(8, 16))
        self.kind = optimizer
        self.seen: list[list[Tensor]] = []

    def training_step(self, batch: dict[str, Tensor], index: int) -> Tensor:
        return token_loss(self.net, batch)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return self.kind(self.parameters(), lr=0.1)

    def configure_gradient_clipping(self, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        self.seen.append([p.grad.clone() for p in self.parameters() if p.grad is not None])
        super().configure_gradient_clipping(optimizer, *args, **kwargs)


def token_loss(net: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    return nn.functional.cross_entropy(net(batch["ids"]).flatten(0, 1), batch["labels"].flatten())


def batches() -> list[dict[str, Tensor]]:
    generator = torch.Generator().manual_seed(0)
    found = []
    for size in SIZES:
        ids = torch.randint(0, 16, (size, 6), generator=generator)
        labels = torch.randint(0, 16, (size, 6), generator=generator)
        labels[:, 1 + size % 5 :] = -100
        found.append({"ids": ids, "labels": labels})
    return found


def fit(
    module: lightning.LightningModule, *callbacks: lightning.Callback, loader: Any = None, **options: Any
) -> lightning.Trainer:
    settings: dict[str, Any] = {
        "max_epochs": 1,
        "accelerator": "cpu",
        "accumulate_grad_batches": 3,
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    trainer = lightning.Trainer(callbacks=list(callbacks), **{**settings, **options})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?!gradledger)")
        trainer.fit(module, loader or DataLoader(batches(), batch_size=None))
    return trainer


def full_batch_gradients(net: nn.Module, every: int) -> list[list[Tensor]]:
    """What each window's gradient is in double precision, as one batch, along a path of SGD steps."""
    wide = copy.deepcopy(net).double()
    found = []
    for start in range(0, len(SIZES), every):
        window = batches()[start : start + every]
        whole = {key: torch.cat([batch[key] for batch in window]) for key in ("ids", "labels")}
        gradients = torch.autograd.grad(token_loss(wide, whole), list(wide.parameters()))
        with torch.no_grad():
            for p, gradient in zip(wide.parameters(), gradients, strict=True):
                p -= 0.1 * gradient
        found.append(list(gradients))
    return found


def deviation(seen: list[list[Tensor]], wanted: list[list[Tensor]]) -> float:
    assert len(seen) == len(wanted)
    return max(
        float((one.double() - other).norm() / other.norm())
        for step, exact in zip(seen, wanted, strict=True)
        for one, other in zip(step, exact, strict=True)
    )


@pytest.fixture(autouse=True)
def _quiet() -> None:
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.manual_seed(0)


@pytest.mark.parametrize("count", [None, lambda batch: (batch["labels"] != -100).sum()], ids=["read", "told"])
def test_exact_windows_have_the_full_batchs_gradient(count: Any) -> None:
    module = Tokens()
    wanted = full_batch_gradients(module.net, 3)
    audit = GradientAudit(fail=True)
    fit(module, audit, ExactWindows(count))
    assert deviation(module.seen, wanted) < 1e-6
    assert audit.findings == ()


def test_lightning_alone_has_not() -> None:
    module = Tokens()
    wanted = full_batch_gradients(module.net, 3)
    fit(module)
    assert deviation(module.seen, wanted) > 0.1


def test_exact_windows_in_bf16_are_counted_too() -> None:
    module = Tokens()
    wanted = full_batch_gradients(module.net, 3)
    audit = GradientAudit(fail=True)
    fit(module, audit, ExactWindows(), precision="bf16-mixed")
    assert deviation(module.seen, wanted) < 0.02
    assert audit.findings == ()


def test_manual_optimization_with_an_accumulator_is_exact() -> None:
    class Manual(Tokens):
        automatic_optimization = False

        def on_fit_start(self) -> None:
            optimizer = self.optimizers(use_pl_optimizer=False)
            self.accumulator = gradledger.Accumulator(self.net, optimizer, every=3)

        def training_step(self, batch: dict[str, Tensor], index: int) -> None:
            loss = super().training_step(batch, index)
            self.accumulator.backward(loss, count=(batch["labels"] != -100).sum())

        def on_train_epoch_end(self) -> None:
            self.accumulator.flush()

    module = Manual()
    start = [p.detach().clone() for p in module.parameters()]
    wanted = full_batch_gradients(module.net, 3)
    fit(module, GradientAudit(fail=True), accumulate_grad_batches=1)
    for p, first, *steps in zip(module.parameters(), start, *wanted, strict=True):
        there = first - 0.1 * sum(steps)
        assert float((p.detach() - there).norm() / there.norm()) < 1e-6


def test_clipping_comes_after_the_division() -> None:
    module = Tokens()
    wanted = full_batch_gradients(module.net, 3)[0]
    fit(module, ExactWindows(), gradient_clip_val=0.05, limit_train_batches=3)
    norm = torch.stack([gradient.norm() for gradient in wanted]).norm()
    torch.manual_seed(0)
    start = Tokens()
    moved = [p - q for p, q in zip(start.parameters(), module.parameters(), strict=True)]
    for step, gradient in zip(moved, wanted, strict=True):
        torch.testing.assert_close(step.double(), 0.1 * gradient * (0.05 / norm), rtol=1e-4, atol=1e-7)


def test_what_cannot_be_counted_is_refused() -> None:
    class Odd(Tokens):
        def training_step(self, batch: dict[str, Tensor], index: int) -> Tensor:
            return self.net(batch["ids"]).exp().norm()

    with pytest.raises(ValueError, match="pass count="):
        fit(Odd(), ExactWindows())
    manual = Tokens()
    manual.automatic_optimization = False
    with pytest.raises(ValueError, match=r"use gradledger\.Accumulator"):
        fit(manual, ExactWindows(), accumulate_grad_batches=1)


class Wiping(Tokens):
    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad()


def test_findings_are_warnings_and_entries_of_the_logger(tmp_path: Path) -> None:
    from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    audit = GradientAudit()
    csv, board = CSVLogger(tmp_path), TensorBoardLogger(tmp_path)
    with pytest.warns(UserWarning, match="gradledger: GL102 cleared-before-step"):
        fit(Wiping(torch.optim.Adam), audit, logger=[csv, board], max_epochs=3)
    assert [finding.code for finding in audit.findings] == ["GL102"]
    line = next(
        n
        for n, text in enumerate(Path(__file__).read_text().splitlines(), 1)
        if text == " " * 8 + "optimizer.zero_grad()"
    )
    assert (audit.findings[0].site.path, audit.findings[0].site.line) == (__file__, line)
    assert "gradledger/errors" in Path(csv.log_dir, "metrics.csv").read_text()
    events = EventAccumulator(board.log_dir).Reload()
    assert events.Scalars("gradledger/errors")[-1].value == 1.0
    assert (
        "GL102" in events.Tensors("gradledger/findings/text_summary")[0].tensor_proto.string_val[0].decode()
    )


def test_findings_can_fail_the_fit() -> None:
    with pytest.warns(UserWarning, match="GL102"), pytest.raises(AuditError, match="GL102"):
        fit(Wiping(), GradientAudit(fail=True), max_epochs=3)
    assert not hasattr(torch.Tensor.backward, "__gradledger__")


def test_an_interrupted_fit_leaves_torch_as_it_was() -> None:
    class Breaks(Tokens):
        def training_step(self, batch: dict[str, Tensor], index: int) -> Tensor:
            if index == 2:
                raise RuntimeError("broken")
            return super().training_step(batch, index)

    with pytest.raises(RuntimeError, match="broken"):
        fit(Breaks(), GradientAudit())
    assert not hasattr(torch.Tensor.backward, "__gradledger__")
