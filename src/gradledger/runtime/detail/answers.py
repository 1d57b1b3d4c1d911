"""Counting right answers: classes against the greatest output, yes or no against a bound."""

from __future__ import annotations

import torch
from torch import Tensor

IGNORED = -100
"""torch's own mark for answers that do not count."""


def right_classes(output: Tensor, target: Tensor, dim: int, ignored: int = IGNORED) -> tuple[int, int]:
    """Right answers and all answers, given whole numbers for classes."""
    with torch.no_grad():
        counted = target != ignored
        right = (output.argmax(dim) == target) & counted
        return int(right.sum()), int(counted.sum())


def right_choices(output: Tensor, target: Tensor, bound: float) -> tuple[int, int] | None:
    """The same for answers of yes and no; soft ones are neither right nor wrong."""
    with torch.no_grad():
        yes = target == 1
        if not bool((yes | (target == 0)).all()):
            return None
        return int(((output > bound) == yes).sum()), target.numel()


def class_of_rows(target: Tensor, dim: int) -> Tensor | None:
    """The classes that one-hot rows stand for, plain or smoothed; None where a row names several."""
    with torch.no_grad():
        most, classes = target.max(dim, keepdim=True)
        others = target.masked_fill(target == most, 0)
        alone = (target == most).sum(dim) == 1
        even = others.amax(dim, keepdim=True)
        same = ((others == even) | (target == most)).all()
        clear = bool(alone.all()) and bool(same) and bool((most > 0.5).all())
        return classes.squeeze(dim) if clear else None


def answers(function: str, output: Tensor, target: Tensor, ignored: int = IGNORED) -> tuple[int, int] | None:
    """Right answers and all answers of a loss function of torch, where the task has such."""
    if function in ("cross_entropy", "nll_loss"):
        dim = 1 if output.dim() > 1 else 0
        if not target.is_floating_point() and output.dim() == target.dim() + 1:
            return right_classes(output, target, dim, ignored)
        if target.is_floating_point() and output.shape == target.shape:
            classes = class_of_rows(target, dim)
            return None if classes is None else right_classes(output, classes, dim)
    elif function.startswith("binary") and output.shape == target.shape:
        return right_choices(output, target, 0.0 if function.endswith("logits") else 0.5)
    return None
