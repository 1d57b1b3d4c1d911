"""What a trial comes to, in one line and a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from gradledger.lessons.playground.reference import is_exact
from gradledger.lessons.playground.setup import Setup

SAME = 1e-5
"""Weights nearer than this, relative to their length, differ by rounding."""


def verdict(
    setup: Setup,
    judged: tuple[str, str, str, str],
    error: Mapping[str, object] | None,
    apart: float | None,
) -> dict[str, str]:
    """Its kind, a symbol, a headline and the sentence below it."""
    kind, symbol, headline, below = judged
    if error is not None:
        stopped = f"{error['kind']}: {error['message']}"
        return _told("error", "✕", "PyTorch stops here", f"{error['words']} It says: {stopped}")
    if kind == "good" and apart is not None:
        if not apart <= SAME:
            return _told("possible", "≠", "No rule speaks, but the weights differ", _why(setup))
        below = "No rule speaks, and the weights are those of the right loop up to rounding."
    return _told(kind, symbol, headline, below)


def _why(setup: Setup) -> str:
    if "divide" in setup.used and not is_exact(setup):
        return (
            "A window that is short or uneven is divided by N all the same. Many do that on purpose; it is "
            "not the update of a large batch. Weigh by samples, and it is."
        )
    if setup.used & {"divide", "weigh"} and setup.every == 1:
        return "A window of one needs no division: the loss is scaled for nothing."
    return (
        "This order does nothing that is certainly a mistake, and yet it is not the arithmetic of the right "
        "loop: compare what each step finds inside the gradients."
    )


def _told(kind: str, symbol: str, headline: str, below: str) -> dict[str, str]:
    return {"kind": kind, "symbol": symbol, "headline": headline, "below": below}
