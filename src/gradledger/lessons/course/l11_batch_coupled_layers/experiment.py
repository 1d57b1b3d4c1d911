"""Compares window and large batch where samples of a batch influence each other."""

import math
from textwrap import shorten

import torch
from torch import nn
from torch.nn import functional as F

import gradledger
from gradledger.lessons.course.arithmetic import descend


def one_sample_two_batches():
    """The same sample in two different batches: does its output change?"""
    torch.manual_seed(0)
    sample = torch.randn(1, 4)
    first = torch.cat([sample, torch.randn(7, 4)])
    second = torch.cat([sample, torch.randn(7, 4) + 3])
    layers = {"BatchNorm": nn.BatchNorm1d(4), "LayerNorm": nn.LayerNorm(4)}
    moved = {}
    for name, layer in layers.items():
        moved[name] = (layer(first)[0] - layer(second)[0]).abs().max().item()
        print(f"{name}: the sample's output moves by {moved[name]:.3f}")
    return {"batchnorm": moved["BatchNorm"], "layernorm": moved["LayerNorm"]}


def window_against_batch():
    """A window of four 8s against one 32, for several layers."""
    off = {}
    print("layer                       window's gradient is off by")
    for name, layer in {
        "none": nn.Identity(),
        "BatchNorm": nn.BatchNorm1d(16),
        "BatchNorm, frozen (eval)": nn.BatchNorm1d(16).eval(),
        "LayerNorm": nn.LayerNorm(16),
        "GroupNorm": nn.GroupNorm(4, 16),
        "Dropout": nn.Dropout(0.1),
    }.items():
        torch.manual_seed(0)
        first, last = nn.Linear(10, 16), nn.Linear(16, 1)
        net = nn.Sequential(first, layer, nn.Tanh(), last).double()
        x = torch.randn(32, 10).double()
        y = x.sin().sum(1, keepdim=True)
        grads = []
        for size in (32, 8):
            net.zero_grad()
            for xb, yb in zip(x.split(size), y.split(size), strict=True):
                (F.mse_loss(net(xb), yb) * size / 32).backward()
            grads.append(net[0].weight.grad.clone())
        off[name] = ((grads[1] - grads[0]).norm() / grads[0].norm()).item()
        print(f"{name:25} {off[name]:12.1e}")
    return {
        "batchnorm": off["BatchNorm"],
        "groupnorm": off["GroupNorm"],
        "dropout": off["Dropout"],
        "exact": off["GroupNorm"] < 1e-12,
    }


