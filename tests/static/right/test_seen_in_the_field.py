"""Right programs of the kinds on which public code had shown the checker to be wrong."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs

_HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
_MODEL = "model = nn.Linear(3, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
_STEP = """\
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
"""
_LOOKED = """\
        optimizer = torch.optim.SGD(model.strategy.distribution.parameters(), lr=1.0)
        optimizer.zero_grad()
        loss(model).backward()
        optimizer.step()
        optimizer.zero_grad()
        loss(model).backward()
        found = model.strategy.distribution.weight.grad.clone()
        assert torch.allclose(found, torch.zeros(()))
"""
_OWN = """\
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        (F.mse_loss(model(x), y) / 4).backward()
        if (i + 1) % 4 == 0:
            scheduler.step()
            optimizer.step()
            optimizer.zero_grad()
"""
_LORA = """\
class Lora(nn.Module):
    def __init__(self, rank):
        super().__init__()
        self.up, self.down = nn.Linear(rank, 8), nn.Linear(8, rank)


def inject(model, rank):
    found = []
    for parent, name in find(model):
        made = Lora(rank)
        {put}
        found.append(made.up.parameters())
        found.append(made.down.parameters())
    return found


net = library.load('net')
net.requires_grad_(False)
optimizer = torch.optim.AdamW(itertools.chain(*inject(net, 4)), lr=1e-4)
for x, y in loader:
    F.mse_loss(net(x), y).backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
"""
_ENGINES = """\
generator, critic = nn.Linear(3, 3), nn.Linear(3, 1)
first = torch.optim.Adam(generator.parameters())
second = torch.optim.Adam(critic.parameters())
{first}
{second}
for x in loader:
    critic.zero_grad()
    one.backward(critic(x).mean())
    one.step()
    generator.zero_grad()
    two.backward(critic(generator(x)).mean())
    two.step()
"""
_SCALED = """\
    def train_step(self, data, optimizer, loss_scaler=None):
        optimizer['critic'].zero_grad()
        loss = self.critic(data).mean()
        if loss_scaler:
            loss_scaler.scale(loss).backward()
            loss_scaler.unscale_(optimizer['critic'])
            loss_scaler.step(optimizer['critic'])
        else:
            loss.backward()
            optimizer['critic'].step()
"""
_EITHER = """\
    if kind == 'cosine':
        torch.cos(a * b).sum().backward()
    elif kind == 'quadratic':
        torch.pow(a * b, 2).sum().backward()
    first = a.grad.clone()
    second = b.grad.clone()
    torch.sin(a * b).sum().backward()
    return first, second, a.grad, b.grad
"""
PLAIN = {
    "a test that looks at a gradient in the end": _HEAD
    + "from library import Model, loss\n\n\nclass Tests:\n"
    + "    def test_optimum(self):\n        model = Model()\n"
    + _LOOKED,
    "a function that looks at a gradient in the end": _HEAD
    + "from library import Model, loss\n\n\ndef optimum():\n    if True:\n        model = Model()\n"
    + _LOOKED,
    "a schedule of a module that is not found": _HEAD
    + "from schedulers import LinearWarmUpScheduler\n"
    + _MODEL
    + "scheduler = LinearWarmUpScheduler(optimizer, warmup=0.1, total_steps=100)\n"
    + _OWN,
    "a schedule of one's own": _HEAD
    + "\n\nclass Noam(torch.optim.lr_scheduler.LRScheduler):\n    def get_lr(self):\n"
    + "        return [rate * max(self.last_epoch, 1) for rate in self.base_lrs]\n\n\n"
    + _MODEL
    + "scheduler = Noam(optimizer)\n"
    + _OWN,
    "layers put into an unseen model by key": _HEAD
    + "import itertools, library\nfrom library import find\n\n\n"
    + _LORA.format(put="parent._modules[name] = made"),
    "layers put into an unseen model by name": _HEAD
    + "import itertools, library\nfrom library import find\n\n\n"
    + _LORA.format(put="setattr(parent, name, made)"),
    "engines of a library": _HEAD
    + "import deepspeed\n"
    + _ENGINES.format(
        first="two, first, _, _ = deepspeed.initialize(model=generator, optimizer=first)",
        second="one, second, _, _ = deepspeed.initialize(model=critic, optimizer=second)",
    ),
    "engines of one's own library": _HEAD
    + "from engines import start\n"
    + _ENGINES.format(first="two = start(generator, first)", second="one = start(critic, second)"),
    "a scaler that the runner updates": _HEAD + "\n\nclass Gan(nn.Module):\n" + _SCALED,
    "a profiler that is given the optimizer": _HEAD
    + "from library import MemoryProfiler\n"
    + _MODEL
    + "profiler = MemoryProfiler(model, optimizer, 'out')\nfor epoch in range(3):\n    for x, y in loader:\n"
    + _STEP
    + "        profiler.step()\n",
    "a monitor that is given the optimizer": _HEAD
    + "import library\n"
    + _MODEL
    + "monitor = library.Watch(optimizer, model=model)\nfor epoch in range(3):\n    for x, y in loader:\n"
    + _STEP
    + "        monitor.step()\n",
    "gradients that one of two arms fills": _HEAD
    + "\n\ndef gradients(kind):\n    a = torch.ones(3, requires_grad=True)\n"
    + "    b = torch.ones(3).requires_grad_(True)\n"
    + _EITHER,
    "gradients that a method fills in one of two arms": _HEAD
    + "\n\nclass Tests:\n    kind = settings.kind\n\n"
    + "    def test(self):\n        return self.run(self.kind)\n\n"
    + "    def run(self, kind):\n        a = torch.ones(3, requires_grad=True)\n"
    + "        b = torch.ones(3).requires_grad_(True)\n"
    + "".join(f"    {line}\n" for line in _EITHER.splitlines()),
    "the gradient of the whole data": _HEAD
    + "\n\ndef adapt(net, loader, rate):\n    optimizer = torch.optim.Adam(net.parameters(), lr=rate)\n"
    + "    optimizer.zero_grad()\n    for x, y in loader:\n        F.cross_entropy(net(x), y).backward()\n"
    + "    optimizer.step()\n",
    "a scale that is set by hand": _HEAD
    + "scaler = torch.cuda.amp.GradScaler()\n"
    + "from library import Vits\n"
    + "model = Vits()\nfirst = torch.optim.AdamW(model.generator.parameters())\n"
    + "second = torch.optim.AdamW(model.critic.parameters())\nfor x in loader:\n"
    + "    loss, stats = model(x, generator=False)\n    second.zero_grad()\n"
    + "    scaler.scale(loss).backward()\n    scaler.step(second)\n"
    + "    loss, stats = model(x, generator=True)\n    first.zero_grad()\n"
    + "    scaler.scale(loss).backward()\n    scaler.step(first)\n    scaler.update()\n"
    + "    now = scaler._scale.item()\n    if now < 8.0:\n        scaler.update(now * 2.0)\n",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_certain_is_said(text: str) -> None:
    assert certain(text) == []
