"""Training through libraries: right scripts are left in peace, a mistake is found at the user's line."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.forked import Audit, audit

pytestmark = pytest.mark.libraries

ACCELERATE = """\
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4, mixed_precision=PRECISION)
x = torch.randn(96, 5)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=9)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
for epoch in range(3):
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.mse_loss(model(inputs), targets)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
print("finished")
"""

LIGHTNING = """\
import warnings
import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))

    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def on_before_optimizer_step(self, optimizer):
        self.log("norm", sum(p.grad.norm() for p in self.parameters()))

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=1e-2, momentum=0.9)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]


torch.manual_seed(0)
x = torch.randn(96, 5)
trainer = lightning.Trainer(max_epochs=3, accelerator="cpu", accumulate_grad_batches=3, precision=PRECISION,
                            gradient_clip_val=0.5, logger=False, enable_checkpointing=False,
                            enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Regression(), DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8))
print("finished")
"""

LIGHTNING_MANUAL = """\
import warnings
import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))

    def training_step(self, batch, index):
        x, y = batch
        optimizer = self.optimizers()
        loss = nn.functional.mse_loss(self.net(x), y) / 3
        self.manual_backward(loss)
        if (index + 1) % 3 == 0:
            self.clip_gradients(optimizer, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
            optimizer.step()
            optimizer.zero_grad()

    def on_train_epoch_end(self):
        self.lr_schedulers().step()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=1e-2, momentum=0.9)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]


torch.manual_seed(0)
x = torch.randn(96, 5)
trainer = lightning.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
                            enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Regression(), DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8))
print("finished")
"""

TRAINER = """\
import os
import tempfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import torch
from torch.utils.data import Dataset
from transformers import (GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, Trainer,
                          TrainerCallback, TrainingArguments, set_seed)


class Counting(Dataset):
    def __len__(self):
        return 36

    def __getitem__(self, i):
        ids = (torch.arange(8) * (i % 3 + 1) + i) % 32
        return {"input_ids": ids, "labels": ids.clone()}


def gpt2():
    return GPT2LMHeadModel(GPT2Config(vocab_size=32, n_positions=16, n_embd=16, n_layer=1, n_head=2,
                                      bos_token_id=0, eos_token_id=0))


def llama():
    return LlamaForCausalLM(LlamaConfig(vocab_size=32, hidden_size=16, intermediate_size=32,
                                        num_hidden_layers=1, num_attention_heads=2,
                                        max_position_embeddings=16))


class Quiet(Trainer):
    def training_step(self, model, inputs, *more):
        return super().training_step(model, inputs, *more)


class Watcher(TrainerCallback):
    def on_pre_optimizer_step(self, args, state, control, model=None, optimizer=None, **more):
        self.norm = sum(p.grad.norm() for p in model.parameters())


set_seed(0)
model = MODEL()
with tempfile.TemporaryDirectory() as folder:
    args = TrainingArguments(output_dir=folder, num_train_epochs=2, per_device_train_batch_size=3,
                             gradient_accumulation_steps=4, learning_rate=5e-3, warmup_steps=1, use_cpu=True,
                             save_strategy="no", report_to=[], disable_tqdm=True, logging_steps=2, bf16=BF16)
    trainer = Quiet(model=model, args=args, train_dataset=Counting(), callbacks=[Watcher()])
    trainer.train()
print("finished", trainer.state.global_step)
"""

IGNITE = """\
import torch
from ignite.engine import Events, create_supervised_trainer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 5)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
trainer = create_supervised_trainer(model, optimizer, nn.MSELoss(), gradient_accumulation_steps=3)


@trainer.on(Events.ITERATION_STARTED)
def before(engine):
    pass


@trainer.on(Events.ITERATION_COMPLETED(every=3))
def after(engine):
    pass


trainer.run(loader, max_epochs=3)
print("finished")
"""

TIMM = """\
import torch
from torch import nn


class NativeScaler:
    def __init__(self):
        self.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False,
                 need_update=True):
        self.scaler.scale(loss).backward(create_graph=create_graph)
        if need_update:
            if clip_grad is not None:
                self.scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
            self.scaler.step(optimizer)
            self.scaler.update()


def train_one_epoch(model, batches, optimizer, loss_scaler, accum_steps, scheduler):
    optimizer.zero_grad()
    for index, samples in enumerate(batches):
        need_update = (index + 1) % accum_steps == 0
        with torch.autocast("cpu", dtype=torch.float16):
            loss = (model(samples) - samples).pow(2).mean()
        loss_scaler(loss / accum_steps, optimizer, clip_grad=1.0, parameters=model.parameters(),
                    need_update=need_update)
        if not need_update:
            continue
        optimizer.zero_grad()
    scheduler.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 4), nn.ReLU(), nn.Linear(4, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 3)
loss_scaler = NativeScaler()
for epoch in range(3):
    train_one_epoch(model, torch.randn(12, 16, 10), optimizer, loss_scaler, 3, scheduler)
