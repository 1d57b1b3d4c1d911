"""One sample's way through the layers for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.report.cells import cells, cut, wrap
from gradledger.report.plot import number
from gradledger.report.stage_facts import shape
from gradledger.report.style import StreamFacts
from gradledger.story.told import Layer

MOST = 40
"""Of a deeper model the first and the last layers are shown."""


def layers_text(
    layers: Sequence[Layer], loss: float | None, scale: float | None, facts: StreamFacts
) -> list[str]:
    """A table of the way there, and a line of norms for the way back."""
    rows: list[tuple[str, ...] | None] = [_row(layer, facts) for layer in layers]
    if len(rows) > MOST:
        rows[MOST // 2 : -MOST // 2] = [None]
    head = ("layer", "in", "out", "gradient", "first values of the output")
    table = [head, *(row for row in rows if row is not None)]
    widths = [max(cells(row[column]) for row in table) for column in range(4)]
    lines = []
    for row in (head, *rows):
        if row is None:
            lines.append(f"  {facts.gap}")
            continue
        columns = [_padded(text, width) for text, width in zip(row[:3], widths, strict=False)]
        line = "  ".join(["", *columns, f"{row[3]:>{widths[3]}}", row[4]])
        lines.append(cut(line, facts.width, facts.ellipsis))
    lines[0] = facts.paint(lines[0], "quiet")
    arrow = " → " if facts.unicode else " -> "
    back = [f"{_name(layer, facts)} {number(layer.gradient)}" for layer in reversed(layers) if layer.gradient]
    way = arrow.join([f"loss {number(loss)}", *back[:MOST]])
    if scale is not None:
        way += f" (these carry the scale of {number(scale)})"
    lines += ["", *(f"  {line}" for line in wrap(f"and back: {way}", facts.width - 2))]
    return lines


def _row(layer: Layer, facts: StreamFacts) -> tuple[str, ...]:
    values = [number(value) for tensor in layer.gives[:1] for value in tensor.values]
    return (
        _name(layer, facts),
        ", ".join(facts.plain(shape(tensor.shape)) for tensor in layer.takes),
        ", ".join(facts.plain(shape(tensor.shape)) for tensor in layer.gives),
        number(layer.gradient),
        " ".join(values),
    )


def _name(layer: Layer, facts: StreamFacts) -> str:
    return facts.plain(f"{layer.name} {layer.kind}" if layer.name else layer.kind)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))
