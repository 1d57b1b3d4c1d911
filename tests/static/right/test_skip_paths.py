"""A batch that is given up, with its gradients cleared or never made, is no mistake."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "zero and continue on a nan loss": """\
import torch

model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = torch.nn.functional.mse_loss(model(x), y)
    if torch.isnan(loss):
        print("nan, skipped")
        optimizer.zero_grad()
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "gradient norm decides in a method": """\
import math

import torch


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def training_step(self, batch):
        loss = self.model(batch)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        if not math.isfinite(norm):
            self.optimizer.zero_grad()
            return None
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()

    def fit(self, loader):
        for batch in loader:
            self.training_step(batch)
""",
    "tacotron style": """\
import math

import torch


def train(model, criterion, train_loader, hparams):
    optimizer = torch.optim.Adam(model.parameters(), lr=hparams.lr)
    iteration = 0
    for epoch in range(hparams.epochs):
        for i, batch in enumerate(train_loader):
            model.zero_grad()
            x, y = model.parse_batch(batch)
            loss = criterion(model(x), y)
            reduced_loss = loss.item()
            loss.backward()
            grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), hparams.grad_clip_thresh)
            is_overflow = math.isnan(grad_norm)
            if not is_overflow:
                optimizer.step()
            iteration += 1
""",
    "out of memory is caught": """\
import torch


def train(model, loader, optimizer, criterion):
    for x, y in loader:
        try:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            for p in model.parameters():
                if p.grad is not None:
                    del p.grad
            torch.cuda.empty_cache()
""",
    "empty batches are passed over": """\
import torch

detector = torch.nn.Linear(16, 4)
opt = torch.optim.SGD(detector.parameters(), lr=0.01)
for epoch in range(5):
    for images, boxes in loader:
        if len(boxes) == 0:
            continue
        losses = {"box": (detector(images) - boxes).abs().mean(), "obj": detector(images).pow(2).mean()}
        total = sum(losses.values())
        if not torch.isfinite(total):
            raise SystemExit(f"loss is {total}")
        opt.zero_grad()
        total.backward()
        opt.step()
""",
    "nan micro-batch of a window": """\
import torch


def epoch(net, loader, opt, n):
    opt.zero_grad()
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(net(x), y) / n
        if not torch.isfinite(loss):
            opt.zero_grad(set_to_none=True)
            continue
        loss.backward()
        if (i + 1) % n == 0 or i + 1 == len(loader):
            opt.step()
            opt.zero_grad(set_to_none=True)
""",
    "early stop in a helper": """\
import torch
import torch.nn.functional as F


def update(policy, opt, obs, act, logp_old, adv, target_kl=0.01):
    for i in range(80):
        logp = policy(obs).log_prob(act)
        ratio = torch.exp(logp - logp_old)
        loss = -(torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv)).mean()
        kl = (logp_old - logp).mean().item()
        if kl > 1.5 * target_kl:
            break
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "freshly skipped at the first iterations": """\
import torch


def learn(agent, memory, steps):
    optimizer = torch.optim.RMSprop(agent.parameters())
    for t in range(steps):
        if len(memory) < 128:
            continue
        states, targets = memory.sample(128)
        loss = torch.nn.functional.smooth_l1_loss(agent(states), targets)
        optimizer.zero_grad()
        loss.backward()
        for param in agent.parameters():
            param.grad.data.clamp_(-1, 1)
        optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
