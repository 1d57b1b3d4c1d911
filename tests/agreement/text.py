"""A loop's description -> the Python text of a whole program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.agreement.loops import (
    Clearing,
    Guard,
    Held,
    Link,
    Loop,
    Op,
    Place,
    Player,
    Precision,
    Shape,
    Source,
    Tail,
)

BATCH = 6
SCALE = 64.0
BOUND = 0.05
"""Small enough that every clip bites."""

IMPORTS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
"""
MODELS = ("model", "critic")


def written(loop: Loop) -> str:
    """The program."""
    return Writer(loop).program()


class Writer:
    """Writes one program."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.own = "self." if loop.shape is Shape.TRAINER else ""
        self.single = len(loop.players) == 1 or loop.link is Link.JOINT

    # -- the whole --------------------------------------------------------------------------------------

    def program(self) -> str:
        lines = [*IMPORTS.splitlines(), *self.data(), *self.functions()]
        match self.loop.shape:
            case Shape.SCRIPT:
                lines += [*self.state(), *self.parts(), *self.epochs()]
            case Shape.MAIN:
                lines += ["", "", "def main():"]
                lines += indented([*self.state(), *self.parts(), *self.epochs()])
                lines += ["", "", "main()"]
            case Shape.TRAINER:
                lines += ["", "", "class Trainer:", "    def __init__(self):", *indented(self.state(), 2)]
                lines += indented(self.parts())
                lines += ["", "    def fit(self):", *indented(self.epochs(), 2), "", "", "Trainer().fit()"]
        return "\n".join(lines) + "\n"

    def data(self) -> Iterator[str]:
        loop = self.loop
        samples = BATCH * loop.batches
        yield f"X = torch.randn({samples}, 6).double()"
        yield f"Y = torch.randn({samples}, 8).double()"
        if loop.source is Source.LOADER:
            yield f"loader = DataLoader(TensorDataset(X, Y), batch_size={BATCH})"
        else:
            yield f"loader = list(zip(X.split({BATCH}), Y.split({BATCH})))"
        yield "loss_fn = nn.MSELoss()"
        if loop.guard is not Guard.EVERY:
            yield f"n = {loop.size}"
        if loop.precision in (Precision.ARM_ON, Precision.ARM_OFF):
            yield f"use_amp = {loop.precision is Precision.ARM_ON}"
        if loop.flagged is not None:
            yield f"use_{loop.flagged.value} = True"
        if loop.dead is not None:
            yield "debug = False"

    def functions(self) -> Iterator[str]:
        if any(player.clearing is Clearing.HELPER for player in self.loop.players):
            yield from ("", "", "def clear_gradients(optimizer):", "    optimizer.zero_grad()", "", "")

    def state(self) -> Iterator[str]:
        loop, own = self.loop, self.own
        for number, player in enumerate(loop.players):
            inputs = 8 if number and loop.link is not Link.SEPARATE else 6
            yield f"{own}{MODELS[number]} = nn.Linear({inputs}, 8).double()"
            yield (
                f"{self.optimizer(number)} = torch.optim.SGD({own}{MODELS[number]}.parameters(), lr=0.001)"
            )
            if player.has(Op.SCHEDULE):
                yield (
                    f"{self.scheduler(number)} = "
                    f"torch.optim.lr_scheduler.ExponentialLR({self.optimizer(number)}, gamma=0.9)"
                )
        if loop.precision is not Precision.PLAIN:
            enabled = ", enabled=False" if loop.precision is Precision.DISABLED else ""
            yield f'{own}scaler = torch.amp.GradScaler("cpu", init_scale={SCALE}{enabled})'
        if loop.guard is Guard.RUNNING:
            yield f"{own}count = 0"

    def parts(self) -> Iterator[str]:
        """The functions or methods that hold a part of the loop."""
        me = "self" if self.own else ""
        if self.loop.held is Held.UPDATE:
            for number in self.turns():
                yield from ("", f"def update{self.suffix(number)}({me}):")
                yield from indented(self.update(number) or ["pass"])
            yield ""
        if self.loop.held is Held.PASS:
            for number in self.turns():
                parameters = ", ".join(filter(None, (me, "x", "y")))
                yield from ("", f"def learn{self.suffix(number)}({parameters}):")
                yield from indented(self.learn(number))
            yield ""

    # -- the loop ---------------------------------------------------------------------------------------

    def epochs(self) -> Iterator[str]:
        yield from self.all_at(Place.RUN)
        yield "for epoch in range(2):"
        yield from indented(self.epoch())

    def epoch(self) -> Iterator[str]:
        loop = self.loop
        yield from self.all_at(Place.EPOCH)
        if loop.guard is Guard.COUNTER:
            yield f"{self.own}count = 0"
        counted = loop.guard not in (Guard.EVERY, Guard.INNER)
        yield "for i, (x, y) in enumerate(loader):" if counted else "for x, y in loader:"
        for number in self.turns():
            yield from indented(self.batch(number))
        if loop.tail is Tail.AFTER:
            yield "if len(loader) % n != 0:"
            for number in self.turns():
                yield from indented(self.updated(number) or ["pass"])
        yield from self.all_at(Place.EPOCH_END)

    def batch(self, number: int) -> Iterator[str]:
        """What one batch does for one loss."""
        yield from self.at(Place.START, number)
        if self.loop.guard is Guard.INNER:
            yield "for xs, ys in zip(x.chunk(n), y.chunk(n)):"
            yield from indented(self.passed(number, "xs", "ys"))
        else:
            yield from self.passed(number, "x", "y")
        yield from self.guarded(number, self.updated(number))
        yield from self.at(Place.END, number)

    def passed(self, number: int, x: str, y: str) -> Iterator[str]:
        if self.loop.held is Held.PASS:
            yield f"{self.own}learn{self.suffix(number)}({x}, {y})"
        else:
            yield from self.learn(number, x, y)
        yield from self.at(Place.BACKWARD, number)
        if self.loop.dead is not None and not number:
            yield from ("if debug:", *indented(self.call(self.loop.dead, number)))

    def learn(self, number: int, x: str = "x", y: str = "y") -> list[str]:
        """Forward and backward of one loss."""
        loop, own = self.loop, self.own
        match loop.link, number:
            case ((Link.JOINT | Link.THROUGH), 0) if len(loop.players) == 2:
                output = f"{own}critic({own}model({x}))"
            case Link.THROUGH, 1:
                output = f"{own}critic({own}model({x}).detach())"
            case _:
                output = f"{own}{MODELS[number]}({x})"
        over = " / n" if loop.divided and loop.guard is not Guard.EVERY else ""
        lines = [f"loss = loss_fn({output}, {y}){over}", *self.at(Place.FORWARD, number)]
        scaled = loop.players[number].scaled
        plain, through = "loss.backward()", f"{own}scaler.scale(loss).backward()"
        return lines + self.arms([through if scaled else plain], [plain])

    def guarded(self, number: int, body: list[str]) -> Iterator[str]:
        """The update under the loop's guard."""
        loop, own = self.loop, self.own
        last = " or i + 1 == len(loader)" if loop.tail is Tail.GUARD else ""
        match loop.guard:
            case Guard.EVERY | Guard.INNER:
                yield from body
                return
            case Guard.MODULO:
                yield f"if (i + 1) % n == 0{last}:"
            case Guard.EARLY:
                yield f"if i % n == 0{last}:"
            case Guard.FLAG:
                yield f"ready = (i + 1) % n == 0{last}"
                yield "if ready:"
            case Guard.CONTINUE:
                yield "if (i + 1) % n != 0" + (" and i + 1 < len(loader):" if last else ":")
                yield from ("    continue", *body)
                return
            case Guard.COUNTER | Guard.RUNNING:
                if not number:
                    yield f"{own}count += 1"
                yield f"if {own}count == n{last}:"
                ends = number == len(loop.players) - 1 or self.single
                body = [*body, f"{own}count = 0"] if ends else body
        yield from indented(body or ["pass"])

    def updated(self, number: int) -> list[str]:
        if self.loop.held is Held.UPDATE:
            return [f"{self.own}update{self.suffix(number)}()"]
        return self.update(number)

    def update(self, number: int) -> list[str]:
        return list(self.at(Place.UPDATE, number))

    # -- calls ------------------------------------------------------------------------------------------

    def turns(self) -> range:
        """The losses of one batch: one for each player, or one for all."""
        return range(1 if self.single else len(self.loop.players))

    def all_at(self, place: Place) -> Iterator[str]:
        for number in self.turns():
            yield from self.at(place, number)

    def at(self, place: Place, number: int) -> Iterator[str]:
        """The calls at one place that go with one loss."""
        players = range(len(self.loop.players)) if self.single else (number,)
        for player in players:
            for op in self.loop.players[player].at(place):
                yield from self.flagged(op, self.call(op, player))

    def flagged(self, op: Op, lines: list[str]) -> list[str]:
        return [f"if use_{op.value}:", *indented(lines)] if op is self.loop.flagged else lines

    def call(self, op: Op, number: int) -> list[str]:
        own, player, optimizer = self.own, self.loop.players[number], self.optimizer(number)
        match op:
            case Op.CLEAR:
                return self.clear(number, player)
            case Op.CLIP:
                return [f"nn.utils.clip_grad_norm_({own}{MODELS[number]}.parameters(), {BOUND})"]
            case Op.STEP:
                through = [f"{own}scaler.step({optimizer})"]
                plain = [f"{optimizer}.step()"]
                return self.arms(through if player.through_scaler else plain, plain)
            case Op.SCHEDULE:
                return [f"{self.scheduler(number)}.step()"]
            case Op.UNSCALE:
                return self.arms([f"{own}scaler.unscale_({optimizer})"], [])
            case Op.RESCALE:
                return self.arms([f"{own}scaler.update()"], [])

    def clear(self, number: int, player: Player) -> list[str]:
        model, optimizer = f"{self.own}{MODELS[number]}", self.optimizer(number)
        loop = f"for p in {model}.parameters():"
        match player.clearing:
            case Clearing.OPTIMIZER:
                return [f"{optimizer}.zero_grad()"]
            case Clearing.ZEROS:
                return [f"{optimizer}.zero_grad(set_to_none=False)"]
            case Clearing.MODEL:
                return [f"{model}.zero_grad()"]
            case Clearing.NONE:
                return [loop, "    p.grad = None"]
            case Clearing.IN_PLACE:
                return [loop, "    if p.grad is not None:", "        p.grad.zero_()"]
            case Clearing.HELPER:
                return [f"clear_gradients({optimizer})"]

    def arms(self, scaled: list[str], plain: list[str]) -> list[str]:
        """What mixed precision does, or the rest, as far as the program knows both."""
        match self.loop.precision:
            case Precision.PLAIN:
                return plain
            case Precision.SCALER | Precision.DISABLED:
                return scaled
            case _ if scaled == plain:
                return plain
        otherwise = ["else:", *indented(plain)] if plain else []
        return ["if use_amp:", *indented(scaled), *otherwise]

    def optimizer(self, number: int) -> str:
        return f"{self.own}{'critic_' if number else ''}optimizer"

    def scheduler(self, number: int) -> str:
        return f"{self.own}{'critic_' if number else ''}scheduler"

    def suffix(self, number: int) -> str:
        return "_critic" if number else ""


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    """The lines, further to the right."""
    return ["    " * depth + line if line else "" for line in lines]
