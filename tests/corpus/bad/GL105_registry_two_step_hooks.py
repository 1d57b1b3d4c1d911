"""BUG: both registered "after_backward" hooks end with optimizer.step(), so each gradient is applied twice."""
import functools

import torch
from torch import nn

HOOKS = {}


def register(event, order):
    def wrap(fn):
        HOOKS.setdefault(event, []).append((order, fn))
        HOOKS[event].sort(key=lambda pair: pair[0])

        @functools.wraps(fn)
        def inner(*a, **k):
            return fn(*a, **k)

        return inner

    return wrap


def call(event, state):
    for _, fn in HOOKS.get(event, []):
        fn(state)


@register("before_forward", order=0)
def reset_gradients(state):
    state["optimizer"].zero_grad()


@register("after_backward", order=10)
def clip_and_update(state):
    nn.utils.clip_grad_norm_(state["model"].parameters(), 5.0)
    state["optimizer"].step()


@register("after_backward", order=20)
def update(state):
    state["optimizer"].step()  # expect: GL105
    state["updates"] += 1


@register("epoch_end", order=0)
def report(state):
    print("epoch {epoch} updates {updates} loss {loss:.4f}".format(**state))


def triplets(n, g):
    centers = torch.eye(4).repeat(1, 2)
    label = torch.randint(0, 4, (n,), generator=g)
    other = (label + 1 + torch.randint(0, 3, (n,), generator=g)) % 4
    noisy = lambda c: c + 0.3 * torch.randn(n, 8, generator=g)
    return noisy(centers[label]), noisy(centers[label]), noisy(centers[other])


def main():
    torch.manual_seed(50)
    g = torch.Generator().manual_seed(51)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    criterion = nn.TripletMarginLoss(margin=2.0)
    state = {"model": model, "optimizer": torch.optim.Adagrad(model.parameters(), lr=0.02), "updates": 0}
    for state["epoch"] in range(3):
        for _ in range(6):
            call("before_forward", state)
            loss = criterion(*(model(t) for t in triplets(32, g)))
            loss.backward()
            state["loss"] = loss.item()
            call("after_backward", state)
        call("epoch_end", state)


main()
