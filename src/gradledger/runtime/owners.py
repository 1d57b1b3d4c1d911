"""Which model a parameter belongs to: asked only when a parameter turns up that no optimizer holds."""

from __future__ import annotations

import gc
from collections.abc import Sequence

from torch import Tensor, nn

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime.cohort import Cohort, Gone
from gradledger.runtime.observer import Observer

MOST_SCANS = 24
"""A scan walks all living objects; a program that makes models without end is not scanned without end."""


class Owners:
    """Finds living models by walking the objects that the garbage collector knows."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._scans = 0
        self._told: set[int] = set()

    def open(self, params: Sequence[Tensor], site: Site) -> None:
        """Open accounts for parameters without an optimizer, one for each model."""
        owners = self._scan()
        groups: dict[tuple[int | None, bool], list[tuple[Tensor, str]]] = {}
        for p in params:
            module, training, name = owners.get(id(p), (None, False, ""))
            groups.setdefault((module, training), []).append((p, name))
        for (module, training), members in groups.items():
            names = tuple(name for _, name in members if name)[:16]
            self.observer.open([p for p, _ in members], site, module=module, training=training, names=names)
        self._tell(owners)

    def look(self, site: Site) -> None:
        """Tell where the optimizers' parameters belong, if that is not known yet."""
        if any(c.optimizer is not None and c.account not in self._told for c in self.observer.cohorts):
            self._tell(self._scan())

    def orphaned(self, optimizer: int, cohorts: Sequence[Cohort]) -> None:
        """Say so if no living model owns what this optimizer holds."""
        owners = self._scan()
        try:
            lost = owners and not any(id(p) in owners for cohort in cohorts for p in cohort.params())
        except Gone:
            return
        if lost:
            self.observer.post(ev.ParametersOrphaned(None, tuple(c.account for c in cohorts), optimizer))

    def _tell(self, owners: dict[int, tuple[int, bool, str]]) -> None:
        for cohort in list(self.observer.cohorts):
            if cohort.optimizer is None or cohort.account in self._told:
                continue
            self._told.add(cohort.account)
            known = [owners[id(ref())] for ref in cohort.refs if id(ref()) in owners]
            if known:
                names = tuple(name for _, _, name in known)[:16]
                event = ev.ParametersOwned(None, (cohort.account,), known[0][0], known[0][1], names)
                self.observer.post(event)

    def _scan(self) -> dict[int, tuple[int, bool, str]]:
        self._scans += 1
        if self._scans > MOST_SCANS:
            return {}
        owners: dict[int, tuple[int, bool, str]] = {}
        for module in outermost_models():
            number = self.observer.others.known(module) or self.observer.others.give(module)
            for name, param in module.named_parameters():
                owners.setdefault(id(param), (number, module.training, name))
        return owners


def outermost_models() -> list[nn.Module]:
    """The living models that are no part of another."""
    modules = [thing for thing in gc.get_objects() if issubclass(type(thing), nn.Module)]
    inner = {id(child) for module in modules for child in module.__dict__.get("_modules", {}).values()}
    return [module for module in modules if id(module) not in inner and "_parameters" in module.__dict__]
