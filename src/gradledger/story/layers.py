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
    norms: dict[str, float] = {}
    batch: int | None = None
    loss: float | None = None
    scaler: int | None = None
    passed = 0
    for event in window:
        if isinstance(event, LayerSeen) and batch is None:
            seen.append(event)
        elif isinstance(event, ForwardSeen) and batch is None and seen:
            batch = _batch(event)
        elif batch is None:
            continue  # another model's, which was not looked into
        elif isinstance(event, LossSeen) and loss is None:
            loss = event.value if event.criterion is None else event.criterion
        elif isinstance(event, BackwardRan):
            passed += 1
            scaler = event.scaled_by if passed == 1 else scaler
        elif isinstance(event, LayerGradientSeen) and passed == 1:
            norms.setdefault(event.module, event.norm)
    told = tuple(
        Layer(
            layer.module,
            layer.kind,
            tuple(_of_sample(tensor, batch) for tensor in layer.inputs),
            tuple(_of_sample(tensor, batch) for tensor in layer.outputs),
            norms.get(layer.module),
        )
        for layer in seen
    )
    return told, loss, scaler


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
