"""The garbage collector in a process of our own, which keeps nearly all that it makes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 1_000_000
"""New objects between two looks; by default it is 700, and at start-up every look finds nothing."""


@contextmanager
def seldom() -> Iterator[None]:
    """Collect garbage rarely, and do not go through everything once more when the process ends."""
    gc.set_threshold(SELDOM)
    try:
        yield
    finally:
        gc.freeze()
