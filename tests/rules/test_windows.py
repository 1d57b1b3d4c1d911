"""GL201 to GL204 and GL207: the arithmetic of accumulation."""

from __future__ import annotations

import pytest

from tests.ledger_script import Script


def measured(factor: float, size: int = 4, windows: int = 3, *, windowed: bool = True) -> Script:
    """Windows of mean losses, each multiplied by the factor."""
    script = Script()
    for _ in range(windows):
        for _ in range(size):
            script.backward(3, loop=1).loss(factor)
        script.step(5, windowed=windowed).clear(6)
    return script.end()


# -- GL201 unscaled-window ------------------------------------------------------------------------------


def test_a_window_of_undivided_means() -> None:
    finding = measured(1.0).only("GL201", 3)
    assert finding.message == "adds 4 mean losses without dividing by 4: the gradient is 4 times too large"
    assert (finding.count, finding.first_step) == (3, 1)


def test_new_batches_from_a_loader_are_a_window_without_any_guard() -> None:
    script = Script()
    for _ in range(3):
        script.batch(3).loss(1.0).batch(3).loss(1.0).step(5).clear(6)
    script.end().only("GL201", 3)


def test_divided_means_are_right() -> None:
    assert measured(0.25).findings == ()


def test_a_sum_over_tasks_or_time_steps_is_no_window() -> None:
    assert measured(1.0, windowed=False).findings == ()


def test_losses_of_different_lines_are_no_window() -> None:
    script = Script()
    for _ in range(3):
        script.batch(3).loss(1.0).batch(4).loss(1.0).step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_sums_and_unknown_reductions_say_nothing() -> None:
    script = Script()
    for reduction in ("sum", "unknown", "sum"):
        script.batch(3).loss(1.0, reduction=reduction).batch(3).loss(1.0, reduction=reduction)  # type: ignore[arg-type]
        script.step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_gradients_divided_by_hand_are_right() -> None:
    script = Script()
    for _ in range(3):
        script.batch(3).loss(1.0).batch(3).loss(1.0).change(4).step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_one_window_that_was_divided_silences_the_line() -> None:
    script = measured(1.0)
    script.batch(3).loss(0.5).batch(3).loss(0.5).step(5, windowed=True).clear(6)
    assert script.findings == ()


def test_a_thrown_away_window_is_explained_by_that_alone() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).batch(3).loss(1.0).clear(2).batch(3).loss(1.0).step(5, windowed=True)
    script.end().only("GL103", 2)


# -- GL207 divided-twice --------------------------------------------------------------------------------


def test_a_loss_divided_by_n_twice() -> None:
    finding = measured(1 / 16).only("GL207", 3)
    assert "the gradient is 4 times too small" in finding.message
    assert finding.detail == "all 3 steps; every measured mean loss enters with the factor 1/16"


def test_a_quarter_in_windows_of_two_is_only_possible() -> None:
    script = measured(0.25, size=2)
    assert (script.certain, script.possible) == ([], [("GL207", 3)])


@pytest.mark.parametrize("factor", [1 / 4, 1 / 8, 1 / 32])
def test_other_factors_are_the_programs_choice(factor: float) -> None:
    assert measured(factor).findings == ()


# -- GL203 unequal-weights ------------------------------------------------------------------------------


def uneven(*windows: tuple[float, ...], loader: bool = False) -> Script:
    script = Script()
    for counts in windows:
        for count in counts:
            (script.batch(3) if loader else script.backward(3, loop=1)).loss(1 / len(counts), count)
        script.step(5, windowed=True).clear(6)
    return script.end()


def test_token_counts_that_differ() -> None:
    finding = uneven((10, 40, 20), (50, 10, 30), (20, 20, 60)).only("GL203", 3)
    assert finding.message == "averages micro-batches of 10 to 60 samples or tokens as equals"
    assert finding.count == 3
    assert "weighs 4 times as much" in finding.detail


def test_small_differences_are_only_possible() -> None:
    script = uneven((100, 120), (120, 100), (100, 125))
    assert (script.certain, script.possible) == ([], [("GL203", 3)])


def test_equal_counts_are_right() -> None:
    assert uneven((8, 8, 8), (8, 8, 8)).findings == ()


def test_a_loaders_short_last_batch_is_common_practice() -> None:
    assert uneven((8, 8, 4), (8, 8, 4), (8, 8, 4), loader=True).findings == ()


def test_a_split_that_is_short_at_the_end_every_time_is_not() -> None:
    uneven((12, 12, 12, 4), (12, 12, 12, 4), (12, 12, 12, 4)).only("GL203", 3)


def test_one_short_window_among_many_is_right() -> None:
    assert uneven((8, 8), (8, 8), (8, 8), (3, 8), (8, 8)).findings == ()


