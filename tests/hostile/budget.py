"""How much is tried: little each time, always the same; much and always new when somebody asks for it."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

USUAL = 300
FUZZ = int(os.environ.get("GRADLEDGER_FUZZ", str(USUAL)))
NIGHTLY = "GRADLEDGER_FUZZ" in os.environ


def chances(count: int) -> Iterator[random.Random]:
    """So many sources of randomness, as a multiple of what is usual; the seed shows in a failure's locals."""
    first = random.SystemRandom().randrange(10**9) if NIGHTLY else 0
    for seed in range(first, first + max(1, count * FUZZ // USUAL)):
        chance = random.Random(seed)
        chance.name = f"seed {seed}"  # type: ignore[attr-defined]
        yield chance


def examples(count: int) -> int:
    """So many examples for Hypothesis, as a multiple of what is usual."""
    return max(5, count * FUZZ // USUAL)
