"""Runs a program and writes down its passes, steps, clips and clearings, with the gradients themselves."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from types import FrameType
from typing import Any
from unittest.mock import patch

import torch
from torch.optim.lr_scheduler import LRScheduler
from torch.optim.optimizer import register_optimizer_step_pre_hook

Vector = torch.Tensor


@dataclass(frozen=True)
class Moment:
    """When and where something happened."""

    time: int
    line: int
    epoch: int
    inside: bool
    """The loop over the batches was running."""


@dataclass(frozen=True)
class Pass:
    """One backward(): the gradients of the mean loss itself, for each optimizer's parameters."""

    at: Moment
    factor: float
    """What the mean was multiplied by on its way to the root."""
    gradients: tuple[Vector, ...]


@dataclass
class Content:
    """What an optimizer's `.grad` held at a step or a clip."""

    at: Moment
    optimizer: int
    gradient: Vector
    scaler: bool = False
    """The step went through the scaler."""
    weights: dict[int, float] | None = None
    """How much of each pass is in it, once that is solved."""


@dataclass(frozen=True)
class Cleared:
    """An optimizer's `.grad` became nothing or zero."""

    at: Moment
    optimizer: int


@dataclass(frozen=True)
class Call:
    """A scheduler moved on, or a scaler was asked to step an optimizer."""

    at: Moment
    optimizer: int


class Reason(Enum):
    """Why torch refuses a step through a scaler, in its own words."""

    TWICE = "step() has already been called"
    UNSCALED = "Attempted step but _scale is None"
    EMPTY = "No inf checks were recorded for this optimizer"
    OTHER = ""


@dataclass(frozen=True)
class Crash:
    """The program ended with an error at this line."""

    line: int
    reason: Reason


@dataclass
class Record:
    """Everything that happened, in its order."""

    passes: list[Pass] = field(default_factory=list)
    steps: list[Content] = field(default_factory=list)
    clips: list[Content] = field(default_factory=list)
    clearings: list[Cleared] = field(default_factory=list)
    advances: list[Call] = field(default_factory=list)
    scaler_steps: list[Call] = field(default_factory=list)
    scaler_updates: list[Moment] = field(default_factory=list)
    built: list[int] = field(default_factory=list)
    """The lines at which the optimizers were made."""
    crash: Crash | None = None
    end: int = 0
    """The time at which the program ended."""


