"""Compares windows of small batches with the large batch: gradient, memory, time, progress."""

import statistics
import time

import torch
from torch import nn

from gradledger.lessons.course.arithmetic import descend


def equals_the_large_batch():
    """One batch of 64, and eight of 8 in a window, in two precisions."""
    worst = {}
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 3))
        net = net.to(dtype)
        x, y = torch.randn(64, 10).to(dtype), torch.randint(0, 3, (64,))
        loss_fn = nn.CrossEntropyLoss()

        loss_fn(net(x), y).backward()
        large = torch.cat([p.grad.flatten() for p in net.parameters()])

        net.zero_grad()
        for xb, yb in zip(x.split(8), y.split(8), strict=True):
            (loss_fn(net(xb), yb) / 8).backward()
        window = torch.cat([p.grad.flatten() for p in net.parameters()])

        worst[dtype] = (window - large).abs().max().item()
        print(f"{dtype}: largest difference {worst[dtype]:.1e}")
    single, double = worst[torch.float32], worst[torch.float64]
    return {"single": single, "double": double, "same": single < 1e-6 and double < 1e-12}


def the_loop():
    """The whole pattern, on sixteen micro-batches: two updates."""
    torch.manual_seed(0)
    model = nn.Linear(10, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = [(x, x.sum(1, keepdim=True)) for x in torch.randn(128, 10).split(8)]
    accumulate, updates = 8, 0

    for i, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(model(x), y)
        (loss / accumulate).backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
            updates += 1
            print(f"update {updates} after {i + 1} micro-batches")
    return {"updates": updates}


def memory():
    """What autograd keeps between forward and backward, by batch size."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(256, 512), nn.Tanh(), nn.Linear(512, 1))
    weights = {p.data_ptr() for p in net.parameters()}
    sizes, kept = (8, 16, 32, 64, 128), {"one batch": [], "window of 8s": []}

    def saved_by(batch):
        saved = {}

        def pack(t):
            if t.data_ptr() not in weights:
                saved[t.data_ptr()] = t.nbytes
            return t

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            net(batch).square().mean().backward()
        return sum(saved.values()) / 1024

    print("samples per update   one batch   window of 8s")
    for size in sizes:
        x = torch.randn(size, 256)
        kept["one batch"].append(saved_by(x))
        kept["window of 8s"].append(max(saved_by(part) for part in x.split(8)))
        row = [values[-1] for values in kept.values()]
        print(f"{size:12} {row[0]:15.0f} KiB {row[1]:10.0f} KiB")
    return {"kept": kept, "times": kept["one batch"][-1] / kept["one batch"][0]}


def not_divided():
    """The same window without the division."""
    torch.manual_seed(0)
    net = nn.Linear(10, 1).double()
    x = torch.randn(64, 10).double()
    net(x).square().mean().backward()
    large = net.weight.grad.clone()
    net.zero_grad()
    for part in x.split(8):
        net(part).square().mean().backward()
    times = (net.weight.grad.norm() / large.norm()).item()
    print(f"the gradient is {times:.6f} times as long")
    return {"times": round(times, 9)}


def divided_or_not():
    """An undivided window of eight: what SGD, Adam and clipping make of it."""
    for name, make, clip in (
        ("SGD", torch.optim.SGD, None),
        ("SGD, clipped at 0.1", torch.optim.SGD, 0.1),
        ("Adam", torch.optim.Adam, None),
    ):
        ends = []
        for divisor in (8, 1):
            torch.manual_seed(0)
            net = nn.Linear(10, 1).double()
            optimizer = make(net.parameters(), lr=0.01)
            for x in torch.randn(20, 64, 10).double():
                for part in x.split(8):
                    (net(part).square().mean() / divisor).backward()
                if clip:
                    nn.utils.clip_grad_norm_(net.parameters(), clip)
                optimizer.step()
                optimizer.zero_grad()
            ends.append(net.weight.detach())
        apart = (ends[0] - ends[1]).norm().item()
        print(f"{name:20} divided and not divided end {apart:.1e} apart")
    return {"adam": apart}


def time_per_update():
    """64 samples per update, as one batch and in eight parts, timed in turns."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(128, 256), nn.Tanh(), nn.Linear(256, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x = torch.randn(64, 128)
    spent = {64: [], 8: []}
    for _ in range(25):
        for size, times in spent.items():
            start = time.perf_counter()
            for part in x.split(size):
                (net(part).square().mean() * len(part) / 64).backward()
            optimizer.step()
            optimizer.zero_grad()
            times.append(1e6 * (time.perf_counter() - start))
    whole, parts = statistics.median(spent[64]), statistics.median(spent[8])
    print(f"one batch of 64:   {whole:6.0f} µs")
    print(f"eight parts of 8:  {parts:6.0f} µs")
    return {"ratio": parts / whole}


def when_not():
    """The same 2,048 samples: a step after every 8, and a window of 64."""
    ends = {}
    for window in (1, 8):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
        x = torch.randn(2048, 10)
        y = x.sin().sum(1, keepdim=True)
        for i, (xb, yb) in enumerate(zip(x.split(8), y.split(8), strict=True)):
            (nn.functional.mse_loss(net(xb), yb) / window).backward()
            if (i + 1) % window == 0:
                optimizer.step()
                optimizer.zero_grad()
        ends[window] = nn.functional.mse_loss(net(x), y).item()
        print(f"{256 // window:3} updates: loss {ends[window]:.3f}")
    return {"small": ends[1], "window": ends[8], "window_further": ends[8] < ends[1]}


def _reference():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
    x = torch.randn(256, 10)
    y = x.sin().sum(1, keepdim=True).double()
    pairs = list(zip(x.double().split(64), y.split(64), strict=True))
    losses = [lambda m, x=x, y=y: (m(x) - y).square().mean() for _ in range(10) for x, y in pairs]
    return descend(model, losses, lr=0.02)
