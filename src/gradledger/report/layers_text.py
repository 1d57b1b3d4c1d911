"""One sample's way through the layers for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradledger.ledger.details import TensorSeen
from gradledger.report.cells import cells, cut, whole_words, wrap
from gradledger.report.plot import number
from gradledger.report.stage_facts import shape
from gradledger.report.style import StreamFacts
from gradledger.story.told import Layer

MOST = 40
"""Of a deeper model the first and the last layers are shown."""
NAME, VALUES = 16, 14
"""The least room for a name, and for the values on either side of a layer."""
HEAD = ("layer", "in", "out", "gradient")


def layers_text(
    layers: Sequence[Layer], loss: float | None, scale: float | None, facts: StreamFacts
) -> list[str]:
    """A table of the way there, and a line of norms for the way back."""
    shown: list[Layer | None] = list(layers)
    if len(shown) > MOST:
        shown[MOST // 2 : -MOST // 2] = [None]
    rows = [HEAD, *(_row(layer, facts) for layer in shown if layer is not None)]
    widths = [max(cells(row[column]) for row in rows) for column in range(4)]
    # A long name gives way to the numbers, and its end tells more than its beginning.
    widths[0] = min(widths[0], max(NAME, facts.width - sum(widths[1:]) - 10 - 2 * VALUES))
    room = (facts.width - sum(widths) - 12) // 2
    lines = []
    for layer, row in _with_head(shown, rows):
        if row is None:
            lines.append(f"  {facts.gap}")
            continue
        name = _end_of(row[0], widths[0], facts.ellipsis)
        columns = [_padded(text, width) for text, width in zip((name, *row[1:3]), widths, strict=False)]
        took, gave = "values in", "values out"
        if layer is not None:
            took, gave = _values(layer.takes, room), _values(layer.gives, room)
        told = "  ".join(["", *columns, f"{row[3]:>{widths[3]}}", _padded(took, room), gave])
        lines.append(cut(told, facts.width, facts.ellipsis).rstrip())
    lines[0] = facts.paint(lines[0], "quiet")
    arrow = " → " if facts.unicode else " -> "
    back = [f"{_name(layer, facts)} {number(layer.gradient)}" for layer in reversed(layers) if layer.gradient]
    way = arrow.join([f"loss {number(loss)}", *back[:MOST]])
    if scale is not None:
        way += f" (these carry the scale of {number(scale)})"
    lines += ["", *(f"  {line}" for line in wrap(f"and back: {way}", facts.width - 2))]
    return lines


def _with_head(
    layers: Sequence[Layer | None], rows: Sequence[tuple[str, ...]]
) -> Iterator[tuple[Layer | None, tuple[str, ...] | None]]:
    left = iter(rows)
    yield None, next(left)
    for layer in layers:
        yield layer, None if layer is None else next(left)


def _row(layer: Layer, facts: StreamFacts) -> tuple[str, ...]:
    shapes = (facts.plain(_shapes(tensors)) for tensors in (layer.takes, layer.gives))
    return (_name(layer, facts), *shapes, number(layer.gradient))


def _shapes(tensors: Sequence[TensorSeen]) -> str:
    """The first shape, and how many more there are."""
    more = f" +{len(tensors) - 1}" if len(tensors) > 1 else ""
    return shape(tensors[0].shape) + more if tensors else "-"


def _values(tensors: Sequence[TensorSeen], room: int) -> str:
    return whole_words([number(value) for tensor in tensors[:1] for value in tensor.values], room)


def _end_of(text: str, width: int, ellipsis: str) -> str:
    if cells(text) <= width:
        return text
    while cells(text) > width - cells(ellipsis):
        text = text[1:]
    return ellipsis + text


def _name(layer: Layer, facts: StreamFacts) -> str:
    return facts.plain(f"{layer.name} {layer.kind}" if layer.name else layer.kind)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))
