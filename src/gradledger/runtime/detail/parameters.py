"""The closer look at one parameter of each account: what passes, clearings, clips and steps do to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor
from torch.optim import optimizer as optim

from gradledger.ledger import events as ev
from gradledger.ledger.details import ParameterSeen, TensorSeen
from gradledger.runtime.detail.looking import seen
from gradledger.runtime.detail.telling import Telling, careful
from gradledger.runtime.observer import Observer
from gradledger.runtime.owners import outermost_models
from gradledger.runtime.patch import Patches

MOST_SCANS = 8


class ParameterLook:
    """Follows the first parameter of what an event is about, while a step is looked at closely."""

    def __init__(self, telling: Telling, observer: Observer) -> None:
        self.telling = telling
        self._observer = observer
        self._names: dict[int, str] = {}
        self._scans = 0
        self._last: dict[int, TensorSeen | None] = {}
        """Each account's gradient at the last look."""
        self._inside = False
        """Whether a step is running."""
        self._entered: dict[int, TensorSeen] = {}
        """How the parameters were when the running step began; one with a closure is booked at its end."""
        self._stepping: Tensor | None = None
        """The parameter whose step has been told, and not yet what it came to."""

    def install(self, patches: Patches) -> None:
        """Begin to listen; these hooks come after those of the audit, which post the step."""
        self.telling.ears.append(self._hear)
        self.telling.when_changed.append(self._last.clear)
        patches.later(optim.register_optimizer_step_pre_hook(self._enters).remove)
        patches.later(optim.register_optimizer_step_post_hook(self._leaves).remove)

    def _enters(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._inside = True
        if self.telling.closely and (len(args) > 1 or kwargs.get("closure") is not None):
            self._enter(optimizer)

    @careful
    def _enter(self, optimizer: Any) -> None:
        held = {id(param) for group in optimizer.param_groups for param in group["params"]}
        firsts = [cohort.refs[0]() for cohort in self._observer.cohorts]
        mine = [param for param in firsts if param is not None and id(param) in held]
        self._entered = {id(param): seen(param, self._name(param)) for param in mine}

    def _leaves(self, *_: Any) -> None:
        self._inside = False
        self._entered = {}
        if self._stepping is not None:
            self._stepped()

    @careful
    def _stepped(self) -> None:
        parameter, self._stepping = self._stepping, None
        if parameter is not None:
            self.telling.tell(ParameterSeen(None, (), (seen(parameter, self._name(parameter)),)))

    def _hear(self, event: ev.Event) -> None:
        if not self.telling.closely:
            return
        match event:
            case ev.OptimizerStepped(optimizer=int()) if not self._inside or self._entered:
                self._steps(event.accounts)
            case ev.BackwardRan() | ev.GradientCleared() | ev.GradientsUnscaled() | ev.GradientsClipped() if (
                event.accounts
            ):
                self._moves(event.accounts, clears=isinstance(event, ev.GradientCleared))
            case _:
                pass

    def _moves(self, accounts: Iterable[int], *, clears: bool) -> None:
        """A gradient has changed: how it was at the last look, and how it is now."""
        account, parameter = self._first(accounts)
        if parameter is None:
            return
        was, now = self._last.get(account), self._gradient(parameter)
        self._last[account] = now
        told = ParameterSeen(None, _there(was), _there(now))
        if clears and was is None:
            return  # there was nothing to clear, or nobody has seen it
        self.telling.tell(told)

    def _steps(self, accounts: Iterable[int]) -> None:
        account, parameter = self._first(accounts)
        if parameter is None or parameter.grad is None:
            return
        now = self._last[account] = self._gradient(parameter)
        was = self._entered.get(id(parameter)) if self._inside else seen(parameter, self._name(parameter))
        if was is not None:
            self._stepping = parameter
            self.telling.tell(ParameterSeen(None, (was, *_there(now))))

    def _first(self, accounts: Iterable[int]) -> tuple[int, Tensor | None]:
        wanted = set(accounts)
        for cohort in self._observer.cohorts:
            if cohort.account in wanted and (parameter := cohort.refs[0]()) is not None:
                return cohort.account, parameter
        return 0, None

    def _gradient(self, parameter: Tensor) -> TensorSeen | None:
        grad = parameter.grad
        return None if grad is None else seen(grad, f"{self._name(parameter)}.grad")

    def _name(self, parameter: Tensor) -> str:
        if id(parameter) not in self._names and self._scans < MOST_SCANS:
            self._scans += 1
            for model in outermost_models():
                self._names.update((id(inner), name) for name, inner in model.named_parameters())
        return self._names.get(id(parameter), "parameter")


def _there(gradient: TensorSeen | None) -> tuple[TensorSeen, ...]:
    return () if gradient is None else (gradient,)
