"""A set-up becomes a complete Python script that runs on its own."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.ledger.record import dataclass
from gradledger.lessons.playground.link import query
from gradledger.lessons.playground.setup import Setup

EVEN, UNEVEN = (8,), (8, 2, 6, 4)
"""Samples in the micro-batches, in turns."""

_SINGLE = {
    "loss": "loss = loss_fn(prediction, y)",
    "divide": "loss = loss / EVERY",
    "weigh": "loss = loss * len(x) / SAMPLES[i // EVERY]",
    "scale": "loss = scaler.scale(loss)",
    "backward": "loss.backward()",
    "unscale": "scaler.unscale_(optimizer)",
    "clip": "nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)",
    "step": "optimizer.step()",
    "scaled_step": "scaler.step(optimizer)",
    "update": "scaler.update()",
    "schedule": "scheduler.step()",
}
_PAIR = {
    "forward": "fake = generator(z)",
    "loss_d": "loss_d = loss_fn(discriminator(x), ones) + loss_fn(discriminator(fake.detach()), zeros)",
    "loss_g": "loss_g = loss_fn(discriminator(fake), ones)",
    "backward_d": "loss_d.backward()",
    "backward_g": "loss_g.backward()",
    "step_d": "optimizer_d.step()",
    "step_g": "optimizer_g.step()",
}
_OPTIMIZERS = {
    "sgd": "torch.optim.SGD({}, lr=0.1)",
    "momentum": "torch.optim.SGD({}, lr=0.02, momentum=0.9)",
    "adam": "torch.optim.Adam({}, lr=0.02)",
    "adamw": "torch.optim.AdamW({}, lr=0.02)",
}
_GUARDS = {
    "whole": "if (i + 1) % EVERY == 0 or i + 1 == len(batches):",
    "plain": "if (i + 1) % EVERY == 0:",
    "early": "if i % EVERY == 0:",
}

Origin = tuple[str, int]
"""A block by its lane and its place there."""


@dataclass(frozen=True, slots=True)
class Program:
    """A script, and which block each of its lines came from."""

    text: str
    origins: dict[int, Origin]
    """Line, counted from 1 -> block."""


def program(setup: Setup) -> Program:
    """The script of this set-up."""
    writer = _Writer(setup)
    for line in _HEAD:
        writer.write(0, line.format(query=query(setup)))
    writer.settings()
    writer.loop()
    for line in _PAIR_TAIL if setup.second else _SINGLE_TAIL:
        writer.write(0, line)
    return Program("\n".join(writer.lines) + "\n", writer.origins)


def shown_code(block: str) -> str:
    """What a block stands for, in short."""
    if block.startswith("zero"):
        return f"optimizer{block[4:]}.zero_grad()"
    short = {"forward": "model(x)", "loss": "loss_fn(prediction, y)", "clip": "clip_grad_norm_(…, 1.0)"}
    short |= {"loss_d": "real → 1, fake → 0", "loss_g": "fake → 1", "weigh": "loss * len(x) / samples"}
    return short.get(block) or _SINGLE.get(block) or _PAIR[block]


class _Writer:
    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.lines: list[str] = []
        self.origins: dict[int, Origin] = {}

    def write(self, depth: int, line: str, origin: Origin | None = None) -> None:
        self.lines.append("    " * depth + line if line else "")
        if origin is not None:
            self.origins[len(self.lines)] = origin

    def settings(self) -> None:
        setup = self._setup
        used = setup.used
        if setup.every > 1 or used & {"divide", "weigh"}:
            self.write(0, f"EVERY = {setup.every}  # micro-batches in a window")
        self.write(0, f"EPOCHS = {setup.epochs}")
        self.write(0, f"SIZES = {_sizes(setup)}  # samples in each micro-batch")
        if "weigh" in used:
            self.write(0, "SAMPLES = [sum(SIZES[i : i + EVERY]) for i in range(0, len(SIZES), EVERY)]")
        self.write(0, "")
        built = _OPTIMIZERS[setup.optimizer]
        if setup.second:
            d, g = built.format("discriminator.parameters()"), built.format("generator.parameters()")
            for line in _PAIR_DATA:
                self.write(0, line.format(d=d, g=g))
        else:
            for line in _SINGLE_DATA:
                self.write(0, line.format(built=built.format("model.parameters()")))
            if "schedule" in used:
                self.write(0, "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)")
            if setup.amp:
                self.write(0, 'scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)')
        self.write(0, "")

    def loop(self) -> None:
        setup = self._setup
        self.write(0, "for epoch in range(EPOCHS):")
        self._lane("epoch_start", 1)
        self.write(1, f"for i, (x, {'z' if setup.second else 'y'}) in enumerate(batches):")
        if setup.second:
            self.write(2, "ones, zeros = torch.ones(len(x), 1), torch.zeros(len(x), 1)")
        before = len(self.lines) - setup.second
        guarded = setup.every > 1
        if guarded and setup.lane("window_start"):
            self.write(2, "if i % EVERY == 0:")
        self._lane("window_start", 3 if guarded else 2)
        self._lane("batch", 2)
        if guarded and setup.lane("window_end"):
            self.write(2, _GUARDS[setup.guard])
        self._lane("window_end", 3 if guarded else 2)
        if len(self.lines) == before:
            self.write(2, "pass")
        self._lane("epoch_end", 1)
        self.write(0, "")

    def _lane(self, name: str, depth: int) -> None:
        blocks = self._setup.lane(name)
        for at, block in enumerate(blocks):
            if block == "scale" and blocks[at + 1 : at + 2] == ("backward",):
                self.write(depth, "scaler.scale(loss).backward()", (name, at + 1))
            elif block == "backward" and at and blocks[at - 1] == "scale":
                continue  # stands in one line with the scale
            else:
                self._block(block, depth, (name, at))

    def _block(self, block: str, depth: int, origin: Origin) -> None:
        setup = self._setup
        argument = "" if setup.set_to_none else "set_to_none=False"
        if block.startswith("zero"):
            self.write(depth, f"optimizer{block[4:]}.zero_grad({argument})", origin)
        elif setup.second:
            self.write(depth, _PAIR[block], origin)
        elif block == "forward" and setup.amp:
            self.write(depth, 'with torch.autocast("cpu", dtype=torch.float16):', origin)
            self.write(depth + 1, "prediction = model(x)", origin)
        elif block == "forward":
            self.write(depth, "prediction = model(x)", origin)
        elif block == "loss" and setup.amp:
            self.write(depth, "loss = loss_fn(prediction.float(), y)", origin)
        else:
            self.write(depth, _SINGLE[block], origin)


def _sizes(setup: Setup) -> str:
    if setup.sizes == "even":
        return f"{list(EVEN)} * {setup.batches}"
    return str(sizes(setup))


def sizes(setup: Setup) -> list[int]:
    """How many samples each micro-batch of an epoch holds."""
    cycle: Sequence[int] = EVEN if setup.sizes == "even" else UNEVEN
    return [cycle[at % len(cycle)] for at in range(setup.batches)]


_HEAD = (
    '"""A training loop put together in the gradledger playground."""',
    '# The same blocks again: gradledger learn playground "{query}"',
    "",
    "import torch",
    "from torch import nn",
    "",
)
_SINGLE_DATA = (
    "torch.manual_seed(0)",
    "inputs = torch.randn(sum(SIZES), 4)",
    "targets = inputs.sin().sum(1, keepdim=True)",
    "batches = list(zip(inputs.split(SIZES), targets.split(SIZES)))",
    "",
    "model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))",
    "loss_fn = nn.MSELoss()",
    "optimizer = {built}",
)
_PAIR_DATA = (
    "torch.manual_seed(0)",
    "real = 0.5 * torch.randn(sum(SIZES), 2) + 2",
    "noise = torch.randn(sum(SIZES), 2)",
    "batches = list(zip(real.split(SIZES), noise.split(SIZES)))",
    "",
    "generator = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))",
    "discriminator = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))",
    "loss_fn = nn.BCEWithLogitsLoss()",
    "optimizer_d = {d}",
    "optimizer_g = {g}",
)
_SINGLE_TAIL = (
    "with torch.no_grad():",
    '    print(f"loss on all data: {loss_fn(model(inputs), targets):.4f}")',
)
_PAIR_TAIL = (
    "with torch.no_grad():",
    "    judged = discriminator(generator(noise)).sigmoid().mean()",
    '    print(f"the discriminator takes {judged:.0%} of the fakes for real")',
)
