"""What is settled when the program has ended: what the events were for, and what must not be judged."""

from __future__ import annotations

from gradledger.ledger import events as ev
from gradledger.ledger.record import replace
from gradledger.ledger.site import Site
from gradledger.static.imports import Imports
from gradledger.static.values import NOTHING, Scheduler


class Endings(Imports):
    """The part of the machine that looks back."""

    def forgive_unsure(self) -> None:
        """Parameters that a pass may not use cannot be said to be forgotten."""
        replaced = any(isinstance(event, ev.ParametersOrphaned) for event in self.events)
        for loaded in self.starts if not replaced else ():
            if all(self.boxes[number].held_by is None for number in loaded):
                self.moved_away(loaded)  # as a target network is, or a teacher
        unsure = tuple(
            number
            for number, box in self.boxes.items()
            if box.opaque or box.handed_out or box.overwritten or not box.sure
        )
        if unsure:
            self.events.append(ev.ParametersMoved(None, unsure))

    def forgive_late_steps(self) -> None:
        """A schedule may go on while its optimizer is not yet, or not always, used."""
        for number, around in self.stepping_ifs.items():
            extra = around - self.advancing_ifs.get(number, around)
            if any(len(self.outcomes.get(node, ())) > 1 for node in extra):
                self.doubts.add("GL206")

    def admit_blindness(self) -> None:
        """Who holds what can only be judged where all parameters were seen being made."""
        if self.passless and not self.computed:
            self.guessed = True  # steps without any loss are a demonstration, as of a schedule
        if any(box.opaque and box.held_by is not None for box in self.boxes.values()):
            self.unlinked.update(("GL106", "GL309", "GL402", "GL403", "GL404"))
        reached: set[int] = set()
        passes: set[Site | None] = set()
        for event in self.events:
            if isinstance(event, ev.BackwardRan):
                reached.update(event.accounts)
                passes.add(event.site)
        if self.presumed_at:
            self.doubts.add("GL401")  # nor what such a pass leaves to others
        strange = [models for models in self.strangers if models]
        apart = any(one.isdisjoint(other) for one in strange for other in strange)
        if apart or (self.presumed_at and len(passes) > 1):
            # One of several passes may be meant for something that no optimizer in sight holds.
            self.doubts.update(("GL101", "GL102", "GL103", "GL105"))
        for event in self.events:
            if isinstance(event, ev.GradientsClipped) and reached.isdisjoint(event.accounts) and event.site:
                # Never filled may also mean that the way of the passes was not seen.
                self.doubts.add(f"GL304:{event.site.path}:{event.site.line}")
        if any(
            box.opaque and box.held_by is not None and number not in reached
            for number, box in self.boxes.items()
        ):
            # Something is trained that no pass was seen to reach.
            self.ambiguous = True
            self.unlinked.add("GL304")

    def admit_company(self) -> None:
        """Of unseen models that are not alone it can only be presumed what a pass or a step was meant for."""
        unseen = [box for box in self.boxes.values() if box.opaque and box.held_by is not None]
        if not unseen and not any(one.foreign for one in self.optimizers):
            return
        passes = {event.site for event in self.events if isinstance(event, ev.BackwardRan)}
        if max(len(unseen), len(passes), len(self.optimizers)) > 1:
            self.doubts.update(("GL102", "GL104", "GL105", "GL301", "GL305"))

    def forgive_shows(self) -> None:
        """A step before any pass, of a model that is never used, is there for a schedule that is shown."""
        for site, accounts in self.early_steps:
            if self.partook.isdisjoint(accounts):
                self.unlinked.add(f"GL106:{site.path}:{site.line}")

    def settle_windows(self) -> None:
        """A line that a counter guards closes windows, also the first time."""
        planned = {
            role.number: role.per_batch
            for role in self.roles.values()
            if isinstance(role, Scheduler) and (role.per_update or role.per_batch)
        }
        if planned:
            self.events = [
                replace(e, per_batch=planned[e.scheduler])
                if isinstance(e, ev.SchedulerBuilt) and e.scheduler in planned
                else e
                for e in self.events
            ]
        guarded = {e.site for e in self.events if isinstance(e, ev.OptimizerStepped) and e.windowed}
        if guarded:
            self.events = [
                replace(e, windowed=True) if isinstance(e, ev.OptimizerStepped) and e.site in guarded else e
                for e in self.events
            ]

    def withdraw_untold(self) -> None:
        """Forget optimizers of which not everything was seen."""
        cleared: set[int] = set()
        for event in self.events:
            if isinstance(event, ev.GradientCleared | ev.GradientAssigned):
                cleared.update(event.accounts)
        gone: set[int] = set()
        accounts: set[int] = set()
        for optimizer in self.optimizers:
            blind = optimizer.foreign and not cleared & (optimizer.accounts or NOTHING)
            by_hand = any(self.boxes[number].by_hand for number in optimizer.accounts or ())
            if optimizer.untold or blind or by_hand or self.hooked:
                gone.add(optimizer.number)
                accounts |= optimizer.accounts or NOTHING
        if gone:
            self.events = [
                kept for event in self.events if (kept := _without(event, gone, accounts)) is not None
            ]


def _without(event: ev.Event, gone: set[int], accounts: set[int]) -> ev.Event | None:
    number = getattr(event, "optimizer", None)
    if number is not None and number in gone:
        return None
    touched = getattr(event, "accounts", None)
    if touched and not accounts.isdisjoint(touched):
        left = tuple(account for account in touched if account not in accounts)
        return replace(event, accounts=left) if left else None  # type: ignore[call-arg]
    return event
