"""`gradledger trace --compare`: the built-in training with a mistake and without, side by side."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gradledger.cli.progress import progress
from gradledger.cli.terminal import emit, terminal
from gradledger.cli.usage import UsageError
from gradledger.report.comparison_text import Comparison, comparison_text

PROGRAM = Path(__file__).parent / "trace_programs" / "compare.py"

MISTAKES = {
    "missing zero": "zero_grad() is never called: each backward() adds to what earlier steps applied",
    "zero after backward": "zero_grad() stands between backward() and step(): the step finds nothing",
    "zero inside the window": "zero_grad() at each micro-batch, a step at each 4th: three in four are lost",
    "undivided loss": "four mean losses are added up: the gradient is four times that of the large batch",
}


def compare(report: Path | None) -> int:
    """Train all pairs in a process of its own and print what came of them, or draw a page of it."""
    with tempfile.TemporaryDirectory(prefix="gradledger-") as folder:
        results = Path(folder) / "results.json"
        with progress("training with each mistake and without"):
            done = subprocess.run(
                [sys.executable, str(PROGRAM), str(results)], capture_output=True, text=True, check=False
            )
        if done.returncode:
            print(done.stderr, file=sys.stderr, end="")
            print("gradledger trace: the comparison did not run to its end", file=sys.stderr)
            return 2
        told = json.loads(results.read_text(encoding="utf-8"))
    comparisons, facts = _comparisons(told), terminal(sys.stdout)
    emit(comparison_text(comparisons, facts), sys.stdout)
    if report is not None:
        from gradledger.audit.atomic import write_atomically
        from gradledger.report.page.comparison_page import comparison_page

        try:
            write_atomically(report, comparison_page(comparisons))
        except OSError as error:
            raise UsageError(facts.prose(f"cannot write {report}: {error.strerror or error}")) from error
        emit("\n" + facts.plain(f"the comparison as a page: {report}") + "\n", sys.stdout)
    return 0


def _comparisons(told: dict[str, dict[str, Any]]) -> Sequence[Comparison]:
    return [
        Comparison(
            mistake,
            MISTAKES[mistake],
            tuple(numbers["norm"][0]),
            tuple(numbers["norm"][1]),
            tuple(numbers["loss"][0]),
            tuple(numbers["loss"][1]),
            tuple(numbers["distance"]),
            numbers["size"],
        )
        for mistake, numbers in told.items()
    ]