def smaller_parts():
    """The same 32 samples through BatchNorm, cut finer and finer."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.Linear(16, 1))
    net.double()
    x = torch.randn(32, 10).double()
    y = x.sin().sum(1, keepdim=True)
    off = []
    for size in (32, 16, 8, 4, 2):
        net.zero_grad()
        for xb, yb in zip(x.split(size), y.split(size), strict=True):
            (F.mse_loss(net(xb), yb) * size / 32).backward()
        if size == 32:
            whole = net[0].weight.grad.clone()
        off.append(((net[0].weight.grad - whole).norm() / whole.norm()).item())
        print(f"parts of {size:2}: off by {off[-1]:.2f}")
    return {"off": off, "last": off[-1]}


def running_statistics():
    """What evaluation will use: after one batch of 32, and after four of 8."""
    torch.manual_seed(0)
    x = torch.randn(32, 1) * 2 + 10
    large, small = nn.BatchNorm1d(1), nn.BatchNorm1d(1)
    large(x)
    for part in x.split(8):
        small(part)
    for name, layer in (("one batch of 32", large), ("four of 8", small)):
        mean, var = layer.running_mean.item(), layer.running_var.item()
        print(f"{name:16} running mean {mean:.3f}, running variance {var:.3f}")
    return {"large": round(large.running_mean.item(), 3), "small": round(small.running_mean.item(), 3)}


def one_at_a_time():
    """The smallest micro-batch there is."""
    refused = False
    try:
        nn.BatchNorm1d(4)(torch.randn(1, 4))
    except ValueError as error:
        refused = True
        print("ValueError:", shorten(str(error), 64, placeholder=" ..."))
    return {"refused": refused}


def contrastive():
    """Each sample against all others of its batch: 32, and four times 8."""
    torch.manual_seed(0)
    encoder = nn.Linear(10, 8).double()
    a, b = torch.randn(32, 10).double(), torch.randn(32, 10).double()

    def loss(a, b):
        scores = F.normalize(encoder(a)) @ F.normalize(encoder(b)).T
        return F.cross_entropy(scores, torch.arange(len(a)))

    whole = loss(a, b)
    whole.backward()
    large = encoder.weight.grad.clone()
    encoder.zero_grad()
    parts = [loss(*pair) for pair in zip(a.split(8), b.split(8), strict=True)]
    for part in parts:
        (part / 4).backward()
    off = ((encoder.weight.grad - large).norm() / large.norm()).item()
    mean = sum(parts).item() / 4
    print(f"31 others each: loss {whole.item():.3f}, guessing {math.log(32):.3f}")
    print(f" 7 others each: loss {mean:.3f}, guessing {math.log(8):.3f}")
    print(f"the window's gradient is off by {off:.0%}")
    return {"off": off, "large_loss": whole.item(), "window_loss": mean}


def cached():
    """The large batch's contrastive gradient, eight samples at a time."""
    torch.manual_seed(0)
    encoder = nn.Linear(10, 8).double()
    batch = torch.randn(2, 32, 10).double().transpose(0, 1)  # 32 pairs

    def encode(part):
        return encoder(part[:, 0]), encoder(part[:, 1])

    def contrast(embeddings):
        left, right = map(F.normalize, embeddings)
        return F.cross_entropy(left @ right.T, torch.arange(len(left)))

    contrast(encode(batch)).backward()
    large = encoder.weight.grad.clone()
    encoder.zero_grad()
    gradledger.cached_backward(encode, batch, contrast, micro_batch=8)
    off = ((encoder.weight.grad - large).norm() / large.norm()).item()
    print(f"off by {off:.1e}")
    return {"off": off, "exact": off < 1e-12}


def window_statistics():
    """Running statistics that move once per window, by all it has seen."""
    torch.manual_seed(0)
    data = torch.randn(32, 5) * 3 + 7
    full = nn.BatchNorm1d(5)
    full(data)

    model = nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    acc = gradledger.Accumulator(model, optimizer, every=4, batchnorm="window")
    for part in data.split(8):
        acc.backward(model(part).square().mean(), count=len(part))
    off = (model[0].running_var - full.running_var).abs().max().item()
    print(f"running variance against the large batch's: off by {off:.0e}")
    return {"off": off, "same": off < 1e-5}


def verify():
    """Ask the accumulator whether your own window is the large batch."""
    torch.manual_seed(0)
    x = torch.randn(32, 10)
    layers = {"GroupNorm": nn.GroupNorm(4, 16), "BatchNorm": nn.BatchNorm1d(16)}
    said = {}
    for name, layer in layers.items():
        net = nn.Sequential(nn.Linear(10, 16), layer, nn.Linear(16, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        acc = gradledger.Accumulator(net, optimizer, every=4)

        def loss_fn(part, net=net):
            return net(part).square().mean()

        found = acc.verify(x.split(8), loss_fn)
        said[name] = found.ok
        print(f"{name}: {found.message[:64]}")
        acc.close()
    return {"groupnorm": said["GroupNorm"], "batchnorm": said["BatchNorm"]}


def _reference():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 16), nn.GroupNorm(4, 16), nn.Tanh(), nn.Linear(16, 1))
    x = torch.randn(128, 10)
    y = x.sin().sum(1, keepdim=True).double()
    pairs = list(zip(x.double().split(32), y.split(32), strict=True))
    losses = [lambda m, x=x, y=y: (m(x) - y).square().mean() for _ in range(10) for x, y in pairs]
    return descend(model, losses, lr=0.05)
