"""One generated program run in this process, with the weights kept after every update."""

from __future__ import annotations

import io
import math
import sys
import traceback
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from gradledger.host.session import Session
from gradledger.ledger.record import dataclass, field


@dataclass(slots=True)
class Ran:
    """What a program left behind."""

    names: dict[str, Any]
    """Its variables."""
    printed: str
    error: BaseException | None
    line: int | None
    """Where the error was raised."""
    warned: tuple[str, ...]
    norms: list[tuple[int, str, float]] = field(default_factory=list)
    """Micro-batch, optimizer, and the norm of the gradients that the step found."""
    weights: list[tuple[int, torch.Tensor]] = field(default_factory=list)
    """Micro-batch, and all weights after its update, in a row."""


def run(path: Path, save: Path | None = None) -> Ran:
    """Run the program as a fresh `__main__`; with `save` under audit, recorded there."""
    main = ModuleType("__main__")
    main.__file__ = str(path)
    names = vars(main)
    ran = Ran(names, "", None, None, ())
    sys.modules["__main__"] = main
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    session = None if save is None else Session(save=str(save))
    watching = _Watching(ran)
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as heard, redirect_stdout(printed):
        warnings.simplefilter("always")
        if session is not None:
            session.start()
        try:
            exec(code, names)
        except Exception as error:  # the reader's loop may be wrong in any way
            ran.error, ran.line = error, _line(error, str(path))
        finally:
            watching.end()
            if session is not None:
                session.finish(ran.error)
    ran.printed = printed.getvalue()
    ran.warned = tuple(dict.fromkeys(str(one.message) for one in heard if one.filename == str(path)))
    return ran


class _Watching:
    """Looks at every step of every optimizer, before and after."""

    def __init__(self, ran: Ran) -> None:
        self._ran = ran
        self._hooks = [
            register_optimizer_step_pre_hook(self._before),
            register_optimizer_step_post_hook(self._after),
        ]

    def end(self) -> None:
        for hook in self._hooks:
            hook.remove()

    def _before(self, optimizer: Optimizer, *_: object) -> None:
        gradients = [
            p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None
        ]
        norm = math.sqrt(sum(float(g.double().square().sum()) for g in gradients))
        self._ran.norms.append((self._now(), self._name(optimizer), norm))

    def _after(self, *_: object) -> None:
        self._ran.weights.append((self._now(), weights(self._ran.names)))

    def _now(self) -> int:
        names = self._ran.names
        return int(names.get("epoch", 0)) * len(names["batches"]) + int(names.get("i", 0)) + 1

    def _name(self, optimizer: Optimizer) -> str:
        return next(name for name, value in self._ran.names.items() if value is optimizer)


def models(names: dict[str, Any]) -> list[torch.nn.Module]:
    """The program's models."""
    return [names[name] for name in ("model", "discriminator", "generator") if name in names]


def weights(names: dict[str, Any]) -> torch.Tensor:
    """All weights in a row, in double precision."""
    return torch.cat([p.detach().double().flatten() for model in models(names) for p in model.parameters()])


def _line(error: BaseException, path: str) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == path), None)
