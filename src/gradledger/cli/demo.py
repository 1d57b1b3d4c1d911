"""`gradledger demo`: the classic mistakes audited, then the same loops put right, side by side."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

NAME = "demo"
HELP = "audit a built-in script with the classic mistakes, then its corrected version"

PROGRAMS = Path(__file__).parent / "demo_programs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing but the place for the reader's own copy."""
    parser.add_argument(
        "--write", metavar="FOLDER", type=Path, help="copy the two scripts to FOLDER, to try things out"
    )


def run(args: argparse.Namespace) -> int:
    """Audit both scripts and compare what they trained."""
    if args.write is not None:
        return _write(args.write)
    with tempfile.TemporaryDirectory() as folder:
        results = {}
        for name in ("mistakes", "corrected"):
            report, results[name] = _audited(PROGRAMS / f"{name}.py", Path(folder) / f"{name}.json")
            print(f"\n$ gradledger run {name}.py\n{report}", flush=True)
    print(comparison(results["mistakes"], results["corrected"]))
    return 0


def _write(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for program in sorted(PROGRAMS.glob("*.py")):
        (folder / program.name).write_text(program.read_text(encoding="utf-8"), encoding="utf-8")
        print(folder / program.name)
    return 0


def _audited(script: Path, results: Path) -> tuple[str, dict[str, dict[str, object]]]:
    """Run one script under audit; its report, and what its loops trained."""
    command = [sys.executable, "-m", "gradledger", "run", script.name, str(results)]
    with _Waiting(f"auditing {script.name}"):
        done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False)
    if not results.exists():
        return done.stderr, {}
    trained: dict[str, dict[str, object]] = json.loads(results.read_text(encoding="utf-8"))
    return done.stderr, trained


def comparison(wrong: dict[str, dict[str, object]], right: dict[str, dict[str, object]]) -> str:
    """What each mistake did to the updates and to the loss."""
    if not wrong or not right:
        return "The scripts did not run to their end: is PyTorch installed? pip install 'gradledger[torch]'"
    width = max(map(len, wrong))
    lines = [
        "Nothing crashed and every loss was a number. What the mistakes did to the training all the same:",
        "",
        f"  {'mistake':<{width}}   updates (right)   final loss (right)   distance from the right weights",
    ]
    for name, bad in wrong.items():
        good = right[name]
        lines.append(
            f"  {name:<{width}}   {bad['updates']:>7} ({good['updates']:>5})"
            f"   {_number(bad['loss']):>10} ({_number(good['loss']):>5})   {_distance(bad, good):>16.0%}"
        )
    lines += [
        "",
        "The distance is between the two loops' weights, relative to the norm of the right ones.",
        "",
    ]
    return "\n".join(lines)


def _number(value: object) -> str:
    number = float(str(value))
    return f"{number:.3f}" if abs(number) < 1000 else f"{number:.1e}"


def _distance(one: dict[str, object], other: dict[str, object]) -> float:
    a, b = one["weights"], other["weights"]
    assert isinstance(a, list)
    assert isinstance(b, list)
    gap = math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))
    return gap / math.sqrt(sum(y * y for y in b))


class _Waiting:
    """A bar that moves while something runs; only on a terminal."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._move, daemon=True)

    def __enter__(self) -> None:
        """Begin to move."""
        if sys.stderr.isatty():
            self._thread.start()
        else:
            print(f"{self._what} ...", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _move(self) -> None:
        width, at = 24, 0
        while not self._done.wait(0.1):
            at = (at + 1) % (2 * width)
            left = at if at < width else 2 * width - at
            bar = "-" * left + "=" * 4 + "-" * (width - left)
            print(f"\r{self._what}  [{bar}]", end="", file=sys.stderr, flush=True)
