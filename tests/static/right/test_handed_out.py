"""Models, gradients and scalers that were given to something unseen, or treated by hand."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs

PLAIN = {
    "gradients kept by a store": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

from store import GradStore
store = GradStore(model)
for x, y in loader:
    for t in range(3):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        store.collect()
    optimizer.zero_grad()
    store.write_back()
    optimizer.step()
""",
    "importance of weights": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

fisher = {}
for x, y in loader:
    model.zero_grad()
    F.mse_loss(model(x), y).backward()
    for n, p in model.named_parameters():
        fisher[n] = fisher.get(n, 0) + p.grad.data ** 2
optimizer.zero_grad()
F.mse_loss(model(x), y).backward()
optimizer.step()
""",
    "gradients of single examples": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for x, y in loader:
    acc = [torch.zeros_like(p) for p in model.parameters()]
    for xi, yi in zip(x, y):
        model.zero_grad()
        F.mse_loss(model(xi), yi).backward()
        for a, p in zip(acc, model.parameters()):
            a += p.grad
    for a, p in zip(acc, model.parameters()):
        p.grad = a
    optimizer.step()
""",
    "adversarial examples": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for x, y in loader:
    x.requires_grad_(True)
    for k in range(7):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        x = (x + 0.1 * x.grad.sign()).detach().requires_grad_(True)
        model.zero_grad()
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
""",
    "adversarial examples in a function": """\
import torch
from torch import nn
import torch.nn.functional as F
from attacks import pgd

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

def fgsm(x, y):
    x = x.clone().detach()
    x.requires_grad = True
    loss = F.mse_loss(model(x), y)
    model.zero_grad()
    loss.backward()
    g = x.grad.data
    return x + g.sign()
for x, y in loader:
    x2 = fgsm(x, y)
    optimizer.zero_grad()
    F.mse_loss(model(x2), y).backward()
    optimizer.step()
""",
    "sharpness by a library": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

from sam import perturb, restore
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    perturb(model)
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    restore(model)
    optimizer.step()
    optimizer.zero_grad()
""",
    "gradients of several tasks, put back by a library": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for x, y in loader:
    grads = []
    for t in range(2):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward(retain_graph=True)
        grads.append(torch.cat([p.grad.flatten().clone() for p in model.parameters()]))
    g = sum(grads)
    optimizer.zero_grad()
    set_grads(model, g)
    optimizer.step()
""",
    "a step that is tried again": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    try:
        optimizer.step()
    except RuntimeError:
        fix(model)
        optimizer.step()
""",
    "losses turned into numbers afterwards": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

losses = []
for x, y in loader:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss)
    losses = [l.item() for l in losses]
""",
    "a sum turned into a number in each turn": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

total = 0
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss
    total = total.item()
""",
    "a loss detached in place": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

total = 0
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    loss.detach_()
    optimizer.step()
    total += loss
""",
    "a loss that a library has reduced": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

total = 0
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    loss = reduce_mean(loss)
    total += loss
""",
    "the last few losses": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

from collections import deque
last = deque(maxlen=5)
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    last.append(loss)
""",
    "a learning rate divided by the window": """\
import torch
from torch import nn
import torch.nn.functional as F

accum = 4
lr = 0.1 / accum
model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
for i, (x, y) in enumerate(loader):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    if (i + 1) % accum == 0:
        optimizer.step(); optimizer.zero_grad()
""",
    "gradients divided all at once": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for i, (x, y) in enumerate(loader):
    F.mse_loss(model(x), y).backward()
    if (i + 1) % 4 == 0:
        torch._foreach_div_([p.grad for p in model.parameters()], 4)
        optimizer.step(); optimizer.zero_grad()
""",
    "a loss function that divides": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

class Crit(nn.Module):
    def __init__(self, n):
        super().__init__(); self.n = n; self.f = nn.MSELoss()
    def forward(self, a, b):
        return self.f(a, b) / self.n
crit = Crit(4)
for i, (x, y) in enumerate(loader):
    crit(model(x), y).backward()
    if (i + 1) % 4 == 0:
        optimizer.step(); optimizer.zero_grad()
