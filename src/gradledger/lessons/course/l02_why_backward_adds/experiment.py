"""Runs backward() several times and looks at what is in .grad, and what clearing by itself would cost."""

import torch
from torch import nn

from gradledger.lessons.course.arithmetic import descend


def passes():
    """The same loss, differentiated three times in a row."""
    w = torch.tensor(3.0, requires_grad=True)
    grads = []
    for n in range(1, 4):
        loss = (w * 2.0 + 1.0 - 5.0) ** 2
        loss.backward()
        grads.append(w.grad.item())
        print(f"after pass {n}: loss {loss.item():g}, w.grad = {w.grad:g}")
    return {"first": grads[0], "third": grads[2]}


def used_twice():
    """One weight in two places of one model: adding inside a single pass."""
    w = torch.tensor(3.0, requires_grad=True)
    entries = []
    w.register_post_accumulate_grad_hook(lambda w: entries.append(w.grad.item()))
    loss = w * 10.0 + w * 1.0
    loss.backward()
    print(f"w.grad = {w.grad:g}, entries: {len(entries)}")
    return {"grad": w.grad.item(), "entries": len(entries)}


def two_losses():
    """Two losses, one after the other, against their sum in one pass."""
    torch.manual_seed(0)
    layer = nn.Linear(4, 2).double()
    x, y = torch.randn(8, 4).double(), torch.randn(8, 2).double()

    fit = (layer(x) - y).square().mean()
    smooth = 0.1 * layer.weight.abs().sum()
    fit.backward()
    smooth.backward()
    apart = layer.weight.grad.clone()

    layer.zero_grad()
    fit = (layer(x) - y).square().mean()
    smooth = 0.1 * layer.weight.abs().sum()
    (fit + smooth).backward()

    worst = (apart - layer.weight.grad).abs().max().item()
    print(f"largest difference: {worst:.1e}")
    return {"worst": worst, "same": worst < 1e-12}


def between():
    """Between backward() and step() there is room: measure, bound, log."""
    torch.manual_seed(0)
    layer = nn.Linear(4, 2, bias=False)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    before = layer.weight.detach().clone()

    (100 * layer(torch.randn(8, 4)).square().mean()).backward()
    norm = nn.utils.clip_grad_norm_(layer.parameters(), max_norm=1.0)
    optimizer.step()

    moved = (layer.weight - before).norm().item()
    print(f"norm found {norm.item():.2f}; length of the step {moved:.4f}")
    return {"norm": norm.item(), "moved": round(moved, 4)}


def own_backward():
    """A backward written by hand returns its share and knows nothing of .grad."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, slope):
            (x,) = ctx.saved_tensors
            return slope * 3 * x**2

    w = torch.tensor(2.0, requires_grad=True)
    Cube.apply(w).backward()
    once = w.grad.item()
    print(f"first pass:  w.grad = {once:g}")
    Cube.apply(w).backward()
    print(f"second pass: w.grad = {w.grad:g}")
    return {"once": once, "twice": w.grad.item()}


def if_it_cleared():
    """A backward() that clears first, as many expect it to."""

    def clearing_backward(loss, parameters):
        for p in parameters:
            p.grad = None
        loss.backward()

    w = torch.zeros(4, requires_grad=True)  # w[k] belongs to loss k
    for k in range(4):
        clearing_backward(w[k] / 4, [w])
    survivors = int((w.grad != 0).sum())
    print(f"w.grad = {w.grad.tolist()}: {survivors} of 4 losses survives")
    return {"survivors": survivors}


def the_price():
    """What remains if passes cannot add up: keep every graph, then one pass."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 1))
    weights = {p.data_ptr() for p in net.parameters()}
    parts = torch.randn(128, 64).split(16)
    kept = {}  # by address: what two operations share counts once

    def pack(tensor):
        if tensor.data_ptr() not in weights:
            kept[tensor.data_ptr()] = tensor.nbytes
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        net(parts[0]).square().mean().backward()
    one_graph = sum(kept.values())
    kept.clear()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        sum(net(part).square().mean() for part in parts).backward()
    all_graphs = sum(kept.values())
    print(f"saved, one graph at a time:     {one_graph / 1024:6.0f} KiB")
    print(f"saved, one pass over eight:     {all_graphs / 1024:6.0f} KiB")
    return {"times": all_graphs / one_graph}


def without_adding():
    """If you want a gradient and no entry, ask for it."""
    w = torch.tensor(3.0, requires_grad=True)
    for _ in range(3):
        loss = (w * 2.0 + 1.0 - 5.0) ** 2
        (slope,) = torch.autograd.grad(loss, w)
        print(f"slope {slope:g}, w.grad = {w.grad}")
    return {"slope": slope.item(), "has_grad": w.grad is not None}


def _reference():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
    x = torch.randn(64, 5)
    y = x.sin().sum(1, keepdim=True).double()
    x = x.double()

    def loss(m):
        return (m(x) - y).square().mean() + 0.01 * sum(p.square().sum() for p in m.parameters())

    return descend(model, [loss] * 50, lr=0.05)
