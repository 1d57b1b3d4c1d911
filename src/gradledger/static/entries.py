"""What happens to gradients is written down here as the ledger's events."""

from __future__ import annotations

import ast
import re
from math import prod

from gradledger.ledger import events as ev
from gradledger.static.keepings import Keepings
from gradledger.static.scale import LARGEST
from gradledger.static.values import (
    NOTHING,
    Accelerator,
    Accounts,
    Optimizer,
    Scaler,
    Scheduler,
    Tensor,
    Unknown,
)

_PLAIN = re.compile(r"self|optimi[sz]ers?|optims?|opts?|nets?|networks?|models?|params?|[^a-z0-9]+")


class Entries(Keepings):
    """The part of the machine that keeps the journal."""

    # -- who holds what -----------------------------------------------------------------------------------

    def opaque_optimizer(self, label: str) -> Optimizer:
        """The optimizer behind a name that was not built in sight."""
        known = self.roles.get(label)
        if isinstance(known, Optimizer):
            return known
        self.learnt.optimizers[label] = None
        account = self.open_account(f"the parameters of {label}", None, opaque=True)
        optimizer = Optimizer(self.fresh(), "", frozenset((account,)), label, foreign=True)
        self.boxes[account].held_by = optimizer.number
        self.roles[label] = optimizer
        self.optimizers.append(optimizer)
        self.events.append(ev.AccountTaken(None, (account,), optimizer.number))
        return optimizer

    def resolve(self, accounts: Accounts) -> Accounts:
        """Accounts of models that cannot be seen, replaced by those of the optimizers that hold them."""
        if not self.scale.optimizers:
            return accounts
        found: set[int] = set()
        for number in accounts:
            box = self.boxes[number]
            held = box.held_by is not None or box.data or box.copied
            holders = [] if held else self._holders(box.name)
            if holders and not box.opaque:
                self.ambiguous = True
            if holders:
                for holder in holders:
                    found |= holder.accounts or NOTHING
            else:
                found.add(number)
        return frozenset(found)

    def _holders(self, name: str) -> list[Optimizer]:
        unseen = [self.opaque_optimizer(label) for label in self.scale.optimizers]
        if len(unseen) == 1:
            return unseen
        core = _core(name)
        matching = [optimizer for optimizer in unseen if core and _alike(core, _core(optimizer.name))]
        if len(matching) == 1:
            return matching
        self.ambiguous = True
        return unseen

    def _presumed(self) -> Accounts:
        """What a loss of unseen origin reaches: everything that is trained here."""
        self.guessed = True
        for label in self.scale.optimizers:
            self.opaque_optimizer(label)
        live = [optimizer for optimizer in self.optimizers if optimizer.accounts]
        if len(live) > 1:
            self.ambiguous = True
        found: Accounts = NOTHING
        for optimizer in live:
            found |= optimizer.accounts or NOTHING
        return found

    # -- passes -------------------------------------------------------------------------------------------

    def backward(
        self,
        node: ast.AST,
        root: Tensor,
        *,
        keep: bool = False,
        inputs: Accounts | None = None,
        chained: bool = False,
    ) -> None:
        """A pass ran from this root."""
        site = self.site(node)
        reached = self.live(root.deps) if not root.leaf else root.deps
        if not reached and (not root.cut or (root.hazy and self.lent)):
            reached = self._presumed()
            self.presumed_at.add(site)
        self.strangers.add(
            frozenset(n for n in reached if self.boxes[n].opaque and self.boxes[n].held_by is None)
        )
        meant = reached if inputs is None else inputs
        reached = self.resolve(meant)
        for number in reached - meant:
            self.stood_for.setdefault(number, set()).update(meant - reached)
        repeats = (
            None
            if chained
            else next(
                (self.roots[part] for part in sorted(root.parts | {root.serial}) if part in self.retained),
                None,
            )
        )
        data = {number for number in reached if self.boxes[number].data}
        loop = self.loops[-1] if self.loops else None
        loader = next((turn for turn in reversed(self.loops) if turn.loader), None)
        drawn = loader is not None and loader.drawn
        self.filled = loop
        inside = False
        for turn in reversed(self.loops):
            turn.drawn = False
            turn.passes += 1
            turn.outer = turn.outer or inside
            inside = inside or turn.endless
        event = ev.BackwardRan(
            site,
            tuple(sorted(reached)),
            scaled_by=root.scaled_by,
            reduced=root.reduced,
            repeats=repeats,
            wants_input=bool(data),
            loader=loader.number if loader is not None and drawn else None,
            loop=None if drawn or loop is None else loop.number,
            averaged_twice=root.averaged_twice,
            kept_graph=keep,
        )
        self.events.append(event)
        self.roots[root.serial] = site
        self.rooted[root.serial] = tuple(turn.turn for turn in self.loops) or (0,)
        self.covered |= root.parts | {root.serial}
        self.inside |= root.parts
        if keep and not chained:
            self.retained |= {root.serial}
        for number in reached:
            self.boxes[number].content = "held"
            self.boxes[number].filled = True
        self.looked_at -= reached
        self.taken_out = False
        if root.presumed:
            self.doubts.add(f"GL201:{site.path}:{site.line}")
        if event.accounts:
            factor = None if chained else root.factor
            count = None if root.presumed else root.count or None
            self.events.append(ev.LossMeasured(site, event.accounts, root.reduction, factor, count))

    def cleared(
        self, node: ast.AST, accounts: Accounts, by: str, *, to: str = "none", owner: int | None = None
    ) -> None:
        """Gradients were cleared."""
        meant = accounts
        accounts = self.resolve(meant)
        unread = self.looked_at.isdisjoint(accounts)
        apart = any(not self.stood_for.get(number, {-1}) <= meant for number in accounts - meant)
        if not unread or apart:
            # A model of which the optimizer's is only guessed to be one may be a part of it, or another.
            # What was read may be put back by something unseen, or be summed up elsewhere.
            self.doubts.update(("GL102", "GL103"))
        for number in accounts:
            self.boxes[number].content = (
                "zero" if to == "zero" and self.boxes[number].content in ("held", "zero") else "none"
            )
        self.events.append(
            ev.GradientCleared(self.site(node), tuple(sorted(accounts)), by, to, owner, unread)  # type: ignore[arg-type]
        )

    # -- steps --------------------------------------------------------------------------------------------

    def stepped(self, node: ast.AST, optimizer: Optimizer, scaler: Scaler | None = None) -> None:
        """An optimizer stepped."""
        accounts = tuple(sorted(optimizer.accounts or ()))
        if self.bereaved:
            lost = self.bereaved.pop(optimizer.number, NOTHING)
            self.events += [ev.ParametersOrphaned(None, tuple(sorted(lost)), optimizer.number)] * bool(lost)
        self._learn_window()
        for turn in self.loops:
            turn.steps += 1
        self._compare_plans(optimizer)
        if not self._passed_since_built(optimizer):
            self.early_steps.append((self.site(node), frozenset(accounts)))
        if optimizer.picked and self._shares_with_the_step_before(optimizer):
            # Each takes its own parameters of the same layers, as the weights here and the biases there.
            self.unlinked.add(f"GL105:{self.site(node).path}:{self.site(node).line}")
        self.stepping_ifs.setdefault(optimizer.number, set()).update(id(node) for node, _ in self.ifs)
        site = self.site(node)
        if not self.lent_out.isdisjoint(accounts):
            self.doubts.add(f"GL105:{site.path}:{site.line}")  # a pass may have been in between
            self.lent_out.difference_update(accounts)
        self.events.append(
            ev.OptimizerStepped(
                site,
                accounts,
                optimizer.number,
                None if scaler is None else scaler.number,
                windowed=self.windowed,
            )
        )

    def _shares_with_the_step_before(self, optimizer: Optimizer) -> bool:
        """Whether since the last pass others that picked parameters have stepped, and this one has not."""
        others: set[int] = set()
        for event in reversed(self.events):
            if isinstance(event, ev.BackwardRan):
                break
            if isinstance(event, ev.OptimizerStepped) and event.optimizer is not None:
                others.add(event.optimizer)
        if optimizer.number in others:
            return False
        held = optimizer.accounts or NOTHING
        return any(
            other.picked and other.number in others and not held.isdisjoint(other.accounts or NOTHING)
            for other in self.optimizers
        )

    def _passed_since_built(self, optimizer: Optimizer) -> bool:
        for event in reversed(self.events):
            if isinstance(event, ev.BackwardRan):
                return True
            if isinstance(event, ev.AccountTaken) and event.optimizer == optimizer.number:
                return False
        return False

    def _compare_plans(self, optimizer: Optimizer) -> None:
        """A schedule of as many steps as the loop has turns is counted in updates, if each turn makes one."""
        plan = self.loops[-1].plan if self.loops else None
        if plan is None or any(counted for _, counted in self.ifs):
            return
        for role in self.roles.values():
            if isinstance(role, Scheduler) and role.optimizer is optimizer and role.plan == plan:
                role.per_update = True

    def stepped_by_hand(self, node: ast.AST, accounts: Accounts) -> None:
        """The program applied gradients itself."""
        accounts = self.resolve(accounts)
        for number in accounts:
            self.boxes[number].data = False
        self._learn_window()
        for turn in self.loops:
            turn.steps += 1
        self.events.append(
            ev.OptimizerStepped(self.site(node), tuple(sorted(accounts)), None, windowed=self.windowed)
        )

    def _learn_window(self) -> None:
        """A loop of passes that has ended before the step: its length is that of a window."""
        loop = self.filled
        if loop is None or loop in self.loops or not loop.length:
            return
        if isinstance(loop.node, ast.While):
            # How often it turns cannot be told: it may be once.
            self.doubts.update(("GL103", "GL201", "GL307"))
        if not loop.micro and loop.closes and not loop.steps:
            # The turns may be tasks or sources whose losses are meant to add up.
            self.doubts.add("GL201")
        if not self.loops or loop.outer or loop.loader or not loop.endless or loop.steps or not loop.closes:
            return
        if loop.label:
            self.learnt.unknown[loop.label] = None
        elif loop.length > LARGEST:
            self.learnt.large[loop.length] = None
        else:
            self.learnt.windows.add(loop.length)

    def scheduled(self, node: ast.AST, scheduler: Scheduler, *, explicit: bool) -> None:
        """A scheduler advanced."""
        turns = [loop.plan for loop in self.loops if loop.relevant]
        if scheduler.plan is not None and scheduler.plan == _product(turns):
            scheduler.per_batch = True
        self.advancing_ifs.setdefault(scheduler.optimizer.number, set()).update(
            id(node) for node, _ in self.ifs
        )
        self.events.append(
            ev.SchedulerStepped(self.site(node), scheduler.number, scheduler.optimizer.number, explicit)
        )

    # -- around a step ------------------------------------------------------------------------------------

    def clipped(
        self, node: ast.AST, accounts: Accounts, *, measures: bool = False, scaled_bound: bool = False
    ) -> None:
        """Gradients were clipped."""
        if any(self.boxes[number].opaque for number in accounts):
            self.unlinked.add("GL309")  # what was put into this model cannot be told
        if self.taken_out:
            # Some optimizer was unscaled: whether it holds these cannot be told for certain.
            self.doubts.add(f"GL301:{self.site(node).path}:{self.site(node).line}")
        accounts = self.resolve(accounts)
        if accounts:
            self.events.append(
                ev.GradientsClipped(self.site(node), tuple(sorted(accounts)), measures, scaled_bound)
            )

    def changed(
        self, node: ast.AST, accounts: Accounts, *, clipping: bool = False, divided_by: int = 0
    ) -> None:
        """Gradients were altered by hand."""
        accounts = self.resolve(accounts)
        if accounts:
            self.events.append(
                ev.GradientChanged(self.site(node), tuple(sorted(accounts)), clipping, divided_by)
            )

    def unscaled(self, node: ast.AST, scaler: Scaler, optimizer: Optimizer) -> None:
        """A scaler divided its scale out."""
        self.taken_out = True
        self.events.append(
            ev.GradientsUnscaled(
                self.site(node), tuple(sorted(optimizer.accounts or ())), scaler.number, optimizer.number
            )
        )

    def overwritten(self, node: ast.AST, accounts: Accounts) -> None:
        """Parameters were given other values, as a target network is: they need no optimizer."""
        self.copied_at.add((self.unit.path, self.site(node).line))
        self.moved_away(accounts)

    def loaded(self, node: ast.AST, accounts: Accounts) -> None:
        """A whole model was given other values: before its first pass it may be the one that is trained."""
        if any(self.boxes[number].filled for number in accounts):
            self.overwritten(node, accounts)
            return
        self.copied_at.add((self.unit.path, self.site(node).line))
        self.starts.append(accounts)

    def moved_away(self, accounts: Accounts) -> None:
        """Something other than an optimizer gives these parameters their values."""
        for number in accounts:
            self.boxes[number].overwritten = True


def _product(turns: list[int | str | None]) -> int | str | None:
    """How often nested loops turn in all, if that is known."""
    if len(turns) == 1:
        return turns[0]
    numbers = [turn for turn in turns if isinstance(turn, int)]
    return prod(numbers) if numbers and len(numbers) == len(turns) else None


def _core(name: str) -> str:
    last = re.split(r"[.\[]", name.replace("self.", ""))[-1]
    return _PLAIN.sub("", re.sub(r"([a-z])([A-Z])", r"\1_\2", last).lower())


def _alike(one: str, other: str) -> bool:
    return bool(one) and bool(other) and (one.startswith(other) or other.startswith(one))


__all__ = ["Accelerator", "Entries", "Unknown"]