def masked(*windows: tuple[float, ...]) -> Script:
    script = Script()
    for counts in windows:
        for count in counts:
            script.batch(3).loss(1.0, count, reduction="masked")
        script.step(5, windowed=True).clear(6)
    return script.end()


def test_sums_divided_by_their_own_token_counts() -> None:
    masked((10, 40, 20), (50, 10, 30)).only("GL203", 3)


def test_sums_divided_by_the_windows_total_are_right() -> None:
    assert masked((70, 70, 70), (90, 90, 90)).findings == ()


def test_means_weighted_by_their_counts_are_right() -> None:
    script = Script()
    for counts in ((10, 30), (30, 10), (20, 20)):
        for count in counts:
            script.batch(3).loss(count / 40, count)
        script.step(5, windowed=True).clear(6)
    assert script.end().findings == ()


# -- GL202 leaked-tail ----------------------------------------------------------------------------------


def epochs(count: int, batches: int, size: int, *, clear_first: bool = False, flush: bool = False) -> Script:
    """Stepping at every size-th batch of each epoch."""
    script = Script()
    for _ in range(count):
        if clear_first:
            script.clear(2)
        for number in range(1, batches + 1):
            script.batch(3)
            if number % size == 0:
                script.step(5, windowed=True).clear(6)
        script.epoch_ends()
        if flush:
            script.step(8, windowed=True).clear(9)
    return script


def test_a_tail_that_leaks_into_the_next_epoch() -> None:
    finding = epochs(3, batches=10, size=4).end().only("GL202", 5)
    assert "the last 2 micro-batches of an epoch: what is left leaks into the next epoch" in finding.message
    assert finding.detail == "2 windows held 6 micro-batches in place of 4"
    assert (finding.count, finding.first_step) == (2, 3)


def test_a_tail_that_is_cleared_unused() -> None:
    script = epochs(3, batches=10, size=4, clear_first=True)
    finding = script.end(complete=False).only("GL202", 5)
    assert "line 2 clears what is left" in finding.message
    assert finding.count == 2


def test_the_tail_of_the_last_epoch() -> None:
    finding = epochs(1, batches=9, size=4).end().only("GL202", 5)
    assert "the last micro-batch of the last epoch" in finding.message


def test_a_run_that_was_cut_off_may_have_planned_to_use_it() -> None:
    assert epochs(1, batches=9, size=4).end(complete=False).findings == ()


def test_epochs_without_a_tail_are_right() -> None:
    assert epochs(3, batches=8, size=4).end().findings == ()


def test_a_tail_that_is_flushed_is_right() -> None:
    assert epochs(3, batches=10, size=4, flush=True).end().findings == ()


def test_a_counter_that_runs_on_over_the_epochs_is_right() -> None:
    script = Script()
    for number in range(1, 31):
        script.batch(3)
        if number % 4 == 0:
            script.step(5, windowed=True).clear(6)
        if number % 10 == 0:
            script.epoch_ends()
    script.step(8, windowed=True)
    assert script.end().findings == ()


def test_windows_that_a_token_budget_closes_have_no_regular_size() -> None:
    script = Script()
    for size in (3, 4, 5, 3, 4, 5):
        for _ in range(size):
            script.batch(3)
        script.step(5, windowed=True).clear(6)
    script.batch(3).batch(3).epoch_ends().batch(3).batch(3).batch(3).batch(3).step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_what_an_evaluation_with_attacks_leaves_is_no_tail() -> None:
    script = epochs(1, batches=8, size=4)
    script.batch(20, wants_input=True).epoch_ends().clear(2)
    assert script.end().findings == ()


# -- GL204 short-first-window ---------------------------------------------------------------------------


def test_a_guard_that_is_true_at_zero() -> None:
    script = Script()
    for number in range(10):
        script.batch(3)
        if number % 3 == 0:
            script.step(5, windowed=True).clear(6)
    finding = script.end().only("GL204", 5)
    assert finding.detail == "the first window held 1 micro-batch, the windows after it 3"


def test_its_shifted_tail_is_the_same_mistake() -> None:
    script = Script()
    for _ in range(3):
        for number in range(11):
            script.batch(3)
            if number % 3 == 0:
                script.step(5, windowed=True).clear(6)
        script.epoch_ends()
    assert script.end().certain == [("GL204", 5)]


def test_counting_from_one_is_right() -> None:
    assert epochs(2, batches=12, size=3).end().findings == ()


def test_a_first_step_that_no_counter_guards_is_right() -> None:
    script = Script().batch(3).step(5).clear(6)
    for _ in range(3):
        script.batch(3).batch(3).step(5).clear(6)
    assert script.end().findings == ()
