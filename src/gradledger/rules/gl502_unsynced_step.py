"""GL502 unsynced-step."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related


class UnsyncedStep(Rule):
    """A step applies gradients that were never reduced across the processes.

    What is wrong
        The window's last forward ran under `no_sync()`, so its backward() left local gradients in place.
        Each process steps on its own data only: the replicas drift apart, and from then on gradients
        averaged over them belong to no model. DDP decides this at the forward, not at the backward.

    Why it stays silent
        Every process trains a sensible model of its own, and only rank 0 is logged and saved.

    When to allow it
        When replicas are meant to drift for a while and are averaged later (local SGD).
    """

    code = "GL502"
    name = "unsynced-step"
    severity = Severity.ERROR
    summary = "a step on gradients accumulated only under no_sync: replicas drift apart"
    static = "yes"
    runtime = "yes"
    bad = """\
import torch.distributed as dist

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
replica = nn.parallel.DistributedDataParallel(model)
accumulate = 5
for i, (x, y) in enumerate(loader):
    with replica.no_sync():
        loss = loss_fn(replica(x), y) / accumulate
        loss.backward()
    if (i + 1) % accumulate == 0:
        optimizer.step()  # <- here
        optimizer.zero_grad()
dist.destroy_process_group()
"""
    good = """\
from contextlib import nullcontext

import torch.distributed as dist

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
replica = nn.parallel.DistributedDataParallel(model)
accumulate = 5
for i, (x, y) in enumerate(loader):
    last = (i + 1) % accumulate == 0
    with nullcontext() if last else replica.no_sync():
        loss = loss_fn(replica(x), y) / accumulate
        loss.backward()
    if last:
        optimizer.step()
        optimizer.zero_grad()
dist.destroy_process_group()
"""

    def on_window(self, window: Window) -> Iterable[Draft]:
        """Look for windows whose last pass was not reduced."""
        step = window.step
        for account in window.accounts:
            if not account.fresh or account.changed:
                continue
            last = account.fresh[-1].posting
            if last.ran.reduced is False:
                at = line(last.site, step.site)
                yield Draft(
                    site=step.site,
                    message=f"applies what the backward() at {at} left unreduced: replicas drift apart",
                    related=related(
                        (last.site, "adds local gradients only: no_sync(), or a forward past the wrapper")
                    ),
                    remedy="call the wrapped model itself, and leave no_sync() for the last micro-batch "
                    f"of each window, forward included, at {at}",
                    optimizer=step.optimizer,
                )
                return
