"""Gradients that are cleared somewhere else, or by someone else, are not taken for stale ones."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "callable scaler that steps and clears": """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader


class NativeScaler:
    def __init__(self):
        self._scaler = torch.cuda.amp.GradScaler()

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, update_grad=True):
        self._scaler.scale(loss).backward()
        if update_grad:
            if clip_grad is not None:
                assert parameters is not None
                self._scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
            self._scaler.step(optimizer)
            self._scaler.update()
            optimizer.zero_grad()


def train_one_epoch(model, criterion, data_loader, optimizer, device, loss_scaler, max_norm=1.0):
    model.train()
    for images, targets in data_loader:
        images, targets = images.to(device), targets.to(device)
        with torch.cuda.amp.autocast():
            loss = criterion(model(images), targets)
        loss_scaler(loss, optimizer, clip_grad=max_norm, parameters=model.parameters())


def main(args, dataset):
    model = nn.Linear(10, 2).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    loader = DataLoader(dataset, batch_size=8)
    loss_scaler = NativeScaler()
    for epoch in range(args.epochs):
        train_one_epoch(model, nn.CrossEntropyLoss(), loader, optimizer, "cuda", loss_scaler)
""",
    "noam wrapper": '''\
import torch
import torch.nn as nn
import torch.optim as optim


class ScheduledOptim:
    """Warms the learning rate up, then lets it decay."""

    def __init__(self, optimizer, d_model, n_warmup_steps):
        self._optimizer = optimizer
        self.d_model = d_model
        self.n_warmup_steps = n_warmup_steps
        self.n_steps = 0

    def step_and_update_lr(self):
        self._update_learning_rate()
        self._optimizer.step()

    def zero_grad(self):
        self._optimizer.zero_grad()

    def _update_learning_rate(self):
        self.n_steps += 1
        lr = self.d_model**-0.5 * min(self.n_steps**-0.5, self.n_steps * self.n_warmup_steps**-1.5)
        for group in self._optimizer.param_groups:
            group["lr"] = lr


def train_epoch(model, training_data, optimizer, device):
    total_loss = 0
    for batch in training_data:
        src, trg = map(lambda x: x.to(device), batch[:2])
        optimizer.zero_grad()
        pred = model(src)
        loss = nn.functional.cross_entropy(pred, trg)
        loss.backward()
        optimizer.step_and_update_lr()
        total_loss += loss.item()
    return total_loss


def run(model, data):
    optimizer = ScheduledOptim(optim.Adam(model.parameters(), betas=(0.9, 0.98)), 512, 4000)
    for epoch in range(10):
        train_epoch(model, data, optimizer, "cpu")
''',
    "reset_grad of a solver": '''\
import torch
from torch import nn


class Solver:
    def __init__(self, loader, config):
        self.loader = loader
        self.lambda_cls = config.lambda_cls
        self.build_model(config)

    def build_model(self, config):
        self.G = nn.Linear(config.z, 8)
        self.D = nn.Linear(8, 1)
        self.g_optimizer = torch.optim.Adam(self.G.parameters(), config.g_lr)
        self.d_optimizer = torch.optim.Adam(self.D.parameters(), config.d_lr)

    def reset_grad(self):
        """Reset the gradient buffers."""
        self.g_optimizer.zero_grad()
        self.d_optimizer.zero_grad()

    def train(self):
        for i, x_real in enumerate(self.loader):
            z = torch.randn(x_real.size(0), 16)
            out_src = self.D(x_real)
            d_loss_real = -torch.mean(out_src)
            out_src = self.D(self.G(z).detach())
            d_loss = d_loss_real + torch.mean(out_src)
            self.reset_grad()
            d_loss.backward()
            self.d_optimizer.step()

            if (i + 1) % 5 == 0:
                g_loss = -torch.mean(self.D(self.G(z)))
                self.reset_grad()
                g_loss.backward()
                self.g_optimizer.step()
''',
    "base class that owns the update": """\
