"""The numbers alone name each mistake: one loop for each, written by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.agreement.loops import Loop, Op, Place, Tail
from tests.agreement.mistakes import AFTER, CLEAR, CLIP, EVERY, MISTAKES, RIGHT, STEP, calling
from tests.agreement.sides import arithmetic
from tests.agreement.text import written


def codes(loop: Loop, folder: Path) -> set[str]:
    """What the numbers say."""
    verdict = arithmetic(loop, written(loop), folder / "loop.py")
    assert verdict is not None
    assert not verdict.open
    return set(verdict.codes)


@pytest.mark.parametrize("code", MISTAKES)
def test_mistake_is_named(code: str, tmp_path: Path) -> None:
    assert codes(MISTAKES[code], tmp_path) == {code}


@pytest.mark.parametrize("name", RIGHT)
def test_right_loop_is_right(name: str, tmp_path: Path) -> None:
    assert codes(RIGHT[name], tmp_path) == set()


def test_a_clip_between_two_steps_has_its_effect_on_the_second(tmp_path: Path) -> None:
    assert codes(calling(EVERY, CLEAR, STEP, CLIP, STEP), tmp_path) == {"GL105"}


@pytest.mark.parametrize(
    ("loop", "pure"),
    [
        (EVERY, True),
        (RIGHT["windows"], True),
        (RIGHT["scaler"], True),
        (MISTAKES["GL101"], False),
        (MISTAKES["GL202"], True),
        (MISTAKES["GL307"], True),
        (MISTAKES["GL401"], False),
    ],
)
def test_steps_that_apply_only_their_own_window(loop: Loop, pure: bool, tmp_path: Path) -> None:
    verdict = arithmetic(loop, written(loop), tmp_path / "loop.py")
    assert verdict is not None
    assert verdict.pure is pure


def test_whatever_was_cleared_was_meant_for_a_step_that_finds_nothing(tmp_path: Path) -> None:
    loop = calling(replace(RIGHT["windows"], tail=Tail.AFTER), AFTER, (Place.EPOCH_END, Op.STEP))
    verdict = arithmetic(loop, text := written(loop), tmp_path / "loop.py")
    assert verdict is not None
    clears = {at for at, line in enumerate(text.splitlines(), 1) if "zero_grad" in line}
    assert {line for code, line in verdict.wrong if code == "GL102"} == clears
    assert len(clears) == 2
