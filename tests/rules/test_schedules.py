"""GL205 and GL206: schedulers that run too fast or start too soon."""

from __future__ import annotations

from typing import Any

import pytest

from gradledger.ledger import events as ev
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


def irregular(*advances: int) -> Script:
    """Windows of two or more, with so many advances in each."""
    script = Script().scheduler(2).batch(4).batch(4).step(6, windowed=True).clear(7)
    for count in advances:
        window(script, max(count, 2), count)
    return script.end()


def window(script: Script, size: int, advances: int, line: int = 8) -> None:
    """A window of this size, with an advance after each of the first micro-batches."""
    for number in range(size):
        script.batch(4)
        if number < advances:
            script.advance(line)
    script.step(6, windowed=True).clear(7)


def test_a_usual_number_is_one_of_three_fifths() -> None:
    irregular(2, 2, 2, 4).only("GL205", 8)  # and none before the first step


def steady(size: int, advances: int, updates: int = 6, **plan: Any) -> Script:
    """Windows of this size, with so many advances in each."""
    script = Script().scheduler(2, **plan)
    for _ in range(updates):
        window(script, size, advances)
    return script.end()


def test_two_updates_are_enough() -> None:
    steady(2, 2, updates=2).only("GL205", 8)
    assert steady(2, 2, updates=1).findings == ()


def test_one_advance_less_than_micro_batches() -> None:
    steady(4, 3).only("GL205", 8)


def test_advances_that_have_nothing_to_do_with_micro_batches_are_right() -> None:
    assert steady(5, 3).findings == ()


@pytest.mark.parametrize("advances", [2, 3])
def test_several_advances_at_one_update_are_the_programs_choice(advances: int) -> None:
    script = Script().scheduler(2)
    for _ in range(6):
        script.batch(4).batch(4).step(6, windowed=True).clear(7)
        for _ in range(advances):
            script.advance(8)
    assert script.end().findings == ()


def test_two_lines_of_which_none_runs_at_every_micro_batch_are_right() -> None:
    script = Script().scheduler(2)
    for _ in range(6):
        script.batch(4).advance(8).batch(4).advance(9).step(6, windowed=True).clear(7)
    assert script.end().findings == ()


def test_a_plan_for_half_as_many_updates_again_is_not_one_in_micro_batches() -> None:
    steady(2, 2, horizon=9).only("GL205", 8)
    assert steady(2, 2, horizon=10).findings == ()


def test_the_line_that_advances_most_is_told() -> None:
    script = Script().scheduler(2)
    for line in (9, 8, 8, 8, 8):
        window(script, 2, 2, line)
    finding = script.end().only("GL205", 8)
    assert (finding.count, finding.first_step) == (10, 1)


def test_advances_without_a_usual_number_say_nothing() -> None:
    assert irregular(2, 2, 1, 3, 4).findings == ()


# -- GL206 scheduler-before-step ------------------------------------------------------------------------


def swapped(turns: int) -> Script:
    script = Script().scheduler(2)
    for _ in range(turns):
        script.clear(3).backward(4).advance(5).step(6)
    return script.end()


def test_swapped_calls() -> None:
    finding = swapped(5).only("GL206", 5)
    assert "below the step at line 6" in finding.remedy
    assert finding.severity.value == "warning"


def test_two_advances_that_come_too_early_are_enough() -> None:
    assert swapped(2).only("GL206", 5).detail == "all 2 advances came one turn too early"
    assert swapped(1).findings == ()


def test_a_schedule_made_for_an_optimizer_that_nobody_knows_is_not_judged() -> None:
    script = Script()
    script.post(ev.SchedulerBuilt(script.at(2), 1, 9, "StepLR"))  # and handed over to optimizer 1
    for _ in range(5):
        script.clear(3).backward(4).advance(5).step(6)
    assert script.end().findings == ()


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
