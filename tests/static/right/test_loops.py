"""Right loops in the forms that people give them."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "progress bars": """\
import torch
from tqdm import tqdm, trange

net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in trange(3):
    with tqdm(loader, unit="batch", desc=f"epoch {epoch}") as bar:
        for x, y in bar:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            bar.set_postfix(loss=loss.item())
""",
    "prefetcher": """\
import torch


def train(train_loader, model, criterion, optimizer):
    prefetcher = DataPrefetcher(train_loader)
    x, y = prefetcher.next()
    i = 0
    while x is not None:
        i += 1
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            torch.cuda.synchronize()
        x, y = prefetcher.next()
""",
    "full batch": """\
import torch
import torch.nn.functional as F


def train(model, optimizer, data):
    model.train()
    optimizer.zero_grad()
    out = model(data.x, data.edge_index)
    loss = F.nll_loss(out[data.train_mask], data.y[data.train_mask])
    loss.backward()
    optimizer.step()
    return loss.item()


def main(model, data):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(1, 201):
        loss = train(model, optimizer, data)
""",
    "samples of an expectation": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters())
for x, y in loader:
    optimizer.zero_grad()
    for _ in range(3):
        noisy = x + 0.1 * torch.randn_like(x)
        loss = torch.nn.functional.mse_loss(net(noisy), y) / 3
        loss.backward()
    optimizer.step()
""",
    "agents in turn": """\
import torch


class MADDPG:
    def __init__(self, agents):
        self.agents = agents
        self.optimizers = [torch.optim.Adam(agent.parameters()) for agent in agents]

    def update(self, batch):
        for agent, optimizer in zip(self.agents, self.optimizers):
            loss = agent.loss(batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def train(agents, buffer):
    learner = MADDPG(agents)
    for episode in range(1000):
        learner.update(buffer.sample())
""",
    "ppo epochs and minibatches": """\
import numpy as np
import torch
import torch.nn as nn

optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
for update in range(1, num_updates + 1):
    b_inds = np.arange(args.batch_size)
    for epoch in range(args.update_epochs):
        np.random.shuffle(b_inds)
        for start in range(0, args.batch_size, args.minibatch_size):
            mb_inds = b_inds[start : start + args.minibatch_size]
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], b_actions[mb_inds])
            ratio = (newlogprob - b_logprobs[mb_inds]).exp()
            pg_loss = torch.max(-b_adv[mb_inds] * ratio, -b_adv[mb_inds] * ratio.clamp(0.8, 1.2)).mean()
            v_loss = 0.5 * ((newvalue.view(-1) - b_returns[mb_inds]) ** 2).mean()
            loss = pg_loss - args.ent_coef * entropy.mean() + v_loss * args.vf_coef
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
        if args.target_kl is not None and approx_kl > args.target_kl:
            break
""",
    "generator of batches and early return": """\
import torch


def batches(data, size):
    for start in range(0, len(data), size):
        yield data[start : start + size]


def train(net, data, patience):
    optimizer = torch.optim.Adam(net.parameters())
    best, waited = float("inf"), 0
    for epoch in range(100):
        total = 0.0
        for batch in batches(data, 32):
            loss = net(batch).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        if total < best:
            best, waited = total, 0
        else:
            waited += 1
            if waited > patience:
                return net
    return net
""",
    "hyperparameter search with a scaler each": """\
import torch

for lr in (0.1, 0.01, 0.001):
    net = torch.nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    scaler = torch.cuda.amp.GradScaler()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for epoch in range(20):
        for x, y in loader:
            optimizer.zero_grad()
            with torch.cuda.amp.autocast():
                loss = torch.nn.functional.mse_loss(net(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        scheduler.step()
""",
    "lists of losses that are differentiated": """\
import torch

net = torch.nn.Linear(4, 4)
optimizer = torch.optim.Adam(net.parameters())
for views in loader:
    losses = []
    for a in range(len(views)):
        for b in range(a):
            losses.append(1 - torch.cosine_similarity(net(views[a]), net(views[b])).mean())
    loss = torch.stack(losses).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "rollout with saved losses": """\
import torch


def train(env, model):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    saved = []
    for episode in range(1000):
        state, total = env.reset(), 0
        for t in range(200):
            probs, value = model(state)
            m = torch.distributions.Categorical(probs)
            action = m.sample()
            saved.append((m.log_prob(action), value))
            state, reward, done = env.step(action.item())
            total += reward
            if done:
                break
        loss = sum(-lp * (total - v.item()) + (v - total).pow(2) for lp, v in saved)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        saved.clear()
""",
    "several losses and torch.autograd.backward": """\
import torch

a, b = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD([{"params": a.parameters()}, {"params": b.parameters(), "lr": 0.01}], lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss_a = torch.nn.functional.mse_loss(a(x), y)
    loss_b = torch.nn.functional.l1_loss(b(x), y)
    torch.autograd.backward([loss_a, loss_b])
    optimizer.step()
""",
    "vae-gan with three optimizers": """\
import torch


def train(E, G, D, loader):
    opt_e = torch.optim.RMSprop(E.parameters(), lr=3e-4)
    opt_g = torch.optim.RMSprop(G.parameters(), lr=3e-4)
    opt_d = torch.optim.RMSprop(D.parameters(), lr=3e-4)
    for x in loader:
        mu = E(x)
        recon = G(mu)
        E.zero_grad()
        enc_loss = (recon - x).pow(2).mean() + mu.pow(2).mean()
        enc_loss.backward()
        opt_e.step()
        recon = G(E(x).detach())
        G.zero_grad()
        dec_loss = (recon - x).pow(2).mean() - D(recon).mean()
        dec_loss.backward()
        opt_g.step()
        D.zero_grad()
        dis_loss = D(recon.detach()).mean() - D(x).mean()
        dis_loss.backward()
        opt_d.step()
""",
    "cleared through the groups": """\
import torch


def reset(optimizer):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.detach_()
                p.grad.zero_()


def main(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
        reset(optimizer)
""",
    "cleared through map and lambda": """\
import torch

nets = [torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)]
opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
clear = lambda: list(map(lambda o: o.zero_grad(), opts))
for x, y in loader:
    clear()
    sum((net(x) - y).pow(2).mean() for net in nets).backward()
    for o in opts:
        o.step()
""",
    "until the loss is small": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
while True:
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if loss.item() < 1e-3:
        break
""",
    "a few attempts, cleared where the last one ends": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    for attempt in range(3):
        loss = torch.nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if torch.nn.functional.mse_loss(net(x), y) < loss:
            optimizer.zero_grad()
            break
""",
    "as many windows as an iterator holds": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    batches = iter(loader)
    for update in range(len(loader) // 5):
        optimizer.zero_grad()
        for micro in range(5):
            x, y = next(batches)
            (torch.nn.functional.mse_loss(net(x), y) / 5).backward()
        optimizer.step()
        if update % (len(loader) // 10) == 0:
            print(update)
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