import torch
import torch.nn as nn


class BaseTrainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)

    def update(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class ClassifierTrainer(BaseTrainer):
    def __init__(self, model, loader):
        super().__init__(model, 0.1)
        self.loader = loader
        self.criterion = nn.CrossEntropyLoss()

    def train(self, epochs):
        for epoch in range(epochs):
            for x, y in self.loader:
                self.update(self.criterion(self.model(x), y))


if __name__ == "__main__":
    data = [(torch.randn(4, 3), torch.randint(0, 2, (4,))) for _ in range(10)]
    ClassifierTrainer(nn.Linear(3, 2), data).train(3)
""",
    "caller clears before the step function": """\
import torch
import torch.nn.functional as F


def train_step(net, opt, batch):
    x, y = batch
    loss = F.mse_loss(net(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    return loss.item()


def fit(net, batches):
    opt = torch.optim.Adam(net.parameters(), lr=3e-4)
    for step, batch in enumerate(batches):
        opt.zero_grad(set_to_none=True)
        value = train_step(net, opt, batch)
        if step % 100 == 0:
            print(step, value)


fit(torch.nn.Linear(4, 1), [(torch.randn(2, 4), torch.randn(2, 1))] * 50)
""",
    "helper module clears": """\
# file: train.py
import torch
from torch import nn
from training.update import apply_update

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in torch.utils.data.DataLoader(dataset, batch_size=4):
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        apply_update(optimizer)
# file: training/__init__.py
# file: training/update.py
def apply_update(optimizer):
    optimizer.step()
    optimizer.zero_grad()
""",
    "decorated and partial helper": """\
import functools

import torch


def fresh_gradients(optimizer):
    def wrap(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            optimizer.zero_grad()
            return function(*args, **kwargs)

        return inner

    return wrap


net = torch.nn.Linear(2, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)


@fresh_gradients(sgd)
def update(x, y):
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    sgd.step()
    return loss.item()


for x, y in [(torch.randn(4, 2), torch.randn(4, 1))] * 10:
    update(x, y)
""",
}

UNSEEN = {
    "optimizer arrives as a parameter": """\
import torch


def optimize(loss, optimizer):
    loss.backward()
    torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
    optimizer.step()
""",
    "wrapper class of another package": """\
import torch
from mylib.optim import NoamOpt

model = torch.nn.Linear(4, 4)
criterion = torch.nn.CrossEntropyLoss()
model_opt = NoamOpt(512, 1, 2000, torch.optim.Adam(model.parameters(), lr=0))


def run_epoch(data):
    for x, y in data:
        loss = criterion(model(x), y)
        loss.backward()
        model_opt.step()


run_epoch([(torch.randn(2, 4), torch.tensor([0, 1]))] * 5)
""",
    "scaler that arrives and is called": """\
import torch


def train_one_epoch(model, criterion, data_loader, optimizer, device, loss_scaler):
    model.train(True)
    for samples, targets in data_loader:
        samples = samples.to(device)
        with torch.cuda.amp.autocast():
            loss = criterion(model(samples), targets)
        grad_norm = loss_scaler(loss, optimizer, parameters=model.parameters())
        torch.cuda.synchronize()
    return grad_norm
""",
    "base class of another package": """\
import torch
from basicsr.models.base_model import BaseModel


class SRModel(BaseModel):
    def init_training_settings(self):
        self.setup_optimizers()

    def optimize_parameters(self, current_iter):
        self.output = self.net_g(self.lq)
        l_pix = torch.nn.functional.l1_loss(self.output, self.gt)
        l_pix.backward()
        self.optimizer_g.step()
        self.after_update()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_clearing_in_sight_is_found_wherever_it_is(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", programs(UNSEEN))
def test_clearing_that_may_be_out_of_sight_is_presumed(text: str) -> None:
    assert said(text) == []
