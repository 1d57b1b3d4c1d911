"""GL205 and GL206: schedulers that run too fast or start too soon."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ledger_script import Script


def per_batch(size: int = 2, updates: int = 6, *, explicit: bool = False, **plan: Any) -> Script:
    """One advance for each micro-batch."""
    script = Script().scheduler(2, **plan)
    for _ in range(updates):
        for number in range(size):
            script.batch(4)
            if number == size - 1:
                script.step(6, windowed=True).clear(7)
            script.advance(8, explicit=explicit)
    return script.end()


# -- GL205 scheduler-per-microbatch ---------------------------------------------------------------------


def test_a_schedule_in_updates_that_advances_per_micro_batch() -> None:
    finding = per_batch(horizon=6).only("GL205", 8)
    assert finding.message == "advances the schedule 2 times per update"
    assert finding.detail == "12 advances for 6 updates; the schedule was planned for 6"
    assert (finding.count, finding.first_step) == (12, 1)


def test_a_schedule_by_an_unknown_function_is_only_possible() -> None:
    script = per_batch(size=4, kind="LambdaLR")
    assert (script.certain, script.possible) == ([], [("GL205", 8)])


@pytest.mark.parametrize(
    "plan",
    [{"horizon": 12}, {"horizon": 1000}, {"per_batch": True}, {"kind": "CyclicLR"}, {"explicit": True}],
    ids=str,
)
def test_a_schedule_planned_in_micro_batches_is_right(plan: dict[str, Any]) -> None:
    assert per_batch(**plan).findings == ()


def test_a_schedule_that_advances_with_the_updates_is_right() -> None:
    script = Script().scheduler(2, horizon=6)
    for _ in range(6):
        script.batch(4).batch(4).step(6, windowed=True).clear(7).advance(8)
    assert script.end().findings == ()


def test_a_schedule_that_advances_once_per_epoch_is_right() -> None:
    script = Script().scheduler(2)
    for _ in range(3):
        for _ in range(4):
            script.batch(4).batch(4).step(6, windowed=True).clear(7)
        script.epoch_ends().advance(8)
    assert script.end().findings == ()


# -- GL206 scheduler-before-step ------------------------------------------------------------------------


def test_swapped_calls() -> None:
    script = Script().scheduler(2)
    for _ in range(5):
        script.clear(3).backward(4).advance(5).step(6)
    finding = script.end().only("GL206", 5)
    assert "below the step at line 6" in finding.remedy
    assert finding.severity.value == "warning"


def test_an_epoch_that_starts_with_the_scheduler() -> None:
    script = Script().scheduler(2)
    for _ in range(3):
        script.advance(3)
        for _ in range(4):
            script.clear(4).backward(5).step(6)
    script.end().only("GL206", 3)


def test_the_right_order_is_right() -> None:
    script = Script().scheduler(2)
    for _ in range(5):
        script.clear(3).backward(4).step(5).advance(6)
    assert script.end().findings == ()


def test_a_first_step_that_the_scaler_skipped_is_no_mistake() -> None:
    script = Script().scheduler(2).scaler(1)
    script.backward(4, scaled_by=1).skip(5).update(5).clear(3).advance(6)
    for _ in range(5):
        script.clear(3).backward(4, scaled_by=1).scaler_step(5).update(5).advance(6)
    assert script.end().findings == ()


@pytest.mark.parametrize(
    "advances", [1, 3], ids=["one call that sets it up", "advanced to where a run stopped"]
)
def test_advances_before_training_set_the_schedule_up(advances: int) -> None:
    script = Script().scheduler(2)
    for _ in range(advances):
        script.advance(3)
    for _ in range(5):
        script.clear(4).backward(5).step(6).advance(7)
    assert script.end().findings == ()


def test_an_explicit_point_and_a_plateau_are_right() -> None:
    script = Script().scheduler(2)
    for _ in range(5):
        script.clear(3).backward(4).advance(5, explicit=True).step(6)
    assert script.end().findings == ()
    script = Script().scheduler(2, kind="ReduceLROnPlateau")
    for _ in range(5):
        script.clear(3).backward(4).advance(5).step(6)
    assert script.end().findings == ()
