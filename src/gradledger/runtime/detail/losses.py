"""The closer look at backward(): the loss it starts from, and what it brings to each layer."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.amp import grad_scaler

from gradledger.ledger import events as ev
from gradledger.ledger.details import AccuracySeen, LayerGradientSeen, LossSeen
from gradledger.runtime import graphs
from gradledger.runtime.detail.batches import BatchLook
from gradledger.runtime.detail.by_hand import ByHandLook
from gradledger.runtime.detail.criteria import CriterionLook
from gradledger.runtime.detail.forwards import ForwardLook, own_parameters
from gradledger.runtime.detail.looking import gradient_norm, one_number
from gradledger.runtime.detail.telling import Telling, careful
from gradledger.runtime.detail.turns import TurnLook
from gradledger.runtime.detail.written import written
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches

Before = dict[tuple[int, str], list[tuple[Tensor, Tensor | None]]]


class LossLook:
    """Sees torch.autograd.backward from the outside."""

    def __init__(
        self,
        telling: Telling,
        observer: Observer,
        batches: BatchLook,
        criteria: CriterionLook,
        forwards: ForwardLook,
        turns: TurnLook,
        by_hand: ByHandLook,
    ) -> None:
        self.telling = telling
        self._observer = observer
        self._batches = batches
        self._criteria = criteria
        self._forwards = forwards
        self._turns = turns
        self._by_hand = by_hand
        self._shown = False
        """Whether the pass that is running came by here."""
        self._scaled: weakref.ref[Tensor] | None = None
        self._unscaled: float | None = None
        """The last loss that a scaler has scaled, and its value before."""
        self._unscaled_birth: int | None = None
        self._clears: list[int] = []
        """When gradients were cleared since the last pass, by the age of the graph."""

    def install(self, patches: Patches) -> None:
        """Put the probes in place."""
        here = self._observer.here

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
                if here.in_backward:
                    return original(tensors, *args, **kwargs)
                before = self._before(tensors)
                result = original(tensors, *args, **kwargs)
                if before:
                    self._after(before)
                return result

            return backward

        def make_scale(original: Callable[..., Any]) -> Callable[..., Any]:
            def scale(scaler: Any, outputs: Any) -> Any:
                result = original(scaler, outputs)
                self._note_scaling(outputs, result)
                return result

            return scale

        self.telling.ears.append(self._hear)
        patches.wrap(torch.autograd, "backward", make)
        patches.wrap(grad_scaler.GradScaler, "scale", make_scale)

    def _hear(self, event: ev.Event) -> None:
        """An accumulator's passes run behind the probes: of their loss only the function's call is known."""
        if isinstance(event, ev.BackwardRan):
            if not self._shown:
                called, accuracy = self._criteria.latest()
                if accuracy is not None:
                    self.telling.tell(accuracy)
                if called is not None and called.value is not None:
                    self.telling.tell(LossSeen(event.site, called.value, called.value, called.samples))
            self._shown = False
            self._clears = []
        elif isinstance(event, ev.GradientCleared) and self.telling.closely:
            self._clears.append(graphs.now())

    @careful
    def _note_scaling(self, outputs: Any, result: Any) -> None:
        if isinstance(outputs, Tensor) and isinstance(result, Tensor):
            self._scaled, self._unscaled = weakref.ref(result), one_number(outputs)
            self._unscaled_birth = None if outputs.grad_fn is None else graphs.born(outputs.grad_fn)

    @careful
    def _before(self, tensors: Any) -> Before | None:
        site = self._observer.sites.find(2)
        self._turns.passes(site)
        self._shown = True
        loss = tensors if isinstance(tensors, Tensor) else tensors[0] if len(tensors) == 1 else None
        called, accuracy = self._criteria.differentiated(tensors)
        if called is not None or accuracy is not None:
            self._by_hand.not_needed()
        else:
            counts = self._by_hand.answered(tensors)
            if counts is not None and counts[1]:
                accuracy = AccuracySeen(site, counts[0] / counts[1], counts[1])
        if accuracy is not None:
            self.telling.tell(accuracy)
        value = None if loss is None else one_number(loss)
        birth = None if loss is None or loss.grad_fn is None else graphs.born(loss.grad_fn)
        if self._scaled is not None and self._scaled() is loss:
            value, birth = self._unscaled, self._unscaled_birth
        if value is not None and called is not None:
            self.telling.tell(LossSeen(site, value, called.value, called.samples))
        elif value is not None and not self.telling.closely:
            self.telling.tell(LossSeen(site, value, None, self._batches.samples))
        elif value is not None:
            since = 0 if birth is None else sum(birth < cleared for cleared in self._clears)
            self.telling.tell(LossSeen(site, value, None, self._batches.samples, written(site), since))
        if not self.telling.closely:
            return None
        own = own_parameters(self._forwards.models)
        return {name: [(p, _copy(p.grad)) for p in params] for name, params in own.items()}

    @careful
    def _after(self, before: Before) -> None:
        for (model, name), pairs in reversed(before.items()):
            added = [p.grad if old is None or p.grad is None else p.grad.detach() - old for p, old in pairs]
            if any(grad is not None for grad in added):
                self.telling.tell(LayerGradientSeen(None, name, gradient_norm(added), model))


def _copy(grad: Tensor | None) -> Tensor | None:
    return None if grad is None else grad.detach().clone()