""",
    "the scale taken out by hand": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

scaler = torch.cuda.amp.GradScaler()

for x, y in loader:
    optimizer.zero_grad()
    scaler.scale(F.mse_loss(model(x), y)).backward()
    inv = 1. / scaler.get_scale()
    for p in model.parameters(): p.grad.mul_(inv)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step(); scaler.update()
""",
    "a library that unscales": """\
import torch
from torch import nn
import torch.nn.functional as F
from h import unscale

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

scaler = torch.cuda.amp.GradScaler()

for x, y in loader:
    optimizer.zero_grad()
    scaler.scale(F.mse_loss(model(x), y)).backward()
    unscale(scaler, optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer); scaler.update()
""",
    "a library that updates the scaler": """\
import torch
from torch import nn
import torch.nn.functional as F
from h import finish

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

scaler = torch.cuda.amp.GradScaler()

for x, y in loader:
    optimizer.zero_grad()
    scaler.scale(F.mse_loss(model(x), y)).backward()
    scaler.step(optimizer)
    finish(scaler)
""",
    "a norm that is only measured": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for x, y in loader:
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total_norm = nn.utils.clip_grad_norm_(model.parameters(), 1e9)
    log(total_norm)
""",
    "a library that differentiates": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

from h import run_backward
for x, y in loader:
    optimizer.zero_grad()
    run_backward(model, x, y)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    F.mse_loss(model(x), y).backward()
    optimizer.step()
""",
    "a scaler that continues with its state": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)

for x, y in loader:
    scaler = torch.cuda.amp.GradScaler(init_scale=saved)
    scaler.load_state_dict(state)
    optimizer.zero_grad()
    scaler.scale(F.mse_loss(model(x), y)).backward()
    scaler.step(optimizer); scaler.update()
    state = scaler.state_dict()
""",
    "a library that freezes": """\
import torch
from torch import nn
import torch.nn.functional as F

from h import freeze
a = nn.Linear(3,3); b = nn.Linear(3,1)
freeze(a)
opt = torch.optim.Adam(b.parameters())
for x, y in loader:
    opt.zero_grad()
    F.mse_loss(b(a(x)), y).backward()
    opt.step()
""",
    "a library that switches gradients off": """\
import torch
from torch import nn
import torch.nn.functional as F

from h import toggle
G = nn.Linear(3,3); D = nn.Linear(3,1)
og = torch.optim.Adam(G.parameters()); od = torch.optim.Adam(D.parameters())
for x, _ in loader:
    od.zero_grad()
    (D(G(x).detach()).mean() - D(x).mean()).backward()
    od.step()
    toggle(D, False)
    og.zero_grad()
    (-D(G(x)).mean()).backward()
    og.step()
    toggle(D, True)
""",
    "a wrapper around the model": """\
import torch
from torch import nn
from h import wrap, Collector, Wrapper
model = wrap(nn.Linear(3,1))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
for x, y in loader:
    model.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
""",
    "a wrapper beside the model": """\
import torch
from torch import nn
from h import wrap, Collector, Wrapper
inner = nn.Linear(3,1)
model = Wrapper(inner)
optimizer = torch.optim.SGD(inner.parameters(), lr=.1)
for x, y in loader:
    model.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
""",
    "a collector that knows the model": """\
import torch
from torch import nn
from h import wrap, Collector, Wrapper
inner = nn.Linear(3,1)
opt = torch.optim.SGD(inner.parameters(), lr=.1)
c = Collector(inner)
for x, y in loader:
    for t in range(3):
        opt.zero_grad()
        nn.functional.mse_loss(inner(x), y).backward()
        c.collect()
    opt.zero_grad()
    c.write()
    opt.step()
""",
    "a helper that knows the model": """\
import torch
from torch import nn
from h import Agent
inner = nn.Linear(3,1)
agent = Agent(inner)
opt = torch.optim.SGD(inner.parameters(), lr=.1)
for x, y in loader:
    agent.reset_grads()
    nn.functional.mse_loss(inner(x), y).backward()
    opt.step()
""",
    "a trainer of which half is in sight": """\
import torch
from torch import nn
import h
class Net(h.Base):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 1)
        self.opt = torch.optim.SGD(self.l.parameters(), lr=.1)
    def forward(self, x): return self.l(x)
    def fit(self, loader):
        for x, y in loader:
            self.reset()
            nn.functional.mse_loss(self(x), y).backward()
            self.opt.step()
n = Net(); n.fit(loader)
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_certain_is_said(text: str) -> None:
    assert certain(text) == []
