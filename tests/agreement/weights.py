"""How much of each pass is inside a gradient, found by linear algebra alone."""

from __future__ import annotations

import torch

from tests.agreement.recorder import Content, Pass

Weights = dict[int, float]
"""Number of a pass that is in the sum -> the factor with which the gradient of its mean loss is."""

TOLERANCE = 1e-8


def weights(content: Content, passes: list[Pass]) -> Weights:
    """The one combination of the passes so far that gives this gradient."""
    if content.weights is None:
        content.weights = _solved(content, passes)
    return content.weights


def _solved(content: Content, passes: list[Pass]) -> Weights:
    norm = float(content.gradient.norm())
    before = [number for number, one in enumerate(passes) if one.at.time < content.at.time]
    reaching = [number for number in before if reaches(passes[number], content.optimizer)]
    if not reaching or not norm:
        assert not norm, "a gradient out of nothing"
        return {}
    columns = torch.stack([passes[number].gradients[content.optimizer] for number in reaching], dim=1)
    lengths = columns.norm(dim=0)
    solved = torch.linalg.lstsq(columns / lengths, content.gradient.unsqueeze(1)).solution.squeeze(1)
    rest = float((columns / lengths @ solved - content.gradient).norm())
    assert rest <= TOLERANCE * norm, "a gradient that is no sum of the passes"
    found = zip(reaching, solved.tolist(), lengths.tolist(), strict=True)
    return {number: share / length for number, share, length in found if abs(share) > TOLERANCE * norm}


def reaches(one: Pass, optimizer: int) -> bool:
    """Whether the pass has any gradient for this optimizer's parameters."""
    return bool(one.gradients[optimizer].any())
