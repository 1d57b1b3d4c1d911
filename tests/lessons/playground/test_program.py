"""Every generated program is whole: it compiles, runs alone, and check says what the preset promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from gradledger.checking.program import check_program
from gradledger.lessons.playground.blocks import LANE_NAMES
from gradledger.lessons.playground.presets import PRESETS, Preset
from gradledger.lessons.playground.program import program, sizes
from gradledger.lessons.playground.reference import right
from gradledger.lessons.playground.setup import Setup, lanes
from gradledger.rules.finding import Certainty
from tests.lessons.playground.test_setup import setups


@given(setups())
@settings(max_examples=100, deadline=None)
def test_any_set_up_compiles_and_every_block_has_its_line(setup: Setup) -> None:
    made = program(setup)
    compile(made.text, "train.py", "exec")
    blocks = {(name, at) for name in LANE_NAMES for at in range(len(setup.lane(name)))}
    joined = {
        (name, at)
        for name, at in blocks
        if setup.lane(name)[at : at + 2] == ("scale", "backward")  # one line with the backward after it
    }
    assert set(made.origins.values()) == blocks - joined


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_check_finds_what_the_preset_says_and_nothing_in_its_right_loop(preset: Preset) -> None:
    found = check_program(program(preset.setup).text, "train.py").findings
    assert [f.code for f in found if f.certainty is Certainty.CERTAIN] == list(preset.codes)
    assert check_program(program(right(preset.setup)).text, "train.py").findings == ()


def test_the_programs_run_alone(tmp_path: Path) -> None:
    """By plain Python, in one process, which is enough: each has its own namespace."""
    paths = []
    for preset in PRESETS:
        paths.append(tmp_path / f"{preset.name}.py")
        paths[-1].write_text(program(preset.setup).text, encoding="utf-8")
    each = "import runpy, sys\nfor path in sys.argv[1:]: runpy.run_path(path, run_name='__main__')"
    call = [sys.executable, "-c", each, *map(str, paths)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(PRESETS)
    assert lines[0].startswith("loss on all data: 0.")
    assert "of the fakes for real" in lines[-1]


def test_a_scale_right_before_backward_is_written_as_everybody_writes_it() -> None:
    setup = Setup(lanes(batch="forward loss scale backward"), amp=True)
    assert "scaler.scale(loss).backward()" in program(setup).text
    apart = Setup(lanes(batch="forward loss scale divide backward"), amp=True)
    assert "loss = scaler.scale(loss)\n" in program(apart).text
    assert "loss.backward()" in program(apart).text


def test_an_empty_loop_is_a_program_too() -> None:
    compile(program(Setup(lanes())).text, "train.py", "exec")


def test_uneven_batches_come_in_turns() -> None:
    assert sizes(Setup(lanes(), batches=6, sizes="uneven")) == [8, 2, 6, 4, 8, 2]
