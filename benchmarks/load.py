"""Great load: many steps, many tensors, many optimizers, several threads, a large recording.

Each part runs in a process of its own, so that its memory is its own.

python benchmarks/load.py            the tables, also into the pages
python benchmarks/load.py --quick    small sizes, printed only
"""

from __future__ import annotations

import gc
import itertools
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from torch import nn

import gradledger
from figures.recordings import recording_of
from figures.tables import Table, run, setting, spread

MIB = 2**20


def resident() -> float:
    """The memory this process holds now, in MiB."""
    with open("/proc/self/statm", encoding="ascii") as counts:
        return int(counts.read().split()[1]) * resource.getpagesize() / MIB


def alone(work: Callable[..., Any], *arguments: Any) -> Any:
    """What the work gives in a new process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


# -- many steps -----------------------------------------------------------------------------------------


def even() -> Callable[[], None]:
    """A loop that repeats itself."""
    model, x = nn.Linear(2, 1), torch.randn(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def never_the_same() -> Callable[[], None]:
    """A loop that trains another random half of 24 layers in each step."""
    layers, x, choice = nn.ModuleList(nn.Linear(2, 2) for _ in range(24)), torch.randn(2, 2), random.Random(0)
    optimizer = torch.optim.SGD(layers.parameters(), lr=1e-5)

    def step() -> None:
        optimizer.zero_grad()
        value = x
        for layer in choice.sample(list(layers), 12):
            value = layer(value)
        value.square().mean().backward()
        optimizer.step()

    return step


def many_steps(kind: str, marks: list[int]) -> list[tuple[int, float, float]]:
    """At each mark: how many steps, the seconds so far, the memory held."""
    torch.set_num_threads(1)
    step = {"even": even, "never the same": never_the_same}[kind]()
    found, start = [], time.perf_counter()
    with gradledger.watch() as ledger:
        for count in itertools.count(1):
            step()
            if count in marks:
                gc.collect()
                found.append((count, time.perf_counter() - start, resident()))
                if count == marks[-1]:
                    break
    answer = ledger.so_far()
    assert (answer.checked.steps, answer.findings) == (marks[-1], ()), answer
    return found


def steps_table(*, quick: bool) -> Table:
    """Memory over a long run."""
    scale = 1000 if quick else 1
    rows = []
    for title, kind, marks in (
        ("the same in every step", "even", [10_000, 100_000, 500_000, 1_000_000]),
        ("another random half of 24 layers", "never the same", [10_000, 20_000, 40_000]),
    ):
        for count, seconds, memory in alone(many_steps, kind, [mark // scale for mark in marks]):
            rows.append((title, f"{count:,}", f"{memory:.0f} MiB", f"{seconds:.0f} s"))
    return Table("load-steps", ("loop", "audited steps", "memory held", "so far"), rows)


# -- many tensors, many optimizers ----------------------------------------------------------------------


def chain(tensors: int) -> Callable[[], None]:
    """One model of so many small parameter tensors."""
    model, x = nn.Sequential(*(nn.Linear(4, 4) for _ in range(tensors // 2))), torch.randn(2, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def together(models: int) -> Callable[[], None]:
    """A round in which each of so many models is trained by its two optimizers."""
    x, parts = torch.randn(8, 10), []
    for _ in range(models):
        body, head = nn.Sequential(nn.Linear(10, 32), nn.ReLU()), nn.Linear(32, 1)
        parts.append((body, head, [torch.optim.SGD(part.parameters(), lr=1e-3) for part in (body, head)]))

    def step() -> None:
        for body, head, optimizers in parts:
            for optimizer in optimizers:
                optimizer.zero_grad()
            head(body(x)).square().mean().backward()
            for optimizer in optimizers:
                optimizer.step()

    return step


def in_turns(build: str, size: int, rounds: int, steps: int) -> tuple[list[float], float]:
    """The ratios of an audited step's CPU time to a plain one's, and the memory held at the end."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    plain, watched = (globals()[build](size) for _ in range(2))
    for step in (plain, watched):
        step()
    ratios = []
    for _ in range(rounds):
        gc.collect()
        first = cpu(plain, steps)
        with gradledger.watch() as ledger:
            cpu(watched, 3)
            audited = cpu(watched, steps)
        assert not ledger.findings, ledger
        ratios.append(2 * audited / (first + cpu(plain, steps)))
    return ratios, resident()


