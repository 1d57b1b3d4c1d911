"""Measures with which weight every micro-batch and every sample reaches the update."""

from fractions import Fraction

import torch
from torch import nn
from torch.nn import functional as F

import gradledger
from gradledger.lessons.course.arithmetic import descend


def right():
    """A correct window of four, seen through a model that reveals the weights."""
    N = 4
    w = torch.zeros(N, requires_grad=True)  # w[k] belongs to micro-batch k
    optimizer = torch.optim.SGD([w], lr=1.0)

    for i in range(3 * N):
        loss = w[i % N] / N
        loss.backward()
        if (i + 1) % N == 0:
            print(f"update {i // N + 1}:", *map(Fraction, w.grad.tolist()))
            total = w.grad.sum().item()
            optimizer.step()
            optimizer.zero_grad()
    return {"total": total}


def at_every_micro_batch():
    """Wrong place 1: at the top of the loop, where it always used to be."""
    N = 4
    w = torch.zeros(N, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1.0)

    for i in range(3 * N):
        optimizer.zero_grad()  # <- every micro-batch
        loss = w[i % N] / N
        loss.backward()
        if (i + 1) % N == 0:
            print(f"update {i // N + 1}:", *map(Fraction, w.grad.tolist()))
            total = w.grad.sum().item()
            optimizer.step()
    return {"total": total, "lost": 1 - total}


def before_the_step():
    """Wrong place 2: in the right branch, one line too early."""
    N = 4
    w = torch.zeros(N, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1.0)

    for i in range(3 * N):
        loss = w[i % N] / N
        loss.backward()
        if (i + 1) % N == 0:
            optimizer.zero_grad()  # <- before the step
            print(f"update {i // N + 1}: w.grad = {w.grad}")
            optimizer.step()
    moved = bool(w.abs().sum() > 0)
    print(f"w has moved: {moved}")
    return {"moved": moved}


def before_the_loop():
    """Wrong place 3: once, before the loop."""
    N = 4
    w = torch.zeros(N, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1.0)

    optimizer.zero_grad()  # <- once and never again
    for i in range(5 * N):
        loss = w[i % N] / N
        loss.backward()
        if (i + 1) % N == 0:
            print(f"update {i // N + 1}:", *map(Fraction, w.grad.tolist()))
            fifth = w.grad.sum().item()
            optimizer.step()
    travelled = -w.sum().item()
    print(f"way travelled after 5 updates: {travelled:g} instead of 5")
    return {"fifth": fifth, "travelled": travelled}


def what_it_buys():
    """Wrong place 1 against a loop that never computes the lost micro-batches."""
    x, y = _data()
    batches = list(zip(x.split(8), y.split(8), strict=True))
    N, loss_fn, apart = 4, nn.MSELoss(), {}
    for make, lazy_rate in ((torch.optim.SGD, 0.2 / N), (torch.optim.Adam, 0.2)):
        torch.manual_seed(1)
        wrong = nn.Linear(10, 1).double()
        optimizer = make(wrong.parameters(), lr=0.2)
        for i, (xb, yb) in enumerate(batches):
            optimizer.zero_grad()
            (loss_fn(wrong(xb), yb) / N).backward()
            if (i + 1) % N == 0:
                optimizer.step()

        torch.manual_seed(1)
        lazy = nn.Linear(10, 1).double()
        optimizer = make(lazy.parameters(), lr=lazy_rate)
        for xb, yb in batches[N - 1 :: N]:
            optimizer.zero_grad()
            loss_fn(lazy(xb), yb).backward()
            optimizer.step()

        name = make.__name__
        apart[name] = (wrong.weight - lazy.weight).abs().max().item()
        print(f"{name:4} at 0.2, lazy at {lazy_rate:4g}: {apart[name]:.1g} apart")
    passes = len(batches), len(batches[N - 1 :: N])
    print(f"passes: {passes[0]} against {passes[1]}")
    return {
        "apart": apart["SGD"],
        "apart_adam": apart["Adam"],
        "wrong_passes": passes[0],
        "lazy_passes": passes[1],
    }


def training():
    """The same training four times, with zero_grad() in four places."""
    x, y = _data()
    places = "right", "every micro-batch", "before the step", "before the loop"
    curves, ends = {}, {}
    for place in places:
        curves[place], ends[place] = _train(place, x, y)

    print("zero_grad()          loss after 60 updates   distance from right")
    for place, weights in ends.items():
        apart = (weights - ends["right"]).norm().item()
        print(f"{place:20} {curves[place][-1]:18.4f} {apart:21.4f}")
    lost = (ends["every micro-batch"] - ends["right"]).norm().item()
    return {"curves": curves, "lost": lost}


def tail():
    """Ten micro-batches, windows of four: what becomes of the last two."""
    N, M = 4, 10
    w = torch.zeros(M, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1.0)
    sizes = []
    for epoch in range(2):
        for i in range(M):
            loss = w[i] / N
            loss.backward()
            if (i + 1) % N == 0:
                sizes.append(w.grad.sum().item())
                row = " ".join(f"{Fraction(g)!s:>3}" for g in w.grad.tolist())
                print(f"epoch {epoch}:  {row}   total {sizes[-1]:g}")
                optimizer.step()
                optimizer.zero_grad()
    print(f"left over at the end: {int((w.grad != 0).sum())} micro-batches")
    return {"leaked": sizes[2], "left_over": int((w.grad != 0).sum())}


