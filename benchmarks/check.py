"""What checking costs: beside ruff on a large tree, on files that train, and at start-up.

python benchmarks/check.py                    the tables, over torch and transformers as installed here
python benchmarks/check.py --quick            without the large tree, printed only
python benchmarks/check.py --tree DIRECTORY   over another tree; may be given several times
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import gradledger
from figures.tables import Table, present, setting, spread
from gradledger.checking.program import check_program

ROUNDS = 3
CORPUS = Path(__file__).parent.parent / "tests" / "corpus"
GRADLEDGER = (sys.executable, "-m", "gradledger")
STARTS = 15
LONGEST = 300
"""Seconds after which a single run is given up."""
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
"""As users have it: what was compiled once is not compiled again at each start."""


def took(command: tuple[str, ...]) -> tuple[float, float]:
    """The wall time and the CPU time of one command and its children, whatever it finds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        env=ENVIRONMENT,
        timeout=LONGEST,
    )
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return end - start, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def installed() -> list[str]:
    """The folders of torch and transformers, as far as they are installed: always the same kind of tree."""
    found = (importlib.util.find_spec(name) for name in ("torch", "transformers"))
    return [place for spec in found if spec is not None for place in spec.submodule_search_locations or ()]


def tree(roots: list[str], rounds: int) -> Table:
    """A large tree, single runs side by side."""
    files = sum(name.endswith(".py") for root in roots for _, _, names in os.walk(root) for name in names)
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
        *roots,
    )
    ours = (*GRADLEDGER, "check", "--no-cache", *roots)
    walls: list[tuple[float, float]] = []
    cpus: list[tuple[float, float]] = []
    for _ in range(rounds):
        theirs, mine = took(ruff), took(ours)
        walls.append((theirs[0], mine[0]))
        cpus.append((theirs[1], mine[1]))
    rows = [
        (
            what,
            spread([files / mine for _, mine in times], "{:.0f}"),
            spread([ruff / mine for ruff, mine in times]),
        )
        for what, times in (("by the clock", walls), ("by CPU time", cpus))
    ]
    columns = (
        f"a tree of {files:,} files",
        "files per second",
        "against `ruff check --select ALL` (goal 0.50)",
    )
    return Table("check-tree", columns, rows, f"{rounds} rounds in turns. {setting('ruff')}")


def training_files() -> Table:
    """Files that train, one after the other in one process."""
    programs = [(path.read_text(), str(path)) for path in sorted(CORPUS.glob("*/*.py"))]

    def all_of_them() -> None:
        for text, path in programs:
            check_program(text, path)

    rates = [len(programs) / _cpu(all_of_them) for _ in range(ROUNDS)]
    row = (f"{len(programs)} files that train (goal 100)", spread(rates, "{:.0f}"))
    return Table("check-training", ("", "files per second of CPU"), [row])


def start_up() -> Table:
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
    rows = [(f"`{name}`", f"{spread(each, '{:.0f}')} ms") for name, each in times.items()]
    note = f"Median and quartiles of {STARTS} starts in turns. {setting()}"
    return Table("check-start", ("start-up", "CPU time (goal 120 ms)"), rows, note)


def _cpu(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """All tables, or a quick look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", action="append", help="the large tree, instead of torch and transformers")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often the large tree is checked")
    parser.add_argument("--quick", action="store_true", help="without the large tree; no page is written")
    args = parser.parse_args()
    parts: list[Callable[[], Table]] = [start_up, training_files]
    if not args.quick:
        parts.append(lambda: tree(args.tree or installed(), args.rounds))
    present((part() for part in parts), keep=not args.quick)


if __name__ == "__main__":
    main()
