"""Reads gradients off tiny models and checks them by nudging each number."""

import torch
from torch import nn

from gradledger.lessons.course.arithmetic import descend


def one_weight():
    """One weight, one bias, one sample: the smallest model there is."""
    w = torch.tensor(3.0, requires_grad=True)
    b = torch.tensor(1.0, requires_grad=True)
    x, y = 2.0, 5.0

    guess = w * x + b
    loss = (guess - y) ** 2
    print(f"guess {guess.item():g}, wanted {y:g}, loss {loss.item():g}")

    print(f"before backward():  w.grad = {w.grad}")
    loss.backward()
    print(f"after backward():   w.grad = {w.grad:g}   b.grad = {b.grad:g}")
    return {"loss": loss.item(), "w_grad": w.grad.item(), "b_grad": b.grad.item()}


def nudge():
    """The same slope without calculus: move w a little, watch the loss."""

    def loss(w, b):
        return (w * 2.0 + b - 5.0) ** 2

    print("      h    one side: (loss(w+h) - loss(w)) / h    both sides")
    for h in (1.0, 0.1, 0.01, 0.0001):
        one_sided = (loss(3 + h, 1) - loss(3, 1)) / h
        two_sided = (loss(3 + h, 1) - loss(3 - h, 1)) / (2 * h)
        print(f"{h:7g}  {one_sided:34.6f}  {two_sided:12.6f}")
    return {"one_sided_first": loss(4, 1) - loss(3, 1), "two_sided": round(two_sided, 6)}


def every_parameter():
    """A network of thirteen numbers: backward() against nudging each of them."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    x, y = torch.randn(5, 2).double(), torch.randn(5, 1).double()
    loss_fn = nn.MSELoss()
    loss_fn(net(x), y).backward()

    h, worst, count = 1e-6, 0.0, 0
    print("parameter    .grad        by nudging")
    for name, p in net.named_parameters():
        flat = p.data.view(-1)
        for i in range(flat.numel()):
            with torch.no_grad():
                flat[i] += h
                up = loss_fn(net(x), y)
                flat[i] -= 2 * h
                down = loss_fn(net(x), y)
                flat[i] += h
            slope = ((up - down) / (2 * h)).item()
            grad = p.grad.view(-1)[i].item()
            print(f"{name}[{i}]".ljust(13) + f"{grad:+.8f}  {slope:+.8f}")
            worst = max(worst, abs(slope - grad))
            count += 1
    print(f"largest difference: {worst:.1e}")
    return {"worst": worst, "agrees": worst < 1e-6, "count": count}


def downhill():
    """One move against the gradient: what it promises, what it keeps."""
    w, b = 3.0, 1.0
    gw, gb = 8.0, 4.0  # from above
    start = (w * 2 + b - 5) ** 2
    kept = {}
    print("  rate    promised loss    real loss")
    for rate in (0.001, 0.01, 0.05, 0.1, 0.2, 0.25):
        promised = start - rate * (gw**2 + gb**2)
        real = ((w - rate * gw) * 2 + (b - rate * gb) - 5) ** 2
        kept[rate] = real
        print(f"{rate:6g}  {promised:15.3f}  {real:11.3f}")
    return {"at_tenth": round(kept[0.1], 9), "at_fifth": round(kept[0.2], 9)}


def where_it_lands():
    """Only leaves that ask for it get a .grad."""
    torch.manual_seed(0)
    layer = nn.Linear(2, 1)
    layer.bias.requires_grad_(False)
    x = torch.randn(4, 2)
    out = layer(x)
    loss = out.square().mean()
    loss.backward()
    weight, bias = layer.weight, layer.bias
    print("tensor  leaf   asks   .grad")
    for name, t in (("weight", weight), ("bias", bias), ("x", x)):
        print(f"{name:6}  {t.is_leaf}   {t.requires_grad!s:5}  {t.grad}")
    print(f"out     {out.is_leaf}  {out.requires_grad}   not kept")
    same = weight.grad.shape == weight.shape
    print(f"weight.grad has the shape of weight: {same}")
    return {"bias_has": bias.grad is not None, "same_shape": same}


def _reference():
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    x = torch.randn(64, 3)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.1 * torch.randn(64, 1)
    x, y = x.double(), y.double()
    return descend(model, [lambda m: (m(x) - y).square().mean()] * 30, lr=0.1)
