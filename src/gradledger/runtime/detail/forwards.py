"""The closer look at models: what goes into the outermost one and comes out, and each layer inside."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as calls
from torch.utils.hooks import RemovableHandle

from gradledger.ledger.details import ForwardSeen, LayerSeen
from gradledger.runtime.detail.looking import seen_in
from gradledger.runtime.detail.telling import Telling, careful
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches

MOST_LAYERS = 200


class _Calls(threading.local):
    """The modules that run in this thread, outermost first, and whether they called others."""

    def __init__(self) -> None:
        self.stack: list[list[Any]] = []


class ForwardLook:
    """Hears of every module's call, while a step is looked at closely, through torch's global hooks."""

    def __init__(self, telling: Telling, observer: Observer) -> None:
        self.telling = telling
        self.models: list[nn.Module] = []
        """The outermost models that were called since the last step."""
        self._observer = observer
        self._calls = _Calls()
        self._hooks: list[RemovableHandle] = []
        self._names: dict[int, str] = {}
        self._layers_of: dict[int, int] = {}
        """Of each model the last window in which its layers were told."""
        self._told = 0

    def install(self, patches: Patches) -> None:
        """Put the probe in place."""
        self.telling.when_changed.append(self._changed)
        patches.later(self._remove)
        self._changed()

    def _changed(self) -> None:
        self._remove()
        self.models = []
        self._layers_of = {}
        if self.telling.closely:
            self._hooks = [
                calls.register_module_forward_pre_hook(self._enters),
                calls.register_module_forward_hook(self._leaves, with_kwargs=True, always_call=True),
            ]

    def _remove(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._calls = _Calls()

    def _enters(self, module: nn.Module, args: Any) -> None:
        if not torch.compiler.is_compiling():
            self._entered(module)

    def _leaves(self, module: nn.Module, args: Any, *rest: Any) -> None:
        # Where forward has raised, torch leaves the keywords out.
        if not torch.compiler.is_compiling():
            self._left(module, args, rest[0] if len(rest) > 1 else {}, rest[-1])

    @careful
    def _entered(self, module: nn.Module) -> None:
        stack = self._calls.stack
        if stack:
            stack[-1][1] = True
        elif self._is_model(module):
            self._names = {id(inner): name for name, inner in module.named_modules()}
            if module not in self.models:
                self.models.append(module)
        else:
            return
        stack.append([module, False])

    def _is_model(self, module: nn.Module) -> bool:
        # A pass that runs forward again (checkpointing) and an evaluation are no part of the flow.
        if not torch.is_grad_enabled() or self._observer.here.in_backward:
            return False
        return any(param.requires_grad for param in module.parameters())

    @careful
    def _left(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        stack = self._calls.stack
        while stack and stack[-1][0] is not module:
            stack.pop()  # an exception was caught on the way
        if not stack:
            return
        model = self.models.index(stack[0][0])
        _, called_others = stack.pop()
        if output is None:
            return  # it raised
        inputs = (*seen_in(args if len(args) != 1 else args[0]), *seen_in(kwargs))
        outputs = seen_in(output)
        if not called_others and self._wants_layer(model):
            name = self._names.get(id(module), "")
            self.telling.tell(LayerSeen(None, name, type(module).__name__, inputs, outputs, model))
        if not stack:
            site = self._observer.sites.find(2)
            self.telling.tell(ForwardSeen(site, type(module).__name__, inputs, outputs))
            self._layers_of[model], self._told = self.telling.closed + 1, 0

    def _wants_layer(self, model: int) -> bool:
        """Only the first forward of a window is shown layer by layer."""
        if self._layers_of.get(model, 0) > self.telling.closed:
            return False
        self._told += 1
        return self._told <= MOST_LAYERS


def own_parameters(models: list[nn.Module]) -> dict[tuple[int, str], list[nn.Parameter]]:
    """The parameters that belong to each module itself, by the model's number and the module's name."""
    found: dict[tuple[int, str], list[nn.Parameter]] = {}
    for number, model in enumerate(models):
        for name, inner in model.named_modules():
            with suppress(ValueError):  # lazy parameters
                own = [param for param in inner.parameters(recurse=False) if param.requires_grad]
                if own:
                    found.setdefault((number, name), own)
    return found
