"""`gradledger demo`: the classic mistakes audited, then the same loops put right, side by side."""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from gradledger.cli.torch_needed import need_torch
from gradledger.cli.usage import UsageError
from gradledger.report.waiting import Waiting

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
    need_torch()
    with tempfile.TemporaryDirectory() as folder:
        results = {}
        for name in ("mistakes", "corrected"):
            report, results[name] = _audited(PROGRAMS / f"{name}.py", Path(folder) / f"{name}.json")
            print(f"\n$ gradledger run {name}.py\n{report}", flush=True)
    if not all(results.values()):
        raise UsageError("the scripts did not run to their end; what they said stands above")
    print(comparison(results["mistakes"], results["corrected"]))
    print(further())
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
    with _waiting(f"auditing {script.name}"):
        done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False)
    if not results.exists():
        return done.stderr, {}
    trained: dict[str, dict[str, object]] = json.loads(results.read_text(encoding="utf-8"))
    return done.stderr, trained


def comparison(wrong: dict[str, dict[str, object]], right: dict[str, dict[str, object]]) -> str:
    """What each mistake did to the updates and to the loss."""
    width = max(map(len, wrong))
    lines = [
        "Nothing crashed and every loss was a number. What the mistakes did:",
        "",
        f"  {'mistake':<{width}}  updates (right)  final loss (right)  off by",
    ]
    for name, bad in wrong.items():
        good = right[name]
        lines.append(
            f"  {name:<{width}}  {bad['updates']:>7} ({good['updates']:>5})"
            f"  {_number(bad['loss']):>10} ({_number(good['loss']):>5})  {_distance(bad, good):>6.0%}"
        )
    lines += [
        "",
        "Off by: the distance of the weights from the right ones, over their norm.",
        "",
    ]
    return "\n".join(lines)


def further() -> str:
    """Where to go from here, as it can be typed here."""
    here, ways = command(), {}
    if here != "gradledger" and (activate := activation()):
        here, ways = "gradledger", {activate: "once in each shell: then it finds gradledger"}
    ways |= {
        f"{here} explain GL103": "the rule, with a wrong and a right loop",
        f"{here} learn read 7": "the lesson about it, computed live",
    }
    width = max(map(len, ways))
    lines = ["To understand one of them, GL103 for instance:"]
    return "\n".join([*lines, *(f"  {way:<{width}}  {about}" for way, about in ways.items()), ""])


def activation() -> str | None:
    """The line after which this shell finds this gradledger by its name, if it stands in an environment."""
    shell = Path(os.environ.get("SHELL", "")).name
    ending = {"fish": ".fish", "csh": ".csh", "tcsh": ".csh"}.get(shell, "")
    script = Path(sys.executable).with_name(f"activate{ending}")
    if sys.prefix == sys.base_prefix or not script.exists():
        return None
    return f"{'source' if ending else '.'} {os.path.relpath(script)}"


def command() -> str:
    """How this gradledger is started: by its name if the shell finds it, else by its path."""
    beside = Path(sys.executable).with_name("gradledger")
    found = shutil.which("gradledger")
    if found is not None and (not beside.exists() or os.path.samefile(found, beside)):
        return "gradledger"
    python = os.path.relpath(beside if beside.exists() else sys.executable)
    return python if beside.exists() else f"{python} -m gradledger"


def _number(value: object) -> str:
    number = float(str(value))
    return f"{number:.3f}" if abs(number) < 1000 else f"{number:.1e}"


def _distance(one: dict[str, object], other: dict[str, object]) -> float:
    a, b = one["weights"], other["weights"]
    assert isinstance(a, list)
    assert isinstance(b, list)
    gap = math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))
    return gap / math.sqrt(sum(y * y for y in b))


def _waiting(what: str) -> AbstractContextManager[object]:
    if sys.stderr.isatty():
        return Waiting(what, sys.stderr)
    print(f"{what} ...", file=sys.stderr, flush=True)
    return nullcontext()
