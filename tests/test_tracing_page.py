"""What the page about tracing shows is what the tool prints, up to the last digits."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradledger.cli.trace import PROGRAMS

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "tracing.md").read_text(encoding="utf-8")
SHAPING = ("COLUMNS", "FORCE_COLOR", "GRADLEDGER_ASCII", "NO_COLOR", "PYTHONIOENCODING", "RANK")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def block(mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert found, f"the page has no block marked {mark!r}"
    return found[1]


def printed(*words: str) -> str:
    environ = {name: value for name, value in os.environ.items() if name not in SHAPING}
    done = subprocess.run(
        [sys.executable, "-B", "-m", "gradledger", "trace", *words],
        cwd=PROGRAMS,
        env=environ | {"PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=True,
    )
    return done.stdout


def assert_alike(shown: str, real: str) -> None:
    """The same words, and numbers that another processor might round otherwise."""
    # Where a point of the plot lies may differ as well.
    one, other = ([line for line in text.splitlines() if "│" not in line] for text in (shown, real))
    assert [NUMBER.sub("#", line).split() for line in one] == [
        NUMBER.sub("#", line).split() for line in other
    ]
    numbers = [[float(n) for line in text for n in NUMBER.findall(line)] for text in (one, other)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.03, abs=0.02)


def test_the_example_is_what_trace_prints() -> None:
    assert_alike(block("example"), printed())


def test_the_comparison_is_what_compare_prints() -> None:
    real = printed("--compare")
    assert_alike(block("missing zero").rstrip(), real[: real.index("\n  gradient norm\n")].rstrip())
    assert_alike(block("comparison"), real[real.index("Nothing crashed.") :])


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGE)
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
