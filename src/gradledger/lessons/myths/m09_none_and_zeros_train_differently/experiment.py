"""Steps once more on zeros and on None."""

import torch


def decide():
    """A second step with momentum, on zeros and on None."""
    moved = {}
    for to_none in (False, True):
        w = torch.tensor(1.0, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
        w.backward()
        optimizer.step()
        before = w.item()
        optimizer.zero_grad(set_to_none=to_none)
        optimizer.step()
        moved[to_none] = before - w.item()
        print(f"set_to_none={to_none!s:5}: w moves by {moved[to_none]:.3f}")
    return {"holds": moved[True] != moved[False], "zeros": moved[False]}
