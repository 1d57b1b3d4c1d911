"""A library that owns the optimizer clears and steps by itself."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "lightning automatic": """\
import lightning as L
import torch
from torch import nn


class LitModel(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.layer(x), y)
        self.log("train_loss", loss)
        return loss

    def on_before_backward(self, loss):
        assert torch.isfinite(loss)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


L.Trainer(max_epochs=1, accumulate_grad_batches=4).fit(LitModel(), loader)
""",
    "lightning manual gan": """\
import pytorch_lightning as pl
import torch


class GAN(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.G, self.D = torch.nn.Linear(8, 4), torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        g_opt, d_opt = self.optimizers()
        z = torch.randn(batch.size(0), 8)
        d_loss = self.D(self.G(z).detach()).mean() - self.D(batch).mean()
        d_opt.zero_grad()
        self.manual_backward(d_loss)
        d_opt.step()
        g_loss = -self.D(self.G(z)).mean()
        g_opt.zero_grad()
        self.manual_backward(g_loss)
        g_opt.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.G.parameters()), torch.optim.Adam(self.D.parameters())
""",
    "lightning manual accumulation": """\
import lightning.pytorch as pl
import torch


class Accumulating(pl.LightningModule):
    def __init__(self, net, n):
        super().__init__()
        self.net, self.n = net, n
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        loss = self.net(batch).mean() / self.n
        self.manual_backward(loss)
        if (batch_idx + 1) % self.n == 0 or self.trainer.is_last_batch:
            opt.step()
            opt.zero_grad()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
""",
    "fabric": """\
import torch
from lightning.fabric import Fabric

fabric = Fabric(accelerator="cpu")
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = fabric.setup(model, optimizer)
loader = fabric.setup_dataloaders(torch.utils.data.DataLoader(dataset, batch_size=4))
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        fabric.backward(loss)
        optimizer.step()
""",
    "transformers trainer subclass": """\
import torch
from transformers import Trainer, TrainingArguments


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = torch.nn.functional.cross_entropy(outputs.logits, labels, weight=self.weights)
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        loss = self.compute_loss(model, inputs)
        self.accelerator.backward(loss)
        return loss.detach()


trainer = WeightedTrainer(model=model, args=TrainingArguments("out", gradient_accumulation_steps=4))
trainer.train()
""",
    "ignite": """\
import torch
from ignite.engine import Engine, Events

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def update(engine, batch):
    model.train()
    optimizer.zero_grad()
    x, y = batch
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


trainer = Engine(update)
trainer.run(loader, max_epochs=3)
""",
    "ignite accumulation": """\
import torch
from ignite.engine import Engine

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulation_steps = 4


def update(engine, batch):
    x, y = batch
    loss = torch.nn.functional.mse_loss(model(x), y) / accumulation_steps
    loss.backward()
    if engine.state.iteration % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


Engine(update).run(loader, max_epochs=3)
""",
    "colossal and horovod": """\
import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01 * hvd.size())
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for x, y in loader:
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
""",
    "fastai callback": """\
import torch
from fastai.vision.all import Callback, Learner


class GradientAccumulation(Callback):
    order = 30

    def __init__(self, n_acc=32):
        self.n_acc = n_acc

    def before_fit(self):
        self.count = 0

    def after_loss(self):
        self.learn.loss_grad /= self.n_acc

    def before_step(self):
        self.count += 1
        if self.count % self.n_acc:
            raise CancelBatchException()


def one(learn, x, y):
    loss = learn.loss_func(learn.model(x), y)
    loss.backward()
    learn.opt.step()
    learn.opt.zero_grad()
""",
    "mmcv hook": """\
import torch
from mmcv.runner import HOOKS, Hook


@HOOKS.register_module()
class OptimizerHook(Hook):
    def __init__(self, grad_clip=None):
        self.grad_clip = grad_clip

    def clip_grads(self, params):
        return torch.nn.utils.clip_grad_norm_([p for p in params if p.grad is not None], **self.grad_clip)

    def after_train_iter(self, runner):
        runner.optimizer.zero_grad()
        runner.outputs["loss"].backward()
        if self.grad_clip is not None:
            self.clip_grads(runner.model.parameters())
        runner.optimizer.step()
""",
    "skorch style": """\
import torch


class NeuralNet:
    def initialize_optimizer(self):
        self.optimizer_ = self.optimizer(self.module_.parameters(), lr=self.lr)

    def train_step_single(self, batch):
        self.module_.train()
        x, y = batch
        loss = self.criterion_(self.module_(x), y)
        loss.backward()
        return {"loss": loss}

    def train_step(self, batch):
        accumulator = {}

        def step_fn():
            self.optimizer_.zero_grad()
            step = self.train_step_single(batch)
            accumulator.update(step)
            return step["loss"]

        self.optimizer_.step(step_fn)
        return accumulator
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