def flushed():
    """The tail stepped at the end of the epoch, divided by N and by what is inside."""
    N, M = 4, 10
    totals = []
    for divisor in ("N", "what is inside"):
        w = torch.zeros(M, requires_grad=True)
        inside, last = 0, M - M % N
        for i in range(M):
            loss = w[i] / (N if divisor == "N" or i < last else M % N)
            loss.backward()
            inside += 1
            if inside == N or i == M - 1:
                totals.append(w.grad.sum().item())
                w.grad, inside = None, 0
        print(f"divided by {divisor:15} totals of the updates: {totals[-3:]}")
    return {"by_n": totals[2], "by_inside": totals[5]}


def off_by_one():
    """The guard i % N == 0 fires at once."""
    N, sizes, inside = 4, [], 0
    for i in range(12):
        inside += 1
        if i % N == 0:
            sizes.append(inside)
            inside = 0
    print(f"windows of {sizes}, and {inside} micro-batches left over")
    return {"first": sizes[0], "left_over": inside}


def uneven():
    """Micro-batches of 8, 8, 8 and 3 samples: the weight of a single sample."""
    w = torch.zeros(27, requires_grad=True)  # w[k] belongs to sample k
    parts = w.split([8, 8, 8, 3])
    for part in parts:
        (part.mean() / 4).backward(retain_graph=True)
    large, small = w.grad[0].item(), w.grad[-1].item()
    print(f"means / 4:  1/{1 / large:.0f} among 8, 1/{1 / small:.0f} among 3")
    ratio = small / large

    w.grad = None
    for part in parts:
        (part.sum() / 27).backward(retain_graph=True)
    large, small = w.grad[0].item(), w.grad[-1].item()
    print(f"sums / 27:  1/{1 / large:.0f} among 8, 1/{1 / small:.0f} among 3")
    return {"ratio": round(ratio, 6), "fair": large == small}


def tokens():
    """Sentences of different length: the mean of means is another gradient."""
    torch.manual_seed(0)
    words = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20)).double()
    sentences = [torch.randint(0, 20, (n + 1,)) for n in (30, 20, 6, 2)]

    def gradient(losses):
        words.zero_grad()
        for loss in losses:
            loss.backward()
        return torch.cat([p.grad.flatten() for p in words.parameters()])

    def summed(s):
        return F.cross_entropy(words(s[:-1]), s[1:], reduction="sum")

    lengths = [len(s) - 1 for s in sentences]
    total = sum(lengths)
    whole = gradient([sum(map(summed, sentences)) / total])
    means = gradient([summed(s) / (len(s) - 1) / 4 for s in sentences])
    fair = gradient([summed(s) / total for s in sentences])
    off = ((means - whole).norm() / whole.norm()).item()
    exact = ((fair - whole).norm() / whole.norm()).item()
    print(f"tokens per sentence: {lengths}")
    print(f"mean of means:       off by {off:.3f} times the gradient's length")
    print(f"sums / all tokens:   off by {exact:.1e}")
    return {"off": off, "exact": exact, "right": exact < 1e-12}


def accumulator():
    """The same by construction: the window is divided when it closes."""
    x, y = _data()
    torch.manual_seed(1)
    model = nn.Linear(10, 1).double()
    x, y = x[:27], y[:27]
    loss = (model(x) - y).square().mean()
    (whole,) = torch.autograd.grad(loss, model.weight)

    start = model.weight.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    acc = gradledger.Accumulator(model, optimizer, every=4)
    for part in torch.arange(27).split([8, 8, 8, 3]):
        loss = (model(x[part]) - y[part]).square().mean()
        update = acc.backward(loss, count=len(part))

    apart = (start - model.weight - whole).abs().max().item()
    print(f"one update of {update.micro_batches} parts, {update.count:g} samples")
    print(f"largest difference from the large batch: {apart:.1e}")
    return {"apart": apart, "exact": apart < 1e-12}


def _data():
    torch.manual_seed(0)
    x = torch.randn(320, 10)
    y = x @ torch.randn(10, 1) + 0.3 * torch.randn(320, 1)
    return x.double(), y.double()


def _train(place, x, y):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.double().parameters(), lr=0.05)
    batches = list(zip(x.split(8), y.split(8), strict=True))
    loss_fn, curve = nn.MSELoss(), []
    for _ in range(6):
        for i, (xb, yb) in enumerate(batches):
            if place == "every micro-batch":
                optimizer.zero_grad()
            (loss_fn(model(xb), yb) / 4).backward()
            if (i + 1) % 4 == 0:
                if place == "before the step":
                    optimizer.zero_grad()
                optimizer.step()
                if place == "right":
                    optimizer.zero_grad()
                with torch.no_grad():
                    curve.append(loss_fn(model(x), y).item())
    weights = nn.utils.parameters_to_vector(model.parameters())
    return curve, weights.detach()


def _reference():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
    x = torch.randn(128, 10)
    y = (x @ torch.randn(10, 1)).double()
    pairs = list(zip(x.double().split(32), y.split(32), strict=True))
    losses = [lambda m, x=x, y=y: (m(x) - y).square().mean() for _ in range(10) for x, y in pairs]
    return descend(model, losses, lr=0.1)
