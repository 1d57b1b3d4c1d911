"""Contexts that are entered under a condition, by hand or by something else."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs

PLAIN = {
    "no_sync in an exit stack": """\
import torch, contextlib
from contextlib import *
from torch import nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(nn.Linear(3,1))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for i, (x, y) in enumerate(loader):
    with ExitStack() as stack:
        if (i + 1) % 4:
            stack.enter_context(model.no_sync())
        (F.mse_loss(model(x), y) / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step(); optimizer.zero_grad()
""",
    "a context under a condition": """\
import torch, contextlib
from contextlib import *
from torch import nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(nn.Linear(3,1))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

@contextmanager
def conditional(ctx, use):
    if use:
        with ctx:
            yield
    else:
        yield
for i, (x, y) in enumerate(loader):
    with conditional(model.no_sync(), (i + 1) % 4 != 0):
        (F.mse_loss(model(x), y) / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step(); optimizer.zero_grad()
""",
    "a context that returns after its yield": """\
import torch, contextlib
from contextlib import *
from torch import nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(nn.Linear(3,1))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

@contextmanager
def maybe(model, sync):
    if sync:
        yield
        return
    with model.no_sync():
        yield
for i, (x, y) in enumerate(loader):
    with maybe(model, (i + 1) % 4 == 0):
        (F.mse_loss(model(x), y) / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step(); optimizer.zero_grad()
""",
    "no_sync by its name": """\
import torch, contextlib
from contextlib import *
from torch import nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(nn.Linear(3,1))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for i, (x, y) in enumerate(loader):
    last = (i + 1) % 4 == 0
    ctx = getattr(model, 'no_sync', nullcontext) if not last else nullcontext
    with ctx():
        (F.mse_loss(model(x), y) / 4).backward()
    if last:
        optimizer.step(); optimizer.zero_grad()
""",
    "a context of a library that is given the replicas": """\
import torch, contextlib
from contextlib import *
from torch import nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from h import sync_if

model = DDP(nn.Linear(3,1))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for i, (x, y) in enumerate(loader):
    last = (i + 1) % 4 == 0
    with sync_if(model, last):
        (F.mse_loss(model(x), y) / 4).backward()
    if last:
        optimizer.step(); optimizer.zero_grad()
""",
    "no_sync entered by hand": """\
import torch, contextlib
from contextlib import *
from torch import nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(nn.Linear(3,1))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for i, (x, y) in enumerate(loader):
    last = (i + 1) % 4 == 0
    c = model.no_sync()
    if not last: c.__enter__()
    (F.mse_loss(model(x), y) / 4).backward()
    if not last: c.__exit__(None, None, None)
    if last:
        optimizer.step(); optimizer.zero_grad()
""",
    "the attribute behind no_sync": """\
import torch, contextlib
from contextlib import *
from torch import nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(nn.Linear(3,1))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for i, (x, y) in enumerate(loader):
    last = (i + 1) % 4 == 0
    model.require_backward_grad_sync = last
    (F.mse_loss(model(x), y) / 4).backward()
    if last:
        optimizer.step(); optimizer.zero_grad()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_certain_is_said(text: str) -> None:
    assert certain(text) == []
