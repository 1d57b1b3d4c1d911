"""Puts the moves of a training step into every order and looks at what each does to the weight."""

from itertools import permutations
from textwrap import shorten

import torch
from torch import nn

from gradledger.lessons.course.arithmetic import descend


def five_moves():
    """One step in slow motion: the account and the weight after each move."""
    w = torch.tensor(3.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)

    def show(move):
        print(f"{move:10} w = {w.item():<8g} w.grad = {w.grad}")

    optimizer.zero_grad()
    show("1 zero")
    guess = w * 2.0
    show("2 forward")
    loss = (guess - 5.0) ** 2
    show("3 loss")
    loss.backward()
    show("4 backward")
    optimizer.step()
    show("5 step")
    return {"grad_after_step": w.grad.item(), "w": round(w.item(), 6)}


def orders():
    """Zero, backward, step in all six orders; five turns of the loop each."""
    ends = {}
    print("order                       w after 5 turns   updates")
    for order in permutations(("zero", "backward", "step")):
        w = torch.tensor(0.0, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        updates = 0
        for _ in range(5):
            for move in order:
                if move == "zero":
                    optimizer.zero_grad()
                elif move == "backward":
                    ((w - 1.0) ** 2).backward()
                else:
                    updates += w.grad is not None
                    optimizer.step()
        ends[order] = w.item()
        print(f"{' -> '.join(order):26} {w.item():12.5f} {updates:11}")
    right = ends["zero", "backward", "step"]
    return {
        "right": right,
        "lost": ends["backward", "zero", "step"],
        "step_first": ends["step", "zero", "backward"],
        "after_step_same": ends["backward", "step", "zero"] == right,
    }


def around_the_forward():
    """Before the forward pass, or just before backward(): is there a difference?"""
    ends = []
    for early in (True, False):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        for _ in range(20):
            x = torch.randn(16, 4)
            if early:
                optimizer.zero_grad()
            loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
            if not early:
                optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        ends.append(torch.cat([p.detach().flatten() for p in net.parameters()]))
    apart = (ends[0] - ends[1]).abs().max().item()
    print(f"largest difference after 20 steps: {apart:g}")
    return {"apart": apart}


def step_too_early():
    """A step between forward and backward: here PyTorch does complain."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    complained = False
    net(torch.randn(16, 4)).square().mean().backward()
    loss = net(torch.randn(16, 4)).square().mean()
    optimizer.step()
    try:
        loss.backward()
    except RuntimeError as error:
        complained = True
        print(shorten(str(error), 76, placeholder=" ..."))
    return {"complained": complained}


def cleared_but_moving():
    """Cleared between backward and step, and yet the weights move."""
    moved = {}
    for name, settings in {
        "SGD": {},
        "momentum": {"momentum": 0.9},
        "weight decay": {"weight_decay": 0.1},
    }.items():
        w = torch.tensor(2.0, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1, **settings)
        ((w - 5.0) ** 2).backward()  # one good step: towards 5
        optimizer.step()
        start = w.item()
        for _ in range(10):
            ((w - 5.0) ** 2).backward()
            optimizer.zero_grad(set_to_none=False)
            optimizer.step()
        moved[name] = w.item() - start
        print(f"{name:13} {start:.3f} -> {w.item():.3f}")
    return {"sgd": moved["SGD"], "decays": moved["weight decay"] < 0}


def _reference():
    torch.manual_seed(0)
    model = nn.Linear(8, 3)
    x = torch.randn(90, 8)
    y = (x @ torch.randn(8, 3)).argmax(1)
    pairs = list(zip(x.double().split(30), y.split(30), strict=True))
    losses = [lambda m, x=x, y=y: nn.functional.cross_entropy(m(x), y) for _ in range(20) for x, y in pairs]
    return descend(model, losses, lr=0.5)
