"""Evaluation, logging and averaging around the loop are no part of the gradient's books."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "evaluation collects losses": """\
import torch


def evaluate(model, loader, criterion):
    model.eval()
    total, losses = 0, []
    with torch.no_grad():
        for x, y in loader:
            loss = criterion(model(x), y)
            total += loss
            losses.append(loss)
    return total / len(losses)


def train(model, loader, val_loader, criterion):
    optimizer = torch.optim.Adam(model.parameters())
    best = None
    for epoch in range(10):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        score = evaluate(model, val_loader, criterion)
        if best is None or score < best:
            best = score
""",
    "decorated evaluation": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.no_grad()
def validate(batches):
    total = 0.0
    for x, y in batches:
        total += torch.nn.functional.mse_loss(net(x), y)
    return total


@torch.inference_mode()
def predict(x):
    return net(x)


for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    print(validate(val), predict(x))
""",
    "running loss in many forms": """\
import torch
from collections import defaultdict

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.AdamW(model.parameters())
meters = defaultdict(list)
smooth, total, best = None, torch.zeros(1), float("inf")
for epoch in range(2):
    running_loss = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running_loss += loss.detach().cpu().numpy()
        total += loss.data
        meters["loss"].append(float(loss))
        smooth = loss.item() if smooth is None else 0.9 * smooth + 0.1 * loss.item()
        best = min(best, loss.item())
        last = loss
""",
    "sum of losses before one backward": """\
import torch


class Reinforce:
    def __init__(self, policy):
        self.policy = policy
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
        self.saved_log_probs, self.rewards = [], []

    def select_action(self, state):
        m = torch.distributions.Categorical(self.policy(state))
        action = m.sample()
        self.saved_log_probs.append(m.log_prob(action))
        return action.item()

    def finish_episode(self, returns):
        policy_loss = []
        for log_prob, R in zip(self.saved_log_probs, returns):
            policy_loss.append(-log_prob * R)
        self.optimizer.zero_grad()
        policy_loss = torch.cat(policy_loss).sum()
        policy_loss.backward()
        self.optimizer.step()
        del self.saved_log_probs[:]
        del self.rewards[:]


def main(env, policy):
    agent = Reinforce(policy)
    for episode in range(1000):
        state = env.reset()
        for t in range(100):
            state, reward = env.step(agent.select_action(state))
            agent.rewards.append(reward)
        agent.finish_episode(torch.tensor(agent.rewards))
""",
    "norms are looked at each micro-batch": """\
import torch


def train(net, loader, n):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(net(x), y) / n
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
        print(norm)
        if (i + 1) % n == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
""",
    "validation with a backward that is cleared": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
    for x, y in val_loader:
        torch.nn.functional.mse_loss(net(x), y).backward()
        norms = [p.grad.norm().item() for p in net.parameters()]
        net.zero_grad()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
