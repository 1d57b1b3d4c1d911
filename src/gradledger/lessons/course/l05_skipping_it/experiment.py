"""Trains with and without clearing and compares step by step."""

from types import SimpleNamespace

import torch
from torch import nn

from gradledger.lessons.course.arithmetic import descend


def side_by_side():
    """Three iterations of the same loop, with and without zero_grad()."""
    ways = {"with": [], "without": []}
    for way, rows in ways.items():
        w = torch.tensor(0.0, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for _ in range(3):
            if way == "with":
                optimizer.zero_grad()
            loss = (w - 1.0) ** 2
            loss.backward()
            optimizer.step()
            rows.append((loss.item(), w.grad.item(), w.item()))

    print("           with zero_grad()             without")
    print("step    loss    .grad        w       loss    .grad        w")
    for n, (a, b) in enumerate(zip(*ways.values(), strict=True), 1):
        left = "".join(f"{value:9.4f}" for value in a)
        print(f"{n:3} {left}  " + "".join(f"{value:9.4f}" for value in b))
    return {"second_with": round(ways["with"][1][1], 6), "second": round(ways["without"][1][1], 6)}


def overshoot():
    """The same loop for forty steps: where does w go?"""
    paths = {}
    for way in ("with", "without"):
        w = torch.tensor(0.0, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        path = paths[f"{way} zero_grad()"] = []
        for _ in range(40):
            if way == "with":
                optimizer.zero_grad()
            ((w - 1.0) ** 2).backward()
            optimizer.step()
            path.append(w.item())
    highest = max(paths["without zero_grad()"])
    print(f"with:    ends at {paths['with zero_grad()'][-1]:.4f}")
    print(f"without: reaches {highest:.2f}, ends at {path[-1]:.4f}")
    return {"paths": paths, "highest": highest}


def a_ball_without_friction():
    """Forgetting, against clearing with a momentum that never fades."""
    ends = []
    for forget in (True, False):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        factor = 0.0 if forget else 1.0
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=factor)
        for _ in range(50):
            x = torch.randn(16, 4)
            if not forget:
                optimizer.zero_grad()
            (net(x) - x.sum(1, keepdim=True)).square().mean().backward()
            optimizer.step()
        ends.append(torch.cat([p.detach().flatten() for p in net.parameters()]))
    apart = (ends[0] - ends[1]).abs().max().item()
    print(f"no clearing, against momentum=1.0 with clearing: apart by {apart:g}")
    return {"apart": apart}


def training():
    """A whole training, twice: loss, norm of the gradient, distance."""
    a, b = _train("with"), _train("without")
    print("            with zero_grad()             without              apart")
    print("epoch   loss    new    norm      loss     new     norm")
    for n in (0, 3, 7, 11, 15, 19):
        apart = (a.weights[n] - b.weights[n]).norm()
        left = f"{a.loss[n]:8.3f} {a.unseen[n]:6.3f} {a.norm[n]:7.3f}"
        right = f"{b.loss[n]:9.3f} {b.unseen[n]:7.3f} {b.norm[n]:8.2f}"
        print(f"{n + 1:4} {left} {right} {apart:11.1f}")
    return {
        "norm": {"with zero_grad()": a.norm, "without": b.norm},
        "unseen": {"with zero_grad()": a.unseen, "without": b.unseen},
        "distance": (a.weights[-1] - b.weights[-1]).norm().item(),
        "with_loss": a.loss[-1],
        "without_loss": b.loss[-1],
        "with_unseen": a.unseen[-1],
        "without_unseen": b.unseen[-1],
        "training_loss_worse": b.loss[-1] > a.loss[-1],
        "norm_growth": b.norm[-1] / b.norm[0],
    }


def rates():
    """The loss on new data after twenty epochs, for several learning rates."""
    ends = {}
    print("  rate     with zero_grad()    without")
    for lr in (0.001, 0.01, 0.1, 0.5):
        runs = [_train(way, lr=lr) for way in ("with", "without")]
        ends[lr] = [run.unseen[-1] for run in runs]
        print(f"{lr:6} {ends[lr][0]:16.3f} {ends[lr][1]:13.3f}")
    best_with = min(end[0] for end in ends.values())
    best_without = min(end[1] for end in ends.values())
    return {
        "smallest_with": ends[0.001][0],
        "smallest_without": ends[0.001][1],
        "forgetting_wins_once": ends[0.001][1] < ends[0.001][0],
        "best_with": best_with,
        "best_without": best_without,
    }


def adam_hides_it():
    """Adam divides the length away. The direction stays wrong."""
    a, b = (_train(way, torch.optim.Adam, 0.02) for way in ("with", "without"))
    print("                    loss   on new data   norm    cosine to fresh")
    for way, run in (("with zero_grad()", a), ("without", b)):
        row = f"{run.loss[-1]:7.3f} {run.unseen[-1]:11.3f} {run.norm[-1]:9.2f}"
        print(f"{way:17}{row} {run.cosine[-1]:12.2f}")
    return {"with_loss": a.loss[-1], "without_loss": b.loss[-1], "cosine": b.cosine[-1]}


def why_nothing_crashes():
    """What an error would have to be raised about."""
    torch.manual_seed(0)
    layer = nn.Linear(4, 2)
    for _ in range(100):
        layer(torch.randn(8, 4)).square().mean().backward()
    g = layer.weight.grad
    print(f"shape as the weight's: {g.shape == layer.weight.shape}")
    print(f"type as the weight's:  {g.dtype == layer.weight.dtype}")
    print(f"finite:                {bool(g.isfinite().all())}")
    return {"legal": g.shape == layer.weight.shape and bool(g.isfinite().all())}


def _train(way, kind=torch.optim.SGD, lr=0.2):
    torch.manual_seed(0)
    x = torch.randn(512, 10)
    y = (x @ torch.randn(10, 3) + 0.5 * torch.randn(512, 3)).argmax(1)
    x, x_new, y, y_new = *x.double().split(256), *y.split(256)
    net = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 3))
    weights = list(net.double().parameters())  # chaos magnifies rounding
    optimizer, loss_fn = kind(weights, lr=lr), nn.CrossEntropyLoss()
    run = SimpleNamespace(loss=[], unseen=[], norm=[], weights=[], cosine=[])
    for _ in range(20):
        for xb, yb in zip(x.split(32), y.split(32), strict=True):
            if way == "with":
                optimizer.zero_grad()
            loss = loss_fn(net(xb), yb)
            fresh = torch.autograd.grad(loss, weights, retain_graph=True)
            loss.backward()
            applied = torch.cat([w.grad.flatten() for w in weights])
            optimizer.step()
        with torch.no_grad():
            run.loss.append(loss_fn(net(x), y).item())
            run.unseen.append(loss_fn(net(x_new), y_new).item())
        fresh = torch.cat([g.flatten() for g in fresh])
        agreement = torch.cosine_similarity(applied, fresh, dim=0)
        run.norm.append(applied.norm().item())
        run.cosine.append(agreement.item())
        run.weights.append(torch.cat([w.detach().flatten() for w in weights]))
    return run


def _reference():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 3))
    x = torch.randn(256, 10)
    y = (x @ torch.randn(10, 3)).argmax(1)
    pairs = list(zip(x.double().split(32), y.split(32), strict=True))
    losses = [lambda m, x=x, y=y: nn.functional.cross_entropy(m(x), y) for _ in range(10) for x, y in pairs]
    return descend(model, losses, lr=0.1)
