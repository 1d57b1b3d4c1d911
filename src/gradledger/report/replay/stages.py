"""The stages of one training step and the layers of one forward pass, as a detailed recording shows them."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.ledger import details as seen
from gradledger.ledger import events as ev
from gradledger.report.replay.lines import Lines

MOST = 16
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

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._stages: list[dict[str, object]] = []
        self._layers: dict[str, dict[str, object]] = {}
        self._begun = self._done = False
        self._batches = 0

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
        return {"stages": self._stages, "layers": list(self._layers.values())}

    def _stage(self, event: ev.Event) -> None:
        word = _WORDS.get(type(event))
        if word is None:
            return
        if isinstance(event, seen.BatchTaken):
            stepped = any(stage["name"] in ("step", "skipped step") for stage in self._stages)
            if self._begun and (stepped or len(self._stages) >= MOST):
                self._done = True
                return
            self._begun = True
        if not self._begun or len(self._stages) >= MOST:
            return
        stage: dict[str, object] = {"name": word, "line": self._lines.number(event.site)}
        match event:
            case seen.BatchTaken():
                stage["out"] = _tensors(event.tensors)
            case seen.ForwardSeen():
                stage["module"] = event.module
                stage["in"], stage["out"] = _tensors(event.inputs), _tensors(event.outputs)
            case seen.LossSeen():
                stage["value"] = _number(event.value)
            case _:
                pass
        self._stages.append(stage)

    def _layer(self, event: seen.LayerSeen) -> None:
        if event.module not in self._layers and len(self._layers) < LAYERS:
            self._layers[event.module] = {
                "module": event.module,
                "kind": event.kind,
                "in": _tensors(event.inputs),
                "out": _tensors(event.outputs),
            }


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
