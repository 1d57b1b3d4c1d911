"""Clears gradients in every usual way, and measures what each leaves, holds and costs."""

import statistics
import time
from pathlib import Path

import torch
from torch import nn

from gradledger.lessons.course.arithmetic import descend


def three_ways():
    """Four ways to clear, and what each leaves in .grad."""
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(4, 2)

    model(x).sum().backward()
    optimizer.zero_grad()
    print("optimizer.zero_grad()                  ", model.weight.grad)

    model(x).sum().backward()
    model.zero_grad()
    print("model.zero_grad()                      ", model.weight.grad)

    model(x).sum().backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()
    print("a loop with p.grad.zero_()             ", model.weight.grad)
    by_loop = model.weight.grad is None

    model(x).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    print("optimizer.zero_grad(set_to_none=False) ", model.weight.grad)
    return {"none_after_loop": by_loop}


def crash():
    """The loop without its check, before the first backward()."""
    model = nn.Linear(2, 1)
    try:
        for p in model.parameters():
            p.grad.zero_()
    except AttributeError as error:
        message = str(error)
        print("AttributeError:", message)
    return {"message": message}


def whose():
    """An optimizer clears what it holds, a model what it consists of."""
    torch.manual_seed(0)
    body, head = nn.Linear(4, 4), nn.Linear(4, 1)
    model = nn.Sequential(body, head)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)

    model(torch.randn(8, 4)).sum().backward()
    optimizer.zero_grad()
    left = body.weight.grad is not None
    norm = body.weight.grad.norm()
    print(f"optimizer.zero_grad():  head {head.weight.grad}, body {norm:.2f}")
    model.zero_grad()
    after = body.weight.grad
    print(f"model.zero_grad():      head {head.weight.grad}, body {after}")
    return {"body_left": left}


def memory():
    """What the gradients hold after clearing, and the peak of the step that follows."""
    weight = torch.ones(10_000_000, requires_grad=True)
    x = torch.full((10_000_000,), 0.1)
    optimizer = torch.optim.SGD([weight], lr=0.1)

    def forward_and_backward():
        (weight * x).tanh().tanh().tanh().sum().backward()

    held, peak = {}, {}
    for to_none in (False, True):
        forward_and_backward()
        optimizer.zero_grad(set_to_none=to_none)
        held[to_none] = 0.0 if weight.grad is None else weight.grad.nbytes / 2**20
        peak[to_none] = _peak_of(forward_and_backward)
        kept = f"set_to_none={to_none!s:5}  {held[to_none]:4.1f} MiB held"
        print(f"{kept}, peak of the process {peak[to_none]:.1f} MiB")
    return {"zeros": held[False], "none": held[True], "peak": peak[False] - peak[True]}


def clearing_time():
    """Clearing and the pass after it, timed in turns on this machine."""
    torch.manual_seed(0)
    model = nn.Sequential(*[nn.Linear(512, 512) for _ in range(8)])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(2, 512)
    clearing = {True: [], False: []}
    passing = {True: [], False: []}
    for _ in range(30):
        for to_none in (True, False):  # in turns: both meet the same noise
            optimizer.zero_grad(set_to_none=to_none)
            model(x).sum().backward()
            start = time.perf_counter()
            optimizer.zero_grad(set_to_none=to_none)
            cleared = time.perf_counter()
            model(x).sum().backward()
            clearing[to_none].append(1e6 * (cleared - start))
            passing[to_none].append(1e6 * (time.perf_counter() - cleared))

    total = {}
    print("         clearing    forward and backward after it")
    for to_none, name in ((False, "zeros"), (True, "None")):
        clear = statistics.median(clearing[to_none])
        after = statistics.median(passing[to_none])
        print(f"{name:6} {clear:7.0f} µs {after:10.0f} µs")
        total[to_none] = clear + after
    return {"ratio": total[False] / total[True]}


def still_moving():
    """One real gradient, then a step without one: as zeros, and as None."""
    makers = {
        "SGD": (torch.optim.SGD, {}),
        "SGD, momentum 0.9": (torch.optim.SGD, {"momentum": 0.9}),
        "SGD, weight decay": (torch.optim.SGD, {"weight_decay": 0.5}),
        "Adam": (torch.optim.Adam, {}),
        "AdamW": (torch.optim.AdamW, {}),
    }
    moved = {}
    print("second step moves w by   zeros     None")
    for name, (make, settings) in makers.items():
        for to_none in (False, True):
            w = torch.tensor(1.0, requires_grad=True)
            optimizer = make([w], lr=0.1, **settings)
            w.backward()  # the loss is w itself: gradient 1
            optimizer.step()
            before = w.item()
            optimizer.zero_grad(set_to_none=to_none)
            optimizer.step()
            moved[name, to_none] = w.item() - before
        print(f"{name:20} {moved[name, False]:9.4f} {moved[name, True]:8.4f}")
    return {
        "sgd_zeros": abs(moved["SGD", False]),
        "momentum_zeros": round(-moved["SGD, momentum 0.9", False], 6),
        "momentum_none": moved["SGD, momentum 0.9", True],
    }


def state():
    """Adam's two averages for a layer that takes no part."""
    sizes = {}
    for to_none in (True, False):
        used, idle = nn.Linear(8, 8), nn.Linear(8, 8)
        optimizer = torch.optim.Adam([*used.parameters(), *idle.parameters()])
        if not to_none:
            for p in idle.parameters():
                p.grad = torch.zeros_like(p)
        used(torch.randn(4, 8)).sum().backward()
        optimizer.step()
        name = "None" if to_none else "zeros"
        sizes[to_none] = len(optimizer.state)
        print(f"idle gradients {name:5}: state for {sizes[to_none]} of 4")
    return {"none": sizes[True], "zeros": sizes[False]}


def _peak_of(work):
    """The process's largest resident size during some work, in MiB."""
    try:  # Linux forgets the peak so far when it is asked to
        Path("/proc/self/clear_refs").write_text("5")
        work()
        status = Path("/proc/self/status").read_text()
    except OSError:  # other systems do not tell
        return float("nan")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _reference():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
    x = torch.randn(64, 6)
    y = (x[:, :1] - x[:, 1:2] * x[:, 2:3]).double()
    x = x.double()
    return descend(model, [lambda m: (m(x) - y).square().mean()] * 40, lr=0.05)
