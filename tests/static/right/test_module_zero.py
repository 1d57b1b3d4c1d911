"""A module's zero_grad() clears what every optimizer built from it would clear."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "module level": """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    model.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
""",
    "bert classifier notebook": """\
# %%
import torch
from transformers import AdamW, BertForSequenceClassification, get_linear_schedule_with_warmup

model = BertForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
optimizer = AdamW(model.parameters(), lr=2e-5, eps=1e-8)
# %%
epochs = 4
total_steps = len(train_dataloader) * epochs
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=0, num_training_steps=total_steps)
# %%
for epoch_i in range(0, epochs):
    total_train_loss = 0
    model.train()
    for step, batch in enumerate(train_dataloader):
        model.zero_grad()
        result = model(batch[0], attention_mask=batch[1], labels=batch[2], return_dict=True)
        loss = result.loss
        total_train_loss += loss.item()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
""",
    "self is the module": """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 1)
        self.opt_body = torch.optim.Adam(self.body.parameters())
        self.opt_head = torch.optim.SGD(self.head.parameters(), lr=0.1)

    def forward(self, x):
        return self.head(self.body(x))

    def learn(self, loader):
        for x, y in loader:
            self.zero_grad()
            nn.functional.mse_loss(self(x), y).backward()
            self.opt_body.step()
            self.opt_head.step()


Net().learn([(torch.randn(2, 4), torch.randn(2, 1))] * 10)
""",
    "submodules one by one": """\
import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(4, 8), nn.Linear(8, 4)


def train(loader):
    net = Seq2Seq()
    optimizer = torch.optim.Adam(net.parameters())
    for x in loader:
        net.encoder.zero_grad()
        net.decoder.zero_grad()
        loss = (net.decoder(net.encoder(x)) - x).pow(2).mean()
        loss.backward()
        optimizer.step()
""",
    "wrapped in data parallel": """\
import torch
from torch import nn

net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
parallel = nn.DataParallel(net).cuda()
for x, y in loader:
    net.zero_grad()
    nn.functional.cross_entropy(parallel(x), y).backward()
    optimizer.step()
""",
    "dict of optimizers and whole module": """\
import torch
from torch import nn

model = nn.ModuleDict({"enc": nn.Linear(4, 4), "dec": nn.Linear(4, 4)})
optimizers = {name: torch.optim.Adam(part.parameters()) for name, part in model.items()}
for x in loader:
    model.zero_grad(set_to_none=True)
    (model["dec"](model["enc"](x)) - x).abs().mean().backward()
    for optimizer in optimizers.values():
        optimizer.step()
""",
    "param loop": """\
import torch


def step(net, opt, x, y):
    for param in net.parameters():
        param.grad = None
    torch.nn.functional.cross_entropy(net(x), y).backward()
    opt.step()


def main(net, loader):
    opt = torch.optim.AdamW(net.parameters())
    for x, y in loader:
        step(net, opt, x, y)
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
