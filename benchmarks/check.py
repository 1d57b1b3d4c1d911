"""What checking costs: beside ruff on a large tree, on files that train, at start-up, and with growing files.

python benchmarks/check.py                    the table, over the site-packages of this environment
python benchmarks/check.py --tree DIRECTORY   over another tree
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from gradledger.checking.program import check_program

ROUNDS = 3
CORPUS = Path(__file__).parent.parent / "tests" / "corpus"
GRADLEDGER = (sys.executable, "-m", "gradledger")


def seconds(command: tuple[str, ...]) -> float:
    """The wall time of one command, whatever it finds."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def cpu(command: tuple[str, ...]) -> float:
    """The CPU time of one command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def spread(values: list[float], form: str = "{:.2f}") -> str:
    """The median with the smallest and the largest."""
    return f"{form.format(statistics.median(values))} ({form.format(min(values))}-{form.format(max(values))})"


def tree(root: str) -> None:
    """A large tree, single runs side by side."""
    files = sum(name.endswith(".py") for _, _, names in os.walk(root) for name in names)
    # .gitignore and virtual environments are left out by both tools, so the tree is named file by folder.
    ruff = (
        "ruff",
        "check",
        "--select",
        "ALL",
        "--no-cache",
        "--no-respect-gitignore",
        "--isolated",
        "-q",
        root,
    )
    ours = (*GRADLEDGER, "check", "--no-cache", root)
    ratios: list[float] = []
    rates: list[float] = []
    for _ in range(ROUNDS):
        theirs = seconds(ruff)
        mine = seconds(ours)
        rates.append(files / mine)
        ratios.append(theirs / mine)
    print(f"large tree, {files} files: {spread(rates, '{:.0f}')} files/s")
    print(f"  files/s against ruff --select ALL (goal 0.50): {spread(ratios)}")


def training_files() -> None:
    """Files that train, one after the other in one process."""
    programs = [(path.read_text(), str(path)) for path in sorted(CORPUS.glob("*/*.py"))]

    def all_of_them() -> None:
        for text, path in programs:
            check_program(text, path)

    rates = [len(programs) / _cpu(all_of_them) for _ in range(ROUNDS)]
    print(f"files that train (goal 100): {spread(rates, '{:.0f}')} files per second of CPU")


def start_up() -> None:
    """The whole command on one small file, beside an empty Python."""
    small = str(next(CORPUS.glob("good/*.py")))
    ours = [cpu((*GRADLEDGER, "check", "--no-cache", small)) * 1000 for _ in range(5)]
    bare = [cpu((sys.executable, "-c", "pass")) * 1000 for _ in range(5)]
    goal = max(120.0, 2 * statistics.median(bare))
    print(f"start-up with one file: {spread(ours, '{:.0f}')} ms of CPU (goal {goal:.0f})")
    print(f"  python -c pass: {spread(bare, '{:.0f}')} ms")


def growing() -> None:
    """Files of one kind that become longer: the time for each line should stay."""
    for lines in (1_250, 5_000, 20_000):
        text = _long(lines)
        each = [_cpu(lambda text=text: check_program(text, "long.py")) / lines * 1e6 for _ in range(ROUNDS)]
        print(f"generated file of {lines} lines: {spread(each, '{:.1f}')} microseconds of CPU for each line")


def _long(lines: int) -> str:
    """A training loop behind many functions that have nothing to do with it."""
    head = "import torch\nfrom torch import nn\n"
    filler = "".join(
        f"def f{i}(a, b):\n    c = a + b * {i}\n    return [c, a]\n\n" for i in range(lines // 4)
    )
    loop = (
        "model = nn.Linear(4, 1)\nopt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for x in torch.randn(30, 8, 4):\n    loss = model(x).mean()\n    loss.backward()\n    opt.step()\n"
    )
    return head + filler + loop


def _cpu(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", default=sysconfig.get_paths()["purelib"], help="the large tree")
    root = parser.parse_args().tree
    start_up()
    training_files()
    growing()
    tree(root)


if __name__ == "__main__":
    main()
