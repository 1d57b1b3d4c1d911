"""One sample's way through the layers, and the gradients on the way back."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from gradledger.ledger.details import ForwardSeen, LayerGradientSeen, LayerSeen, LossSeen, TensorSeen
from gradledger.ledger.events import BackwardRan, Event
from gradledger.ledger.record import replace
from gradledger.story.told import Layer


def layers(window: Iterable[Event]) -> tuple[tuple[Layer, ...], float | None, int | None]:
    """The layers of the window's first forward for the batch's first sample, that batch's loss and scaler."""
    seen: list[LayerSeen] = []
    batch: int | None = None
    way = _Way()
    for event in window:
        if isinstance(event, LayerSeen) and batch is None:
            seen.append(event)
        elif isinstance(event, ForwardSeen) and batch is None and seen:
            batch, way.model = _batch(event), seen[0].model
        elif batch is not None:
            way.hear(event)
    told = tuple(
        Layer(
            layer.module,
            layer.kind,
            tuple(_of_sample(tensor, batch) for tensor in layer.inputs),
            tuple(_of_sample(tensor, batch) for tensor in layer.outputs),
            way.norms.get(layer.module),
        )
        for layer in seen
    )
    return told, way.loss, way.scaler


class _Way:
    """The first pass that came back to this model, whose loss may be another than the window's first."""

    def __init__(self) -> None:
        self.model = 0
        self.loss: float | None = None
        self.scaler: int | None = None
        self.norms: dict[str, float] = {}
        self._passes = 0
        self._lost: float | None = None
        """The loss of the pass that comes."""
        self._pass: tuple[float | None, int | None] = None, None
        """The loss and the scaler of the pass that ran last."""

    def hear(self, event: Event) -> None:
        """One more event after the model's forward."""
        if isinstance(event, LossSeen):
            self._lost = event.value if event.criterion is None else event.criterion
            if not self._passes:
                self.loss = self._lost
        elif isinstance(event, BackwardRan):
            self._passes += 1
            self._pass = self._lost, event.scaled_by
            if any(self.norms.values()):
                self.model = -1  # it has come back
                return
            self.norms = {}
            if self._passes == 1:
                self.loss, self.scaler = self._pass
        elif isinstance(event, LayerGradientSeen) and event.model == self.model:
            self.norms.setdefault(event.module, event.norm)
            if event.norm:
                self.loss, self.scaler = self._pass


def _batch(model: ForwardSeen) -> int:
    """How many samples went through, or 0: what has one dimension and becomes another length is a sample."""
    first = next((tensor.shape for tensor in model.inputs if tensor.shape), ())
    alone = len(first) == 1 and not any(given.shape[:1] == first for given in model.outputs)
    return first[0] if first and not alone else 0


def _of_sample(tensor: TensorSeen, batch: int | None) -> TensorSeen:
    """The first sample's part of a tensor that has the batch as its first dimension."""
    if not tensor.shape or tensor.shape[0] != batch:
        return tensor
    shape = tensor.shape[1:]
    return replace(tensor, shape=shape, values=tensor.values[: prod(shape)])