print("finished")
"""


def filled(script: str, **values: str) -> str:
    for name, value in values.items():
        script = script.replace(name, value)
    return script


GOOD = {
    "accelerate": filled(ACCELERATE, PRECISION='"no"'),
    "accelerate bf16": filled(ACCELERATE, PRECISION='"bf16"'),
    "lightning": filled(LIGHTNING, PRECISION="32"),
    "lightning bf16": filled(LIGHTNING, PRECISION='"bf16-mixed"'),
    "lightning manual": LIGHTNING_MANUAL,
    "transformers gpt2 bf16": filled(TRAINER, MODEL="gpt2", BF16="True"),
    "transformers llama": filled(TRAINER, MODEL="llama", BF16="False"),
    "transformers llama bf16": filled(TRAINER, MODEL="llama", BF16="True"),
    "ignite": IGNITE,
    "timm": TIMM,
}

SCRIPTS = {
    "accelerate": GOOD["accelerate"],
    "lightning": GOOD["lightning"],
    "lightning manual": GOOD["lightning manual"],
    "transformers": GOOD["transformers llama"],
    "ignite": IGNITE,
    "timm": TIMM,
}

CLIP = '            self.clip_gradients(optimizer, gradient_clip_val=0.5, gradient_clip_algorithm="norm")\n'
UNSCALE = "                self.scaler.unscale_(optimizer)\n"
AGAIN = """\
class Watcher(TrainerCallback):
    def on_optimizer_step(self, args, state, control, optimizer=None, **more):
        optimizer.step()  # <- here

"""

BAD = [
    # library, code, the right text, the wrong text
    (
        "accelerate",
        "GL102",
        "            accelerator.backward(loss)\n",
        "            accelerator.backward(loss)\n            optimizer.zero_grad()  # <- here\n",
    ),
    (
        "accelerate",
        "GL105",
        "            scheduler.step()\n",
        "            optimizer.step()  # <- here\n            scheduler.step()\n",
    ),
    (
        "accelerate",
        "GL103",
        "            loss = nn",
        "            model.zero_grad()  # <- here\n            loss = nn",
    ),
    (
        "accelerate",
        "GL101",
        "            optimizer.zero_grad()\n",
        "",
    ),
    (
        "lightning",
        "GL102",
        '        self.log("norm", sum(p.grad.norm() for p in self.parameters()))',
        "        optimizer.zero_grad()  # <- here",
    ),
    (
        "lightning",
        "GL103",
        "        x, y = batch\n",
        "        self.zero_grad()  # <- here\n        x, y = batch\n",
    ),
    (
        "lightning manual",
        "GL101",
        "            optimizer.zero_grad()\n",
        "",
    ),
    (
        "lightning manual",
        "GL304",
        CLIP + "            optimizer.step()\n",
        "            optimizer.step()\n" + CLIP.replace("\n", "  # <- here\n"),
    ),
    (
        "transformers",
        "GL102",
        "        self.norm = sum(p.grad.norm() for p in model.parameters())",
        "        optimizer.zero_grad()  # <- here",
    ),
    (
        "transformers",
        "GL103",
        "        return super().training_step(model, inputs, *more)",
        "        model.zero_grad()  # <- here\n        return super().training_step(model, inputs, *more)",
    ),
    (
        "transformers",
        "GL105",
        "class Watcher(TrainerCallback):\n",
        AGAIN,
    ),
    (
        "ignite",
        "GL103",
        "def before(engine):\n    pass\n",
        "def before(engine):\n    optimizer.zero_grad()  # <- here\n",
    ),
    (
        "ignite",
        "GL105",
        "def after(engine):\n    pass\n",
        "def after(engine):\n    optimizer.step()  # <- here\n",
    ),
    (
        "timm",
        "GL301",
        UNSCALE + "                torch.nn.utils.clip_grad_norm_(parameters, clip_grad)\n",
        "                torch.nn.utils.clip_grad_norm_(parameters, clip_grad)  # <- here\n",
    ),
    (
        "timm",
        "GL103",
        "        need_update = (",
        "        optimizer.zero_grad()  # <- here\n        need_update = (",
    ),
    (
        "timm",
        "GL101",
        "        optimizer.zero_grad()\n    scheduler.step()\n",
        "    scheduler.step()\n",
    ),
]

BACKWARDS = {
    "accelerate": "accelerator.backward(loss)",
    "lightning manual": "self.manual_backward(loss)",
    "timm": "self.scaler.scale(loss).backward",
}
"""The line to look at where a line is missing."""


@pytest.fixture(autouse=True, scope="module")
def _imported_once() -> None:
    """Forked scripts then find them imported."""
    for name in ("accelerate", "lightning", "ignite.engine", "transformers"):
        pytest.importorskip(name)
    importlib.import_module("transformers.trainer")


def audited(folder: Path, source: str) -> Audit:
    script = folder / "script.py"
    script.write_text(source, encoding="utf-8")
    return audit(script)


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_a_right_script_is_left_in_peace(tmp_path: Path, source: str) -> None:
    done = audited(tmp_path, source)
    assert (done.status, done.answer["findings"], done.answer["notes"]) == (0, [], []), done.stderr
    assert done.stdout.splitlines()[-1].startswith("finished")
    assert done.answer["checked"]["steps"] >= 6
    assert done.answer["checked"]["backwards"] > done.answer["checked"]["steps"]


@pytest.mark.parametrize(
    ("library", "code", "right", "wrong"), BAD, ids=[f"{library} {code}" for library, code, *_ in BAD]
)
def test_one_mistake_is_found_at_the_users_line(
    tmp_path: Path, library: str, code: str, right: str, wrong: str
) -> None:
    script = SCRIPTS[library]
    assert script.count(right) == 1
    source = script.replace(right, wrong)
    mark = "# <- here" if "# <- here" in source else BACKWARDS[library]
    (line,) = (number for number, text in enumerate(source.splitlines(), 1) if mark in text)
    done = audited(tmp_path, source)
    assert done.codes() == [(code, line)], done.stderr
    assert Path(done.answer["findings"][0]["path"]).name == "script.py"
    assert done.answer["notes"] == []
    assert "finished" in done.stdout
