"""What the class of an optimizer can do beyond torch's own optimizers."""

from __future__ import annotations

from torch.optim import Optimizer


def own_methods(optimizer: Optimizer) -> bool:
    """Whether a class that is not torch's gives it a public method: it may sum up gradients itself."""
    return any(
        callable(member) and not name.startswith("_") and not hasattr(Optimizer, name)
        for one in type(optimizer).__mro__
        if not one.__module__.startswith("torch.")
        for name, member in vars(one).items()
    )
