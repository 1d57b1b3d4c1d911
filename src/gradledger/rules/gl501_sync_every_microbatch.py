"""GL501 sync-every-microbatch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gradledger.ledger.site import Site
from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related


class SyncEveryMicrobatch(Rule):
    """Replicas exchange their gradients at every micro-batch of a window.

    What is wrong
        DDP and FSDP average gradients over all processes in each backward(). Within a window only the last
        pass needs that, since the average of sums is the sum of averages: the others cost communication
        for nothing.

    Why it stays silent
        The result is right; only time is lost, and more of it the slower the network.

    When to allow it
        When memory forbids unreduced gradients, as FSDP without reduction keeps them in full size.
    """

    code = "GL501"
    name = "sync-every-microbatch"
    severity = Severity.PERFORMANCE
    summary = "DDP/FSDP reduces at every micro-batch of a window"
    static = "yes"
    runtime = "yes"
    yields_to = ("GL502",)
    bad = """\
import torch.distributed as dist

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
replica = nn.parallel.DistributedDataParallel(model)
accumulate = 5
for i, (x, y) in enumerate(loader):
    loss = loss_fn(replica(x), y) / accumulate
    loss.backward()  # <- here
    if (i + 1) % accumulate == 0:
        optimizer.step()
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
        """Count the reductions in a window of micro-batches: one line makes several of them."""
        reductions: Counter[Site | None] = Counter()
        for run in window.fullest.fresh:
            reductions[run.posting.site] += run.count if run.posting.ran.reduced else 0
        line, most = max(reductions.items(), key=lambda item: item[1], default=(None, 0))
        if most >= 2:
            yield Draft(
                site=line,
                message=f"reduces gradients across processes {sum(reductions.values())} times for one step, "
                "once is enough",
                related=related((window.step.site, "steps once per window")),
                remedy="run all but the last forward and backward of a window under `with model.no_sync():` "
                "(FSDP2: set_requires_gradient_sync(False))",
                optimizer=window.step.optimizer,
            )
