"""Transformers: whether a Trainer's normalisation is exact, making it so, and the audit from inside."""

from __future__ import annotations

import copy
import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments, set_seed

from gradledger.integrations.transformers import GradientAudit, attach, exact, verify

pytestmark = pytest.mark.libraries


class Uneven(Dataset[dict[str, Tensor]]):
    def __len__(self) -> int:
        return 20

    def __getitem__(self, i: int) -> dict[str, Tensor]:
        ids = (torch.arange(8) * (i % 3 + 1) + i) % 32
        labels = ids.clone()
        labels[: (i * 5) % 7] = -100
        return {"input_ids": ids, "labels": labels}


class Custom(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(32, 8)
        self.head = nn.Linear(8, 32)

    def forward(self, input_ids: Tensor, labels: Tensor) -> dict[str, Tensor]:
        logits = self.head(self.embed(input_ids))
        return {"loss": nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten()), "logits": logits}


class WithKeywords(Custom):
    def forward(self, input_ids: Tensor, labels: Tensor, **kwargs: Any) -> dict[str, Tensor]:
        return super().forward(input_ids, labels)


class Shifting(Custom):
    def forward(self, input_ids: Tensor, labels: Tensor) -> dict[str, Tensor]:
        logits = self.head(self.embed(input_ids))[:, :-1]
        return {"loss": nn.functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten())}


def llama() -> LlamaForCausalLM:
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(
        LlamaConfig(vocab_size=32, max_position_embeddings=16, attention_dropout=0.1, **sizes)
    )


def trainer_of(folder: Path, model: nn.Module, kind: type[Trainer] = Trainer, **options: Any) -> Trainer:
    arguments = TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=3,
        gradient_accumulation_steps=4,
        learning_rate=5e-3,
        max_grad_norm=0.0,
        use_cpu=True,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        **{"num_train_epochs": 1, "optim": "sgd", "lr_scheduler_type": "constant", **options},
    )
    return kind(model=model, args=arguments, train_dataset=Uneven())


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    set_seed(0)


@pytest.mark.parametrize(
    ("make", "scale", "said"),
    [
        (llama, 1, "exact to"),
        (Custom, 1, "averaged as equals"),
        (WithKeywords, 4, "forward takes **kwargs"),
    ],
    ids=["llama", "custom", "keywords"],
)
def test_verify_tells_whether_the_normalisation_is_exact(
    tmp_path: Path, make: Any, scale: int, said: str
) -> None:
    model = make()
    trainer = trainer_of(tmp_path, model)
    before = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    found = verify(trainer)
    assert said in found.message
    assert found.scale == pytest.approx(scale, rel=0.05)
    assert bool(found) is (make is llama)
    assert all(p.grad is None for p in model.parameters())
    assert all(torch.equal(value, before[0][name]) for name, value in model.state_dict().items())
    assert torch.equal(before[1], torch.get_rng_state())


@pytest.mark.parametrize("make", [llama, Custom, WithKeywords])
def test_exact_is_exact_and_trains_as_the_full_batch_does(tmp_path: Path, make: Any) -> None:
    model = make()
    trainer = exact(trainer_of(tmp_path, model))
    assert verify(trainer).error < 1e-6
    if make is llama:
        return  # its dropout would need the same random numbers twice
    wide = copy.deepcopy(model).double()
    taken: list[dict[str, Tensor]] = []
    step = trainer.training_step
    trainer.training_step = lambda m, inputs, *more: taken.append(dict(inputs)) or step(m, inputs, *more)
    audit = attach(trainer, fail=True)
    trainer.train()
    assert audit.verification
    del taken[:4]  # the verification's
    for start in (0, 4):
        window = {key: torch.cat([b[key] for b in taken[start : start + 4]]) for key in taken[0]}
        loss = wide(**window)["loss"]
        for p, gradient in zip(
            wide.parameters(), torch.autograd.grad(loss, list(wide.parameters())), strict=True
        ):
            p.data -= 5e-3 * gradient
    for narrow, other in zip(model.parameters(), wide.parameters(), strict=True):
        assert float(((narrow - other).norm() / other.norm()).detach()) < 1e-6


def test_a_count_that_is_not_the_losss_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"mean of \d+ things, and \d+ labels were counted: pass count="):
        exact(trainer_of(tmp_path, Shifting())).train()
    trainer = exact(
        trainer_of(tmp_path, Shifting()), count=lambda batch: (batch["labels"][..., 1:] != -100).sum()
    )
    assert verify(trainer).error < 1e-6


class WithoutLabels(Uneven):
    def __getitem__(self, i: int) -> dict[str, Tensor]:
        item = super().__getitem__(i)
        return {**item, "labels": torch.full_like(item["labels"], -100)} if i < 3 else item


class InOrder(Trainer):
    def _get_train_sampler(self, dataset: Any = None) -> Any:
        return torch.utils.data.SequentialSampler(self.train_dataset)


def test_a_micro_batch_without_labels_weighs_nothing(tmp_path: Path) -> None:
    model = Custom()
    trainer = exact(trainer_of(tmp_path, model, InOrder))
    trainer.train_dataset = WithoutLabels()
    trainer.train()
    assert all(p.isfinite().all() for p in model.parameters())


def test_a_loss_function_of_its_own_is_left_alone(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, Custom())
    trainer.compute_loss_func = lambda outputs, labels, num_items_in_batch=None: outputs["loss"]
    with pytest.raises(ValueError, match="owns the normalisation"):
        exact(trainer)


class Stepping(TrainerCallback):
    def on_optimizer_step(
        self, args: Any, state: Any, control: Any, optimizer: Any = None, **more: Any
    ) -> None:
        optimizer.step()  # <- here


def test_findings_and_the_verdict_reach_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("transformers").propagate = True
    trainer = trainer_of(tmp_path, WithKeywords(), num_train_epochs=3)
    trainer.add_callback(Stepping())
    audit = attach(trainer)
    trainer.train()
    assert [finding.code for finding in audit.findings] == ["GL105", "GL203"]
    here = next(
        n for n, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith("# <- here")
    )
    assert (audit.findings[0].site.path, audit.findings[0].site.line) == (__file__, here)
    assert "forward takes **kwargs" in caplog.text
    assert "GL105 repeated-step" in caplog.text
    logged = trainer.state.log_history[-1]
    assert logged["gradledger/errors"] == 1.0
    assert logged["gradledger/window_error"] > 2
    assert not hasattr(torch.Tensor.backward, "__gradledger__")


def test_the_callback_alone_is_quiet_on_what_is_right(tmp_path: Path) -> None:
    audit = GradientAudit(fail=True)
    trainer = trainer_of(tmp_path, llama(), num_train_epochs=2)
    trainer.add_callback(audit)
    trainer.train()
    assert audit.findings == ()
    assert trainer.state.log_history[-1]["gradledger/errors"] == 0.0