class Recorder:
    """Watches torch from outside while the program runs."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        self.record = Record()
        self._optimizers: list[Any] = []
        self._filled: list[bool] = []
        self._means: list[Vector] = []
        self._scaling = False
        self._time = 0
        self._before = Moment(0, 0, 0, inside=False)
        self._noise = torch.Generator().manual_seed(1)
        self._span = _batch_loop(text)

    def run(self) -> Record:
        """Run the program to its end or its error."""
        code = compile(self.text, self.path, "exec")
        with self._patched(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sys.settrace(self._trace)
            try:
                exec(code, {"__name__": "__main__"})
            except Exception as error:
                sys.settrace(None)
                reason = next(reason for reason in Reason if reason.value in str(error))
                self.record.crash = Crash(_line_of(error, self.path), reason)
            finally:
                sys.settrace(None)
        self.record.end = self._tick()
        return self.record

    @contextmanager
    def _patched(self) -> Iterator[None]:
        functional, scaler = torch.nn.functional, torch.amp.GradScaler
        with ExitStack() as stack:
            for owner, name, wrapper in (
                (functional, "mse_loss", self._mean),
                (torch.Tensor, "backward", self._backward),
                (torch.optim.Optimizer, "__init__", self._build),
                (torch.nn.utils, "clip_grad_norm_", self._clip),
                (scaler, "step", self._scaler_step),
                (scaler, "update", self._scaler_update),
                (LRScheduler, "step", self._advance),
            ):
                stack.enter_context(patch.object(owner, name, wrapper(getattr(owner, name))))
            hook = register_optimizer_step_pre_hook(lambda optimizer, *_: self._step(optimizer))
            stack.callback(hook.remove)
            yield

    # -- what is wrapped --------------------------------------------------------------------------------

    def _mean(self, original: Any) -> Any:
        def mse_loss(outputs: Vector, targets: Vector, **options: Any) -> Vector:
            # Fresh targets each time: no two passes have the same gradient, so each can be told apart.
            fresh = torch.randn(targets.shape, generator=self._noise, dtype=targets.dtype)
            self._means.append(original(outputs, fresh, **options))
            return self._means[-1]

        return mse_loss

    def _backward(self, original: Any) -> Any:
        def backward(root: Vector, *args: Any, **options: Any) -> None:
            mean = self._means[-1]
            gradients = tuple(self._gradient(mean, optimizer) for optimizer in self._optimizers)
            original(root, *args, **options)
            self.record.passes.append(Pass(self._now(), float(root / mean), gradients))

        return backward

    def _gradient(self, mean: Vector, optimizer: Any) -> Vector:
        parameters = _parameters(optimizer)
        found = torch.autograd.grad(mean, parameters, retain_graph=True, allow_unused=True)
        return _joined(parameters, found)

    def _build(self, original: Any) -> Any:
        def __init__(optimizer: Any, *args: Any, **options: Any) -> None:
            original(optimizer, *args, **options)
            self._optimizers.append(optimizer)
            self._filled.append(False)
            self.record.built.append(self._now().line)

        return __init__

    def _step(self, optimizer: Any) -> None:
        self.record.steps.append(self._content(optimizer))

    def _clip(self, original: Any) -> Any:
        def clip_grad_norm_(parameters: Any, *args: Any, **options: Any) -> Any:
            parameters = list(parameters)
            for optimizer in self._optimizers:
                if parameters and parameters[0] is _parameters(optimizer)[0]:
                    self.record.clips.append(self._content(optimizer))
            return original(parameters, *args, **options)

        return clip_grad_norm_

    def _content(self, optimizer: Any) -> Content:
        parameters = _parameters(optimizer)
        gradient = _joined(parameters, [parameter.grad for parameter in parameters])
        return Content(self._now(), self._optimizers.index(optimizer), gradient, self._scaling)

    def _call(self, optimizer: Any) -> Call:
        return Call(self._now(), self._optimizers.index(optimizer))

    def _scaler_step(self, original: Any) -> Any:
        def step(scaler: Any, optimizer: Any, *args: Any, **options: Any) -> Any:
            self.record.scaler_steps.append(self._call(optimizer))
            self._scaling = scaler.is_enabled()
            try:
                return original(scaler, optimizer, *args, **options)
            finally:
                self._scaling = False

        return step

    def _scaler_update(self, original: Any) -> Any:
        def update(scaler: Any, *args: Any, **options: Any) -> Any:
            self.record.scaler_updates.append(self._now())
            return original(scaler, *args, **options)

        return update

    def _advance(self, original: Any) -> Any:
        def step(scheduler: Any, *args: Any, **options: Any) -> Any:
            if sys._getframe(1).f_code.co_name != "_initial_step":
                self.record.advances.append(self._call(scheduler.optimizer))
            return original(scheduler, *args, **options)

        return step

    # -- what is traced ---------------------------------------------------------------------------------

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Between two lines of the program, see whether gradients have gone."""
        if frame.f_code.co_filename != self.path:
            return None
        for number, optimizer in enumerate(self._optimizers):
            filled = any(p.grad is not None and bool(p.grad.any()) for p in _parameters(optimizer))
            if self._filled[number] and not filled:
                self.record.clearings.append(Cleared(replace(self._before, time=self._tick()), number))
            self._filled[number] = filled
        self._before = self._now(frame)
        return self._trace

    def _now(self, frame: FrameType | None = None) -> Moment:
        stack = list(_frames(frame or sys._getframe(1), self.path))
        epoch = next((f.f_locals["epoch"] for f in stack if "epoch" in f.f_locals), 0)
        first, last = self._span
        inside = any(first <= f.f_lineno <= last for f in stack)
        return Moment(self._tick(), stack[0].f_lineno, epoch, inside)

    def _tick(self) -> int:
        self._time += 1
        return self._time


def _parameters(optimizer: Any) -> list[Vector]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _joined(parameters: list[Vector], gradients: Any) -> Vector:
    pairs = zip(parameters, gradients, strict=True)
    return torch.cat([torch.zeros_like(p).flatten() if g is None else g.flatten().clone() for p, g in pairs])


def _frames(frame: FrameType | None, path: str) -> Iterator[FrameType]:
    while frame is not None:
        if frame.f_code.co_filename == path:
            yield frame
        frame = frame.f_back


def _line_of(error: BaseException, path: str) -> int:
    trace, line = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _batch_loop(text: str) -> tuple[int, int]:
    """The lines inside the loop over the batches."""
    loops = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For))
    loop = next(loop for loop in loops if "loader" in ast.unparse(loop.iter))
    return loop.body[0].lineno, loop.end_lineno or loop.lineno
