"""The stages of one training step and the layers of one forward pass, as a detailed recording shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradledger.ledger import details as seen
from gradledger.ledger import events as ev
from gradledger.report.replay.lines import Lines

MOST = 24
"""Stages that are shown of one step."""
LAYERS = 120

_WORDS: dict[type[ev.Event], str] = {
    seen.BatchTaken: "data",
    seen.ForwardSeen: "forward",
    seen.LossSeen: "loss",
    ev.BackwardRan: "backward",
    ev.GradientsUnscaled: "unscale",
    ev.GradientsClipped: "clip",
    ev.OptimizerStepped: "step",
    ev.StepSkipped: "skipped step",
    ev.GradientCleared: "clear",
    ev.SchedulerStepped: "scheduler",
    ev.ScalerUpdated: "scale",
}


class Stages:
    """Collects the first whole step, from batch to update, and the layers of its forward pass."""

    def __init__(self, lines: Lines, state: Callable[[], str]) -> None:
        self._lines = lines
        self._state = state
        """What the gradients hold now, as a letter."""
        self._stages: dict[tuple[str, int], dict[str, object]] = {}
        self._layers: dict[str, dict[str, object]] = {}
        self._first: type[ev.Event] | None = None
        self._stepped = self._done = False

    def take(self, event: ev.Event) -> None:
        """Read one event."""
        if isinstance(event, seen.LayerSeen):
            self._layer(event)
        elif isinstance(event, seen.LayerGradientSeen):
            layer = self._layers.get(event.module)
            if layer is not None and "gradient" not in layer:
                layer["gradient"] = event.norm
        elif not self._done:
            self._stage(event)

    def data(self) -> dict[str, object]:
        """As plain values."""
        return {"stages": list(self._stages.values()), "layers": list(self._layers.values())}

    def _stage(self, event: ev.Event) -> None:
        word = _WORDS.get(type(event))
        if word is None:
            return
        if self._first is None and isinstance(event, seen.Detail):
            self._first = type(event)
        if self._first is None:  # nothing was looked at yet
            return
        if type(event) is self._first and self._stepped:
            self._done = True
            return
        self._stepped |= word in ("step", "skipped step")
        key = word, self._lines.number(event.site)
        stage = self._stages.get(key)
        if stage is None:
            if len(self._stages) >= MOST:
                return
            stage = self._stages[key] = {"name": word, "line": key[1], "times": 0, **_shown(event)}
        stage["times"] = int(str(stage["times"])) + 1
        stage["state"] = self._state()

    def _layer(self, event: seen.LayerSeen) -> None:
        if event.module not in self._layers and len(self._layers) < LAYERS:
            self._layers[event.module] = {
                "module": event.module,
                "kind": event.kind,
                "in": _tensors(event.inputs),
                "out": _tensors(event.outputs),
            }


def _shown(event: ev.Event) -> dict[str, object]:
    match event:
        case seen.BatchTaken():
            return {"out": _tensors(event.tensors)}
        case seen.ForwardSeen():
            return {"module": event.module, "in": _tensors(event.inputs), "out": _tensors(event.outputs)}
        case seen.LossSeen():
            return {"value": _number(event.value)}
        case _:
            return {}


def _tensors(tensors: Sequence[seen.TensorSeen]) -> list[dict[str, object]]:
    return [
        {
            "name": t.name,
            "shape": list(t.shape),
            "dtype": t.dtype,
            "values": [_number(value) for value in t.values[:6]],
        }
        for t in tensors[:4]
    ]


def _number(value: float) -> str:
    """Short, and also right for what JSON has no number for."""
    return f"{value:.4g}"
