"""Asking for a gradient first, and keeping numbers in place of graphs."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.repair.made import top


def lines(text: str) -> str:
    return dedent(text).lstrip("\n")


def test_a_comprehension_asks_in_itself() -> None:
    text = "norm = sum(p.grad.norm() for p in model.parameters())\n"
    after = top("GL104", text, "p.grad")
    assert after == text.replace("()) ", "").replace("parameters())", "parameters() if p.grad is not None)")


def test_a_value_that_is_needed_below_skips_the_whole_turn() -> None:
    text = "for p in ps:\n\tg = p.grad.data\n\tlog(g)\n"
    assert (
        top("GL104", text, "p.grad")
        == "for p in ps:\n\tif p.grad is None:\n\t\tcontinue\n\tg = p.grad.data\n\tlog(g)\n"
    )


LOOP = "total = 0.0\nfor x in d:\n    loss = f(x)\n    loss.backward()\n    {}\n{}\n"


@pytest.mark.parametrize(
    ("kept", "later", "better"),
    [
        ("total += loss", "print(total)", "total += loss.item()"),
        ("total += loss", "print(total.item())", "total += loss.detach()"),
        ("total = total + loss", "print(total)", "total = total + loss.item()"),
        ("total += loss * 2", "print(total)", "total += (loss * 2).detach()"),
        ("total += (loss * 2)", "print(total)", "total += (loss * 2).detach()"),
        ("history.append(loss)", "torch.stack(history)", "history.append(loss.detach())"),
        ("history.append((1, loss))", "plot(history)", "history.append((1, loss.detach()))"),
        ("total = 0.9 * total + 0.1 * loss", "print(total)", "total = (0.9 * total + 0.1 * loss).detach()"),
    ],
)
def test_the_number_is_kept_in_place_of_the_graph(kept: str, later: str, better: str) -> None:
    text = LOOP.format(kept, later)
    after = top("GL107", text, kept)
    assert after == LOOP.format(better, later) or "0.9" in kept
