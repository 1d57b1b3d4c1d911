"""GL105, GL106 and GL306: steps that apply too much, nothing, or nonsense."""

from __future__ import annotations

import pytest

from tests.ledger_script import Script

# -- GL105 repeated-step --------------------------------------------------------------------------------


def test_a_second_step_on_the_same_gradients() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).step(4).step(5)
    finding = script.end().only("GL105", 5)
    assert finding.message == "applies the gradients that the step at line 4 has already applied"
    assert (finding.count, finding.detail) == (4, "4 of 8 steps")


def test_another_optimizers_second_step_is_only_possible() -> None:
    script = Script().optimizer(2, 2)
    for _ in range(4):
        script.clear(2).backward(3).step(4).step(5, optimizer=2)
    assert script.end().certain == []
    assert script.possible == [("GL105", 5)]


def test_stepping_twice_with_a_backward_between_is_right() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).step(4).clear(5).backward(6).step(7)
    assert script.end().findings == ()


def test_a_flush_after_the_last_window_finds_nothing_and_does_nothing() -> None:
    script = Script()
    for _ in range(12):
        script.batch(3).batch(3).step(4, windowed=True).clear(5)
    assert script.epoch_ends().step(7).end().findings == ()


def test_a_second_step_on_what_was_altered_by_hand_is_right() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).step(4).change(5).step(6)
    assert script.end().findings == ()


def test_a_step_after_one_that_was_skipped_or_made_by_hand_is_no_repetition() -> None:
    script = Script().scaler(1)
    for _ in range(4):
        script.clear(2).backward(3, scaled_by=1).skip(4).unscale(5).step(6)
    assert script.end().findings == ()
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).step(4, optimizer=None).step(5)
    assert script.end().findings == ()


def test_parameters_without_gradients_hide_no_others() -> None:
    script = Script().open(2, optimizer=1)
    for _ in range(4):
        script.clear(2, 1, 2).backward(3, 2).step(4, 1, 2).step(5, 1, 2)
    script.end().only("GL105", 5)


def test_parameters_that_were_updated_by_hand_hide_no_others() -> None:
    script = Script().open(2, optimizer=1)
    for _ in range(4):
        script.clear(2, 1, 2).backward(3, 1, 2).step(4, 1, optimizer=None).step(5, 2).step(6, 1, 2)
    script.end().only("GL105", 6)


def test_the_direct_step_before_a_scalers_is_reported_as_such() -> None:
    script = Script().scaler(1)
    for _ in range(4):
        script.clear(2).backward(3, scaled_by=1).step(4).scaler_step(5).update(6)
    assert script.end().certain == [("GL302", 4)]


# -- GL106 step-without-gradient ------------------------------------------------------------------------


def test_steps_that_never_find_a_gradient() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).step(4)
    finding = script.only("GL106", 4)
    assert (finding.count, finding.detail) == (4, "all 4 steps")


def test_a_single_step_counts_once_the_run_is_over() -> None:
    script = Script().step(4)
    assert script.findings == ()
    script.end().only("GL106", 4)


def test_two_steps_without_gradients_count_at_once() -> None:
    Script().step(4).step(4).only("GL106", 4)


@pytest.mark.parametrize(("empty", "whether"), [(9, True), (8, False)])
def test_nine_tenths_of_the_steps_must_be_empty(empty: int, whether: bool) -> None:
    script = Script()
    for number in range(10):
        script.clear(2)
        if number >= empty:
            script.backward(3)
        script.step(4)
    assert (("GL106", 4) in script.end().certain) is whether


def test_a_refused_step_without_gradients_is_explained() -> None:
    Script().scaler(1).refuse(5, "no-gradients").end(complete=False).only("GL106", 5)


def test_a_few_empty_steps_are_right() -> None:
    script = Script().step(4)
    for _ in range(4):
        script.clear(2).backward(3).step(4)
    assert script.end().findings == ()


def test_assigned_gradients_are_gradients() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).assign(3).step(4)
    assert script.end().findings == ()


# -- GL306 nonfinite-step -------------------------------------------------------------------------------


def test_a_step_on_nan() -> None:
    script = Script()
    for number in range(6):
        script.clear(2).backward(3).step(4, nonfinite=number >= 3)
    finding = script.end().only("GL306", 4)
    assert (finding.detail, finding.first_step) == ("3 of 6 steps, first at step 4", 4)


def test_nan_that_the_program_assigned() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).assign(3).step(4, nonfinite=True)
    assert script.end().only("GL306", 4).related == ()


def test_finite_steps_and_skipped_ones_are_right() -> None:
    script = Script().scaler(1)
    for number in range(6):
        script.clear(2).backward(3, scaled_by=1)
        script.scaler_step(4).update(5) if number % 3 else script.skip(4).update(5)
    assert script.end().findings == ()
