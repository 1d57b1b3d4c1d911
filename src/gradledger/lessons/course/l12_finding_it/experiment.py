"""Reads symptoms off small runs, keeps a ledger of ten lines, and lets the tool look at a script."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn

import gradledger


def symptoms():
    """Five mistakes, seen from outside: what the third update applies."""
    right = _third_update("right")
    rows = {}
    print("mistake                 length   cosine   what you see")
    for mistake, seen in {
        "never cleared": "norm grows from step to step",
        "cleared before step": "weights stand still",
        "cleared in window": "slow, small norm",
        "not divided": "fast or unstable, large norm",
        "stepped twice": "like twice the rate",
    }.items():
        applied = _third_update(mistake)
        length = (applied.norm() / right.norm()).item()
        cosine = torch.cosine_similarity(applied, right, dim=0).item()
        rows[mistake] = round(length, 2)
        print(f"{mistake:22} {length:7.2f} {cosine:8.2f}   {seen}")
    return {
        "never": rows["never cleared"],
        "undivided": rows["not divided"],
        "cleared": rows["cleared in window"],
        "twice": rows["stepped twice"],
    }


def three_line_test():
    """Is .grad what you think it is? Compute that, and compare."""
    torch.manual_seed(0)
    model = nn.Linear(10, 1)
    x, y = torch.randn(32, 10), torch.randn(32, 1)
    model(x).sum().backward()  # something left over from earlier

    for xb, yb in zip(x.split(8), y.split(8), strict=True):
        (nn.functional.mse_loss(model(xb), yb) / 4).backward()

    whole = nn.functional.mse_loss(model(x), y)
    (expected,) = torch.autograd.grad(whole, model.weight)
    off = ((model.weight.grad - expected).norm() / expected.norm()).item()
    print(f"off by {off:.2f} of the gradient's length")
    return {"off": off, "clean": off < 1e-5}


def ten_line_ledger():
    """A ledger of your own, made of two hooks."""
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    applied, stale = {}, []

    def after_step(*_):
        for p in model.parameters():
            applied[p] = p.grad  # remember the very tensor

    def on_grad(p):
        if p.grad is not None and p.grad is applied.get(p):
            stale.append(p)

    optimizer.register_step_post_hook(after_step)
    for p in model.parameters():
        p.register_post_accumulate_grad_hook(on_grad)

    for step in range(1, 5):
        if step != 3:  # forgotten once
            optimizer.zero_grad()
        stale.clear()
        model(torch.randn(8, 4)).square().mean().backward()
        print(f"pass {step}: {len(stale)} of 2 accounts are stale")
        if stale:
            found = step
        optimizer.step()
    return {"found": found}


def what_is_inside():
    """The same question put to gradledger, in the middle of a run."""
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with gradledger.watch(model, optimizer) as ledger:
        for _ in range(3):
            model(torch.randn(8, 4)).square().mean().backward()
            optimizer.step()
        model(torch.randn(8, 4)).square().mean().backward()
        sheet = ledger.balance(model.weight)
    print(f"fresh passes in model.weight.grad: {sheet.fresh}")
    print(f"stale passes in model.weight.grad: {sheet.stale}")
    return {"fresh": sheet.fresh, "stale": sheet.stale}


def check():
    """A script of somebody else, read without running it."""
    said = _gradledger("check", _SCRIPT)
    print(said)
    return {"found": "GL205" in said and "GL307" in said}


def run():
    """The same script, watched while it runs."""
    said = _gradledger("run", _SCRIPT)
    print(said)
    return {"found": "GL205" in said and "GL307" in said}


_SCRIPT = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(10, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5)
loader = [(x, x.sum(1, keepdim=True)) for x in torch.randn(40, 8, 10)]
accumulate = 4
for i, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y) / accumulate
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scheduler.step()
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
print("done")
"""


def _gradledger(command, script):
    """What the tool says about a script, as it would in a terminal."""
    with tempfile.TemporaryDirectory(prefix="gradledger-lesson-") as folder:
        Path(folder, "train.py").write_text(script, encoding="utf-8")
        call = [sys.executable, "-m", "gradledger", command, "train.py"]
        plain = {"COLUMNS": "78", "NO_COLOR": "1", "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(
            call,
            cwd=folder,
            env={**os.environ, **plain},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    return (done.stdout + done.stderr).strip()


def _third_update(mistake):
    torch.manual_seed(0)
    model = nn.Linear(10, 1)
    weights = list(model.parameters())
    optimizer = torch.optim.SGD(weights, lr=1e-3)
    loader = [(x, x.sum(1, keepdim=True)) for x in torch.randn(12, 8, 10)]
    for i, (x, y) in enumerate(loader):
        if mistake == "cleared in window":
            optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        (loss if mistake == "not divided" else loss / 4).backward()
        if (i + 1) % 4 == 0:
            before = nn.utils.parameters_to_vector(weights).detach()
            if mistake == "cleared before step":
                optimizer.zero_grad()
            optimizer.step()
            if mistake == "stepped twice":
                optimizer.step()
            if mistake != "never cleared":
                optimizer.zero_grad()
    return before - nn.utils.parameters_to_vector(weights).detach()


def _reference():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
    x = torch.randn(256, 10)
    y = x.sin().sum(1, keepdim=True).double()
    model, parameters = model.double(), list(model.double().parameters())
    update = 0
    for _ in range(5):
        for xb, yb in zip(x.double().split(32), y.split(32), strict=True):
            gradients = torch.autograd.grad((model(xb) - yb).square().mean(), parameters)
            norm = torch.cat([g.flatten() for g in gradients]).norm()
            rate = 0.2 * (1 - update / 40) * min(1.0, 1.0 / norm.item())
            with torch.no_grad():
                for p, g in zip(parameters, gradients, strict=True):
                    p -= rate * g
            update += 1
    return model.state_dict()
