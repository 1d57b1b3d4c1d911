"""What a graph keeps is counted once, however many operations keep it."""

from __future__ import annotations

import re

from gradledger.lessons.catalogue import lesson
from gradledger.lessons.exhibit import run_exhibit


def test_the_price_counts_inputs_and_activations_once() -> None:
    shown = run_exhibit(lesson(2).folder, "the_price")
    one, eight = (int(found) for found in re.findall(r"(\d+) KiB", shown.printed))
    # Sixteen inputs of 64 numbers, sixteen activations of 256, and a few bytes of the loss.
    assert one == (16 * 64 + 16 * 256) * 4 // 1024
    assert eight == 8 * one
