"""Lets gradients vanish and overflow in fp16, and follows a GradScaler move by move."""

from textwrap import shorten

import torch
from torch import nn

from gradledger.lessons.course.arithmetic import descend


def the_floor():
    """Numbers on their way into half precision."""
    print("      number      in fp16    times 65536, in fp16, divided again")
    for number in (1e-3, 1e-6, 1e-7, 1e-8, 1e-9):
        plain = torch.tensor(number).half()
        scaled = (torch.tensor(number) * 65536).half().float() / 65536
        print(f"{number:12g} {plain.item():12.3g} {scaled.item():16.3g}")
    top = torch.tensor(65520.0).half().item()
    print(f"and at the other end: 65520 becomes {top}")
    lost = torch.tensor(1e-8).half().item()
    return {"lost": lost, "top_is_inf": top == float("inf")}


def vanishing():
    """A real backward pass in fp16: how many gradients are exactly zero?"""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    x = torch.randn(32, 64)

    def zeros(scale):
        net.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            out = net(x)
        loss = 1e-5 * out.float().mean()
        (loss * scale).backward()
        grads = torch.cat([p.grad.flatten() for p in net.parameters()])
        return (grads == 0).float().mean().item()

    plain, scaled = zeros(1.0), zeros(65536.0)
    print(f"scale 1:      {plain:.0%} of the gradients are zero")
    print(f"scale 65536:  {scaled:.0%}")
    return {"plain": plain, "scaled": scaled}


def the_order():
    """One step with a scaler; the balance of one account after each move."""
    w = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

    loss = 3.0 * w
    scaler.scale(loss).backward()
    print(f"scale, backward  w.grad = {w.grad:g}")
    waiting = w.grad.item()
    scaler.unscale_(optimizer)
    print(f"unscale_         w.grad = {w.grad:g}")
    nn.utils.clip_grad_norm_([w], max_norm=1.0)
    print(f"clip             w.grad = {w.grad:g}")
    scaler.step(optimizer)
    print(f"step             w = {w.item():g}")
    scaler.update()
    print(f"update           scale = {scaler.get_scale():g}")
    optimizer.zero_grad()
    print(f"zero             w.grad = {w.grad}")
    return {"scaled": waiting, "w": round(w.item(), 4)}


def clip_too_early():
    """Clipping first, unscaling afterwards (scaler.step does it)."""
    w = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    scaler.scale(3.0 * w).backward()
    nn.utils.clip_grad_norm_([w], max_norm=1.0)  # <- still times 1024
    scaler.step(optimizer)
    scaler.update()
    moved = 1.0 - w.item()
    print(f"w moved by {moved:.6f} and not by 0.1: a factor of {0.1 / moved:.0f}")
    return {"times": round(0.1 / moved)}


def a_skipped_step():
    """An overflow: what step and update do about it."""
    w = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for n, slope in enumerate((3.0, float("inf"), 3.0), 1):
        optimizer.zero_grad()
        scaler.scale(slope * w).backward()
        scaler.step(optimizer)
        scaler.update()
        scale = scaler.get_scale()
        print(f"step {n}: slope {slope:3g}  w = {w.item():.2f}  scale {scale:g}")
    return {"w": round(w.item(), 4), "scale": scale}


def not_cleared_after_a_skip():
    """The same overflow, in a loop that clears only when a step was made."""
    w = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    made = 0
    for n, slope in enumerate((3.0, float("inf"), 3.0, 3.0), 1):
        before = w.item()
        scaler.scale(slope * w).backward()
        scaler.step(optimizer)
        scaler.update()
        if w.item() != before:
            optimizer.zero_grad()
            made += 1
        print(f"step {n}: w = {w.item():.2f}, w.grad = {w.grad}")
    return {"made": made}


def in_a_window():
    """Four scaled micro-batches: unscale once, at the end."""
    w = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    complained = False
    for i in range(4):
        scaler.scale(3.0 * w / 4).backward()
        if i == 1:
            scaler.unscale_(optimizer)  # <- half way through
            print(f"after micro-batch 2 and unscale_: w.grad = {w.grad:g}")
    print(f"after micro-batch 4:              w.grad = {w.grad:g}")
    mixed = w.grad.item()
    try:
        scaler.unscale_(optimizer)
    except RuntimeError as error:
        complained = True
        print("RuntimeError:", shorten(str(error), 62, placeholder=" ..."))
    return {"mixed": mixed, "complained": complained}


def bf16():
    """The other half precision: as wide as float32, but coarser."""
    for name, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
        info = torch.finfo(dtype)
        tiny = torch.tensor(1e-8).to(dtype).item()
        near_one = (torch.tensor(1.0, dtype=dtype) + info.eps).item() - 1
        print(f"{name}: 1e-8 becomes {tiny:.1e}; grid next to 1: {near_one:.1e}")
    return {"survives": tiny > 0, "grid": near_one}


def _reference():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
    x = torch.randn(128, 10)
    y = (x @ torch.randn(10, 1)).double()
    pairs = list(zip(x.double().split(32), y.split(32), strict=True))
    losses = [lambda m, x=x, y=y: (m(x) - y).square().mean() for _ in range(10) for x, y in pairs]
    return descend(model, losses, lr=0.1, max_norm=1.0)
