"""The story of a run as the page draws it: curves, stages, layers and epochs in plain values."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.ledger.details import TensorSeen
from gradledger.ledger.site import Site
from gradledger.report.epochs_text import epoch_columns
from gradledger.report.plot import number
from gradledger.report.replay.lines import Lines
from gradledger.report.stage_facts import chosen, digits_of, shape, stage_facts, title_of, window_of
from gradledger.story.told import Curve, Epoch, Gradients, Layer, Stage, Story

MOST_STAGES = 60
MOST_LAYERS = 120
MOST_EPOCHS = 200
_LETTERS = {"none": "N", "zero": "Z", "fresh": "F", "accumulated": "A", "stale": "U", "by hand": "H"}


def story_data(story: Story, lines: Lines, *, detailed: bool) -> dict[str, object]:
    """All of it; without details only what curves the audit itself can give."""
    series = {name: _curve(curve, lines) for name, curve in story.curves.items()}
    window = window_of(story.stages)
    stages = [
        item if isinstance(item, str) else _stage(*item, window, lines) for item in chosen(story.stages)
    ]
    layers = [_layer(layer) for layer in story.layers]
    return {
        "detailed": detailed,
        "curves": {"series": series, "skips": list(story.skips), "epochs": list(story.epoch_ends)},
        "step": story.step,
        "steps": story.steps,
        "stages": stages[:MOST_STAGES],
        "layers": _shortened(layers, MOST_LAYERS),
        "way": {"loss": number(story.loss), "scale": None if story.scale is None else number(story.scale)},
        "epochs": _epochs(story) if detailed else None,
    }


def _curve(curve: Curve, lines: Lines) -> dict[str, object]:
    """A curve shortened to what an eye can see."""
    values = zip(curve.at, curve.values, curve.lows, curve.highs, strict=True)
    points = [
        [at, *(float(f"{v:.5g}") for v in ((mean,) if low == high else (mean, low, high)))]
        for at, mean, low, high in values
    ]
    return {
        "points": points,
        "width": curve.width,
        "broken": curve.broken,
        "line": _line(curve.path, curve.line, lines),
    }


def _stage(count: int, stage: Stage, window: int, lines: Lines) -> dict[str, object]:
    return {
        "number": count,
        "name": title_of(stage, window),
        "line": _line(stage.path, stage.line, lines),
        "in": [_tensor(tensor, digits_of(stage)) for tensor in stage.takes[:6]],
        "out": [_tensor(tensor, digits_of(stage)) for tensor in stage.gives[:6]],
        "fact": stage_facts(stage),
        "kind": stage.kind,
        "before": _held(stage.before),
        "after": _held(stage.after),
    }


def _held(gradients: Gradients) -> list[list[str]]:
    """What each lot of gradients held: the timeline's letter for it, and words."""
    return [[_letter(part), part.text] for part in gradients.parts or (gradients,)]


def _letter(gradients: Gradients) -> str:
    return "S" if gradients.stale and gradients.micro_batches else _LETTERS[gradients.state]


def _layer(layer: Layer) -> dict[str, object]:
    return {
        "module": layer.name,
        "kind": layer.kind,
        "in": _shapes(layer.takes),
        "out": _shapes(layer.gives),
        "gradient": None if layer.gradient is None else number(layer.gradient),
        "takes": _values(layer.takes),
        "values": _values(layer.gives),
    }


def _values(tensors: Sequence[TensorSeen]) -> list[str]:
    return [number(value) for tensor in tensors[:1] for value in tensor.values]


def _epochs(story: Story) -> dict[str, object]:
    columns = epoch_columns(story)

    def row(epoch: Epoch) -> list[str]:
        return [*(text(epoch) for _, text in columns), epoch.observation]

    rows = [row(epoch) for epoch in story.epochs]
    return {
        "heads": [*(head for head, _ in columns), "observation"],
        "rows": _shortened(rows, MOST_EPOCHS),
        "count": len(rows),
        "by_steps": story.by_steps,
        "summary": story.observation,
    }


def _shortened(rows: list[dict[str, object]] | list[list[str]], most: int) -> list[object]:
    """The first and the last, with their number between for those left out."""
    if len(rows) <= most:
        return [*rows]
    return [*rows[: most // 2], len(rows) - most, *rows[-(most // 2) :]]


def _tensor(tensor: TensorSeen, digits: int) -> dict[str, object]:
    size = 1
    for length in tensor.shape:
        size *= length
    values = [number(value, digits) for value in tensor.values]
    return {
        "name": tensor.name,
        "shape": shape(tensor.shape),
        "dtype": tensor.dtype,
        "values": values,
        "more": size > len(values),
    }


def _shapes(tensors: Sequence[TensorSeen]) -> str:
    return ", ".join(shape(tensor.shape) for tensor in tensors)


def _line(path: str | None, line: int | None, lines: Lines) -> int:
    return -1 if path is None or line is None else lines.number(Site(path, line))
