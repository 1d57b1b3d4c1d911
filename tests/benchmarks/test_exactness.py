"""The exactness table, quick rows: the accumulator is exact where the hand loop and Accelerate are not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.libraries

ROOT = Path(__file__).resolve().parent.parent.parent
SCENES = {"equal micro-batches", "uneven 8, 8, 8, 3", "variable tokens", "half-filled last window"}


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """What the benchmark found, as errors; None where a window was never applied."""
    pytest.importorskip("accelerate")
    call = [sys.executable, str(ROOT / "benchmarks" / "exactness.py"), "--quick", "--json"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=environment, timeout=240)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def errors(cells: dict[str, Any]) -> dict[str, float | None]:
    return {scene: None if found is None else found[0] for scene, found in cells.items()}


def test_accumulator_is_exact_in_every_scene(measured: dict[str, Any]) -> None:
    found = errors(measured["libraries"]["gradledger"])
    assert found.keys() == SCENES
    assert all(error is not None and error <= 1e-6 for error in found.values()), found


@pytest.mark.parametrize("library", ["hand", "accelerate"])
def test_measure_sees_what_means_of_means_do(measured: dict[str, Any], library: str) -> None:
    found = errors(measured["libraries"][library])
    assert found["equal micro-batches"] <= 1e-6
    assert found["uneven 8, 8, 8, 3"] > 0.1
    assert found["variable tokens"] > 0.1


def test_half_filled_window_is_lost_or_halved_by_others(measured: dict[str, Any]) -> None:
    assert measured["libraries"]["hand"]["half-filled last window"] is None
    error, factor = measured["libraries"]["accelerate"]["half-filled last window"]
    assert error == pytest.approx(0.5, abs=1e-3)
    assert factor == pytest.approx(0.5, abs=1e-3)


def test_only_the_accumulator_resumes_in_mid_window(measured: dict[str, Any]) -> None:
    found = errors(measured["resumed in mid-window"])
    assert found["gradledger"] <= 1e-6
    assert found["accelerate"] > 0.1
