"""OK: MixMatch guesses labels without a graph, forwards interleaved mixed batches and adds both losses with a ramp before one backward."""
import copy

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class Opts:
    epochs, iterations, batch, T, alpha, lambda_u, lr, ema = 3, 12, 32, 0.5, 0.75, 20.0, 4e-3, 0.95


class SemiLoss:
    def __call__(self, logits_x, targets_x, logits_u, targets_u, epoch):
        lx = -(F.log_softmax(logits_x, 1) * targets_x).sum(1).mean()
        lu = (logits_u.softmax(1) - targets_u).pow(2).mean()
        return lx, lu, Opts.lambda_u * float(np.clip(epoch / Opts.epochs, 0.0, 1.0))


class WeightEMA:
    def __init__(self, model, ema_model, alpha):
        self.params = list(model.state_dict().values())
        self.ema_params = list(ema_model.state_dict().values())
        self.alpha, self.wd = alpha, 0.02 * Opts.lr
        for e, p in zip(self.ema_params, self.params):
            e.data.copy_(p.data)

    def step(self):
        for p, e in zip(self.params, self.ema_params):
            if e.dtype == torch.float32:
                e.mul_(self.alpha).add_(p, alpha=1 - self.alpha)
                p.mul_(1 - self.wd)


def interleave_offsets(batch, nu):
    groups = [batch // (nu + 1)] * (nu + 1)
    for x in range(batch - sum(groups)):
        groups[-x - 1] += 1
    offsets = [0]
    for g in groups:
        offsets.append(offsets[-1] + g)
    return offsets


def interleave(xy, batch):
    nu = len(xy) - 1
    offsets = interleave_offsets(batch, nu)
    xy = [[v[offsets[p]:offsets[p + 1]] for p in range(nu + 1)] for v in xy]
    for i in range(1, nu + 1):
        xy[0][i], xy[i][i] = xy[i][i], xy[0][i]
    return [torch.cat(v) for v in xy]


def endless(x, y, batch):
    while True:
        order = torch.randperm(len(x))
        for start in range(0, len(x) - batch + 1, batch):
            index = order[start:start + batch]
            yield x[index], y[index]


def augment(x):
    return x + 0.1 * torch.randn_like(x)


def train(labelled, unlabelled, model, optimizer, ema_optimizer, criterion, epoch, rng):
    model.train()
    sums = np.zeros(3)
    for _ in range(Opts.iterations):
        x, y = next(labelled)
        raw, _ = next(unlabelled)
        u1, u2 = augment(raw), augment(raw)
        with torch.no_grad():
            p = (model(u1).softmax(1) + model(u2).softmax(1)) / 2
            sharpened = p ** (1 / Opts.T)
            guess = sharpened / sharpened.sum(1, keepdim=True)
        inputs, targets = torch.cat([augment(x), u1, u2]), torch.cat([F.one_hot(y, 10).float(), guess, guess])
        lam = max(b := rng.beta(Opts.alpha, Opts.alpha), 1 - b)
        perm = torch.randperm(len(inputs))
        mixed_x, mixed_y = lam * inputs + (1 - lam) * inputs[perm], lam * targets + (1 - lam) * targets[perm]
        pieces = interleave(list(mixed_x.split(Opts.batch)), Opts.batch)
        logits = interleave([model(piece) for piece in pieces], Opts.batch)
        lx, lu, w = criterion(logits[0], mixed_y[:Opts.batch], torch.cat(logits[1:]), mixed_y[Opts.batch:], epoch)
        loss = lx + w * lu
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema_optimizer.step()
        sums += [loss.item(), lx.item(), lu.item()]
    return sums / Opts.iterations


torch.manual_seed(0)
rng = np.random.default_rng(0)
digits = load_digits()
x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.LeakyReLU(0.1), nn.Linear(64, 10))
ema_model = copy.deepcopy(model)
for param in ema_model.parameters():
    param.detach_()
optimizer = torch.optim.Adam(model.parameters(), lr=Opts.lr)
ema_optimizer = WeightEMA(model, ema_model, Opts.ema)
labelled, unlabelled = endless(x[:128], y[:128], Opts.batch), endless(x[128:1400], y[128:1400], Opts.batch)
for epoch in range(Opts.epochs):
    stats = train(labelled, unlabelled, model, optimizer, ema_optimizer, SemiLoss(), epoch, rng)
    ema_model.eval()
    with torch.no_grad():
        acc = (ema_model(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
    print("epoch", epoch, stats.round(3).tolist(), "ema accuracy", round(acc, 3))
