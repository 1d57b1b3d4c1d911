"""The table of epochs for the terminal."""

from __future__ import annotations

from collections.abc import Callable

from gradledger.report.cells import wrap
from gradledger.report.plot import number
from gradledger.report.style import StreamFacts
from gradledger.story.told import Epoch, Story

_Text = Callable[[Epoch], str]

MOST = 24
"""Of more epochs the first and the last are shown."""


def epochs_text(story: Story, facts: StreamFacts) -> list[str]:
    """A row for each epoch, its observation beside it."""
    shown: list[Epoch | None] = list(story.epochs)
    if len(shown) > MOST:
        shown[MOST // 2 : -MOST // 2] = [None]
    columns = [(facts.plain(head), text) for head, text in epoch_columns(story)]
    texts = [[text(row) for row in story.epochs] for _, text in columns]
    widths = [max(map(len, (head, *column))) for (head, _), column in zip(columns, texts, strict=True)]
    heads = [f"{head:>{width}}" for (head, _), width in zip(columns, widths, strict=True)]
    lines = [facts.paint("  " + "  ".join([*heads, "observation"]), "quiet")]
    indent = 2 + sum(widths) + 2 * len(widths)
    for row in shown:
        if row is None:
            left_out = len(story.epochs) - len(shown) + 1
            lines.append(f"  {facts.gap} {left_out} more")
            continue
        numbers = "  ".join(f"{text(row):>{width}}" for (_, text), width in zip(columns, widths, strict=True))
        room = facts.width - indent
        told = wrap(row.observation, room) if room >= 20 else []
        lines.append(f"  {numbers}  {told[0] if told else ''}".rstrip())
        lines += [" " * indent + more for more in told[1:]]
        if not told:
            lines += [f"    {line}" for line in wrap(row.observation, facts.width - 4)]
    return lines


def epoch_columns(story: Story) -> list[tuple[str, _Text]]:
    """The heads of the table's columns but the last, and how their texts are made."""
    columns: list[tuple[str, _Text]] = [
        ("steps" if story.by_steps else "epoch", lambda row: row.label),
        ("loss", lambda row: number(row.loss, 4)),
    ]
    if any(row.accuracy is not None for row in story.epochs):
        columns.append(("accuracy", lambda row: number(row.accuracy)))
    if story.metric is not None:
        columns.append((story.metric[:12], lambda row: number(row.metric)))
    columns += [
        ("norm", lambda row: number(row.norm)),
        ("updates", lambda row: str(row.updates)),
        ("rate", lambda row: _rate(row.rate)),
    ]
    return columns


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.4g}"
