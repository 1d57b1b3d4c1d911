"""How cost grows: the CPU time for each unit at ten and a hundred times the size, against that at one.

Sizes take turns, so that a busy machine hits all of them. Cost that grows in proportion gives 1 everywhere.

python benchmarks/growth.py            the table, also into the pages
python benchmarks/growth.py --quick    small sizes, printed only
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

import gradledger
from figures.recordings import CYCLE, written
from figures.sources import long_file
from figures.tables import Table, run, setting, spread
from gradledger.checking.program import check_program
from gradledger.cli.collecting import SELDOM
from gradledger.report.page.build import page
from gradledger.report.replay.retelling import retold

Work = Callable[[], object]


@dataclass(frozen=True)
class Growth:
    """What is done, over what, and how a piece of work of some size is prepared."""

    what: str
    unit: str
    smallest: int
    prepare: Callable[[int], Work]


def loop(model: nn.Module, width: int) -> Callable[[], None]:
    """A plain training step."""
    optimizer, x = torch.optim.SGD(model.parameters(), lr=1e-6), torch.randn(2, width)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def audit_steps(steps: int) -> Work:
    """A long audited run."""
    step = loop(nn.Linear(4, 1), 4)

    def work() -> None:
        with gradledger.watch():
            for _ in range(steps):
                step()

    return work


def audit_tensors(tensors: int) -> Work:
    """Ten fully audited steps of one model."""
    step = loop(nn.Sequential(*(nn.Linear(4, 4) for _ in range(tensors // 2))), 4)

    def work() -> None:
        with gradledger.watch():
            for _ in range(10):
                step()

    return work


def check_lines(lines: int) -> Work:
    """One long file."""
    text = long_file(lines)
    return checking(text)


def check_loops(loops: int) -> Work:
    """One file of many training loops."""
    head = "import torch\nfrom torch import nn\n"
    text = head + "".join(
        f"def train{i}(model, data):\n"
        "    opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "    for x in data:\n"
        "        opt.zero_grad()\n        model(x).mean().backward()\n        opt.step()\n"
        for i in range(loops)
    )
    return checking(text)


def checking(text: str) -> Work:
    """A check that collects garbage as seldom as the command does."""

    def work() -> None:
        # At the usual pace the time of CPython's own parser is not linear.
        usual = gc.get_threshold()
        gc.set_threshold(SELDOM)
        check_program(text, "text.py")
        gc.set_threshold(*usual)

    return work


def report(thousands: int) -> Work:
    """A detailed recording as a page."""
    folder = tempfile.TemporaryDirectory(prefix="gradledger-growth-")
    path = written(thousands // CYCLE, Path(folder.name))

    def work() -> None:
        told = retold(str(path), folder.name)
        page(told, told.answer, "run", folder.name)

    return work


def engine(every: int) -> Callable[[int], Work]:
    """Micro-batches in windows of this length."""

    def prepare(passes: int) -> Work:
        model, x = nn.Linear(4, 1), torch.randn(2, 4)
        acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=1e-6), every=every)

        def work() -> None:
            for _ in range(passes):
                acc.backward(model(x).square().mean(), count=2)

        return work

    return prepare


def engine_tensors(tensors: int) -> Work:
    """Ten windows of two micro-batches of one model."""
    model, x = nn.Sequential(*(nn.Linear(4, 4) for _ in range(tensors // 2))), torch.randn(2, 4)
    acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=1e-6), every=2)

    def work() -> None:
        for _ in range(20):
            acc.backward(model(x).square().mean(), count=2)

    return work


GROWTHS = (
    Growth("audit", "step", 300, audit_steps),
    Growth("audit", "parameter tensor", 100, audit_tensors),
    Growth("check", "line of a file", 1_000, check_lines),
    Growth("check", "training loop of a file", 5, check_loops),
    Growth("report", "recorded step", CYCLE, report),
    Growth("engine", "micro-batch", 300, engine(4)),
    Growth("engine", "parameter tensor", 100, engine_tensors),
)


def measured(growth: Growth, factors: tuple[int, ...], rounds: int) -> dict[int, list[float]]:
    """For each factor the cost of a unit against that at the smallest size, round by round."""
    works = {factor: growth.prepare(growth.smallest * factor) for factor in (1, *factors)}
    again = max(factors)
    ratios: dict[int, list[float]] = {factor: [] for factor in factors}
    for work in works.values():
        work()  # what is done once is no part of it
    gc.collect()
    gc.freeze()  # PyTorch's many objects are no part of what is collected while a file is checked
    for _ in range(rounds):
        each = {factor: _cpu(work, again // factor) / factor for factor, work in works.items()}
        for factor in factors:
            ratios[factor].append(each[factor] / each[1])
    gc.unfreeze()
    return ratios


def _cpu(work: Work, times: int) -> float:
    # The smallest size is repeated, up to a limit, so that a clock of coarse steps does no harm.
    times = max(1, min(times, 20))
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times


def tables(quick: bool) -> Iterator[Table]:
    """The table."""
    torch.set_num_threads(1)
    factors, rounds = ((2, 4), 2) if quick else ((10, 100), 3)
    rows = []
    for growth in GROWTHS:
        found = measured(growth, factors, rounds)
        rows.append(
            (
                f"{growth.what}, per {growth.unit}",
                f"{growth.smallest:,}",
                *(spread(found[f]) for f in factors),
            )
        )
    columns = ("CPU time", "size at 1x", *(f"{factor}x" for factor in factors))
    note = f"Median and quartiles of {rounds} rounds in turns. {setting('torch')}"
    yield Table("growth", columns, rows, note)


if __name__ == "__main__":
    run(__doc__, tables)
