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

import gradledger
from gradledger.checking.program import check_program

ROUNDS = 3
CORPUS = Path(__file__).parent.parent / "tests" / "corpus"
GRADLEDGER = (sys.executable, "-m", "gradledger")
STARTS = 15
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
"""As users have it: what was compiled once is not compiled again at each start."""


def took(command: tuple[str, ...]) -> tuple[float, float]:
    """The wall time and the CPU time of one command and its children, whatever it finds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=ENVIRONMENT
    )
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return end - start, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def spread(values: list[float], form: str = "{:.2f}") -> str:
    """The median with the smallest and the largest."""
    return f"{form.format(statistics.median(values))} ({form.format(min(values))}-{form.format(max(values))})"


def tree(root: str, rounds: int) -> None:
    """A large tree, single runs side by side."""
    files = sum(name.endswith(".py") for _, _, names in os.walk(root) for name in names)
    # .gitignore and virtual environments are left out by both tools, so the tree is named file by folder.
    ruff = (
        sys.executable,
        "-m",
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
    walls: list[tuple[float, float]] = []
    cpus: list[tuple[float, float]] = []
    for _ in range(rounds):
        theirs, mine = took(ruff), took(ours)
        walls.append((theirs[0], mine[0]))
        cpus.append((theirs[1], mine[1]))
    print(f"large tree, {files} files, {os.cpu_count()} processors")
    for what, times in (("wall", walls), ("CPU", cpus)):
        print(f"  files per second ({what}): {spread([files / mine for _, mine in times], '{:.0f}')}")
        print(f"  against ruff --select ALL (goal 0.50): {spread([ruff / mine for ruff, mine in times])}")


def training_files() -> None:
    """Files that train, one after the other in one process."""
    programs = [(path.read_text(), str(path)) for path in sorted(CORPUS.glob("*/*.py"))]

    def all_of_them() -> None:
        for text, path in programs:
            check_program(text, path)

    rates = [len(programs) / _cpu(all_of_them) for _ in range(ROUNDS)]
    print(f"files that train (goal 100): {spread(rates, '{:.0f}')} files per second of CPU")


def start_up() -> None:
    """The whole command on one small file, in turns with an empty Python."""
    check = (*GRADLEDGER, "check", "--no-cache")
    commands = {
        "python -c pass": (sys.executable, "-c", "pass"),
        "import gradledger": (sys.executable, "-c", "import gradledger"),
        "check --help": (*GRADLEDGER, "check", "--help"),
        "check, a file without training": (*check, gradledger.__file__),
        "check, a file that trains": (*check, str(CORPUS / "good" / "zero_both_sides.py")),
        "check, a file with a repair": (
            *check,
            str(CORPUS / "bad" / "GL101_lstm_char_model.py"),
        ),
    }
    for command in commands.values():
        took(command)  # compiles
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            times[name].append(took(command)[1] * 1000)
    print("start-up, ms of CPU (goal 120)")
    for name, each in times.items():
        print(f"  {name}: {spread(each, '{:.0f}')}")


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
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often the large tree is checked")
    args = parser.parse_args()
    start_up()
    training_files()
    growing()
    tree(args.tree, args.rounds)


if __name__ == "__main__":
    main()