def cpu(step: Callable[[], None], count: int) -> float:
    """CPU time of so many steps."""
    start = time.process_time()
    for _ in range(count):
        step()
    return time.process_time() - start


def models_table(*, quick: bool) -> Table:
    """The cost of a step with many tensors, and with many optimizers."""
    rounds = 2 if quick else 9
    cases = [
        ("chain", size, f"one model of {size:,} tensors", max(2, 2000 // size))
        for size in (100, 1_000, 10_000)
    ]
    cases += [
        ("together", size, f"{size} model{'s' * (size > 1)}, {2 * size} optimizers", 160 // size)
        for size in (1, 2, 4, 8)
    ]
    rows = []
    for build, size, title, steps in cases[:2] + cases[3:4] if quick else cases:
        ratios, memory = alone(in_turns, build, size, rounds, 2 if quick else steps)
        rows.append((title, spread(ratios), f"{memory:.0f} MiB"))
    note = (
        "CPU time of a fully audited step against the same step unaudited; median and quartiles of "
        f"{rounds} rounds in turns. {setting('torch')}"
    )
    return Table("load-models", ("trained at once", "ratio", "memory held"), rows, note)


# -- threads --------------------------------------------------------------------------------------------


def side_by_side(threads: int, rounds: int, steps: int) -> tuple[list[float], int]:
    """The ratios of CPU time with threads that train side by side, and how many steps were audited."""
    torch.set_num_threads(1)
    audited, ratios = 0, []

    def all_of_them(build: Callable[[], Callable[[], None]]) -> float:
        workers = [threading.Thread(target=cpu, args=(build(), steps)) for _ in range(threads)]
        start = time.process_time()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return time.process_time() - start

    for _ in range(rounds):
        before = all_of_them(even)
        with gradledger.watch() as ledger:
            watched = all_of_them(even)
        assert not ledger.findings, ledger
        audited += ledger.so_far().checked.steps
        ratios.append(2 * watched / (before + all_of_them(even)))
    return ratios, audited


def threads_table(*, quick: bool) -> Table:
    """The cost of auditing several threads in one process."""
    rounds, steps, rows = (2, 50, []) if quick else (9, 2_000, [])
    for threads in (1, 2, 4):
        ratios, audited = alone(side_by_side, threads, rounds, steps)
        assert audited == threads * rounds * steps, audited
        rows.append((str(threads), spread(ratios), f"{audited:,}"))
    note = (
        f"A tiny model in each thread, {steps:,} steps in each of {rounds} rounds in turns; every step of "
        f"every thread was booked. {setting('torch')}"
    )
    return Table("load-threads", ("threads", "ratio of CPU time", "steps audited"), rows, note)


# -- a large recording ----------------------------------------------------------------------------------


def rendered(recording: Path, page: Path) -> tuple[float, float]:
    """CPU seconds and the peak of memory in MiB of `gradledger report`."""
    call = [sys.executable, "-m", "gradledger", "report", str(recording), "--output", str(page)]
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.returncode
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / MIB


def recordings_table(*, quick: bool) -> Table:
    """Recordings up to a gigabyte as pages."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="gradledger-load-") as folder:
        page = Path(folder, "page.html")
        for size in (1_000_000,) if quick else (10_000_000, 100_000_000, 1_000_000_000):
            path, steps = recording_of(size, Path(folder))
            seconds, memory = rendered(path, page)
            held = f"{memory:.0f} MiB", f"{page.stat().st_size / 1000:.0f} KB"
            rows.append((f"{path.stat().st_size / 1e6:,.0f} MB", f"{steps:,}", f"{seconds:.0f} s", *held))
            path.unlink()
    return Table("load-recordings", ("recording", "steps", "CPU time", "memory at most", "page"), rows)


def tables(quick: bool) -> Iterator[Table]:
    """All of them."""
    yield models_table(quick=quick)
    yield threads_table(quick=quick)
    yield steps_table(quick=quick)
    yield recordings_table(quick=quick)


if __name__ == "__main__":
    run(__doc__, tables)
