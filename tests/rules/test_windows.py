"""GL201 to GL204 and GL207: the arithmetic of accumulation."""

from __future__ import annotations

import pytest

from gradledger.ledger import events as ev
from tests.ledger_script import Script, at


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


def test_a_rate_that_was_divided_is_meant_for_the_sum() -> None:
    script = Script(opened=False).post(ev.OptimizerBuilt(at(1), 1, "SGD", divided_rate=True)).open(1, 1)
    for _ in range(3):
        script.batch(3).loss(1.0).batch(3).loss(1.0).step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_the_size_that_is_told_is_one_that_was_measured() -> None:
    script = Script()
    for size in (5, 4, 3, 2, 2, 2):
        for _ in range(size):
            script.batch(3)
            if size > 2:
                script.loss(1.0)
        script.step(5, windowed=True).clear(6)
    finding = script.end().only("GL201", 3)
    assert finding.message == "adds 3 mean losses without dividing by 3: the gradient is 3 times too large"


def test_the_usual_size_is_told_whichever_came_last() -> None:
    script = Script()
    for size in (2, 2, 2, 3):
        for _ in range(size):
            script.batch(3).loss(1.0)
        script.step(5, windowed=True).clear(6)
    assert script.end().only("GL201", 3).message.startswith("adds 2 mean losses")


def test_windows_of_one_micro_batch_are_not_counted() -> None:
    script = Script()
    for size in (2, 1, 2, 2):
        for _ in range(size):
            script.batch(3).loss(1.0)
        script.step(5, windowed=True).clear(6)
    finding = script.end().only("GL201", 3)
    assert (finding.count, finding.first_step) == (3, 1)


# -- GL207 divided-twice --------------------------------------------------------------------------------


def test_a_loss_divided_by_n_twice() -> None:
    finding = measured(1 / 16).only("GL207", 3)
    assert "the gradient is 4 times too small" in finding.message
    assert finding.detail == "all 3 steps; every measured mean loss enters with the factor 1/16"


def test_a_loss_that_is_nearly_so_is_taken_for_it() -> None:
    measured(1.005 / 16).only("GL207", 3)
    assert measured(1.02 / 16).findings == ()


def divided(by: int, factor: float = 1 / 4, lines: tuple[int, ...] = (3,), at_line: int | None = 4) -> Script:
    """Windows of four, whose gradients are divided by hand."""
    script = Script()
    for _ in range(3):
        for number in range(4):
            script.backward(lines[number % len(lines)], loop=1).loss(factor)
        script.change(at_line, divided_by=by).step(5, windowed=True).clear(6)
    return script.end()


def test_gradients_divided_after_their_losses() -> None:
    assert divided(4).certain == [("GL207", 4)]
    assert divided(4, 1.005 / 4).certain == [("GL207", 4)]
    assert divided(4, at_line=None).certain == [("GL207", 3)]


def test_a_division_by_another_number_or_of_another_loss_is_right() -> None:
    assert divided(2).findings == ()
    assert divided(4, 1.0).findings == ()
    assert divided(4, 1 / 2).findings == ()
    assert divided(4, 1.02 / 4).findings == ()
    assert divided(4, lines=(3, 9)).findings == ()


def test_a_division_in_windows_of_another_size_is_right() -> None:
    script = Script()
    for size in (4, 4, 4, 3, 4):
        for _ in range(size):
            script.backward(3, loop=1).loss(1 / 4)
        if size == 3:
            script.change(4, divided_by=4)
        script.step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_windows_before_the_division_do_not_hide_it() -> None:
    script = Script()
    for number in range(4):
        for _ in range(4):
            script.backward(3, loop=1).loss(1 / 4)
        if number:
            script.change(4, divided_by=4)
        script.step(5, windowed=True).clear(6)
    finding = script.end().only("GL207", 4)
    assert (finding.count, finding.first_step) == (3, 2)


def test_a_mean_of_divided_losses() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3).backward(4, averaged_twice=True).step(5)
    script.end().only("GL207", 4)


def test_a_ninth_in_windows_of_three_is_certain() -> None:
    assert measured(1 / 9, size=3).certain == [("GL207", 3)]


def test_a_line_that_is_divided_once_hides_no_other() -> None:
    script = Script()
    for line, factor in ((7, 1 / 4), (3, 1 / 16), (3, 1 / 16)):
        for _ in range(4):
            script.backward(line, loop=1).loss(factor)
        script.step(5, windowed=True).clear(6)
    script.end().only("GL207", 3)


def test_a_line_that_divides_hides_no_other() -> None:
    script = Script()
    for line, factor in ((7, 1 / 4), (3, 1.0), (3, 1.0)):
        for _ in range(4):
            script.backward(line, loop=1).loss(factor)
        script.step(5, windowed=True).clear(6)
    script.end().only("GL201", 3)


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


def test_a_loaders_windows_that_differ_before_their_last_batch() -> None:
    uneven((10, 40, 5), (10, 40, 5), (10, 40, 5), loader=True).only("GL203", 3)


def test_a_window_that_is_long_at_the_end() -> None:
    uneven((8, 8, 16), (8, 8, 16), loader=True).only("GL203", 3)


def test_counts_down_to_one_are_counts() -> None:
    uneven((1, 2), (1, 2), loader=True).only("GL203", 3)


@pytest.mark.parametrize("unknown", [None, 0])
def test_a_window_with_an_unknown_count_says_nothing(unknown: int | None) -> None:
    script = Script()
    for _ in range(3):
        for count in (10, unknown, 40):
            script.batch(3).loss(1 / 3, count)
        script.step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_uneven_windows_must_be_two_and_three_tenths() -> None:
    even, odd = (8, 8), (10, 40)
    assert uneven(odd, even, even).findings == ()
    assert uneven(*[odd] * 2, *[even] * 8).findings == ()
    uneven(*[odd] * 3, *[even] * 7).only("GL203", 3)


def test_an_even_line_hides_no_other() -> None:
    script = Script()
    for line, counts in ((7, (8, 8)), (3, (10, 40)), (3, (10, 40))):
        for count in counts:
            script.batch(line).loss(1 / 2, count)
        script.step(5, windowed=True).clear(6)
    script.end().only("GL203", 3)


def test_half_as_much_again_is_certain() -> None:
    assert uneven((20, 30), (20, 30), loader=True).certain == [("GL203", 3)]


def test_a_tenth_is_no_difference() -> None:
    assert uneven((5, 5.5), (5, 5.5), loader=True).findings == ()


@pytest.mark.parametrize("factor", [1.0, None])
def test_sums_and_unknown_factors_average_nothing(factor: float | None) -> None:
    script = Script()
    for _ in range(3):
        for count in (10, 40):
            script.batch(3).loss(factor, count, reduction="sum" if factor else "mean")
        script.step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_means_among_sums_are_not_averaged_as_equals() -> None:
    script = Script()
    for _ in range(3):
        script.batch(3).loss(0.5, 10).batch(3).loss(0.5, 40, reduction="masked")
        script.step(5, windowed=True).clear(6)
    assert script.end().findings == ()


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
    for counts in ((20, 30), (20, 30), (25, 25)):
        for count in counts:
            script.batch(3).loss(count / 50, count)
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


def told_tail(*batches: int, **how: bool) -> Script:
    """Epochs of so many batches, with a step at every fourth."""
    script = Script()
    for count in batches:
        if how.get("clear_first"):
            script.clear(2)
        for number in range(1, count + 1):
            script.batch(3)
            if number % 4 == 0:
                script.step(5, windowed=True).clear(6)
        script.epoch_ends()
    return script


def test_of_several_leaks_the_usual_one_is_told() -> None:
    finding = told_tail(9, 10, 10, 8).end().only("GL202", 5)
    assert "the last 2 micro-batches of an epoch: what is left leaks" in finding.message
    assert finding.detail == "3 windows held 6 micro-batches in place of 4"
    assert (finding.count, finding.first_step) == (3, 3)


def test_of_several_lost_tails_the_usual_one_is_told() -> None:
    finding = told_tail(10, 9, 9, 8, clear_first=True).end().only("GL202", 5)
    assert "the last micro-batch of an epoch: line 2 clears" in finding.message
    assert (finding.count, finding.detail) == (3, "3 short windows thrown away")


def test_a_line_that_also_clears_whole_windows_does_so_on_purpose() -> None:
    script = told_tail(10, 10, clear_first=True).clear(2)
    for _ in range(4):
        script.batch(3)
    assert script.epoch_ends().clear(2).end().findings == ()


def test_a_line_that_also_clears_within_an_epoch_does_so_on_purpose() -> None:
    script = told_tail(10, 10, clear_first=True).clear(2).batch(3).clear(2)
    for _ in range(4):
        script.batch(3)
    assert script.step(5, windowed=True).clear(6).end().findings == ()


def test_a_longer_window_within_an_epoch_is_no_leak() -> None:
    script = told_tail(8, 8)
    for _ in range(6):
        script.batch(3)
    assert script.step(5, windowed=True).clear(6).end().findings == ()


def test_a_longer_window_that_ends_with_its_epoch_was_flushed() -> None:
    script = told_tail(8, 8)
    for _ in range(6):
        script.batch(3)
    assert script.epoch_ends().step(5, windowed=True).clear(6).end().findings == ()


def test_what_waits_in_the_midst_of_an_epoch_is_no_tail() -> None:
    assert told_tail(8, 8).batch(3).end().findings == ()


def test_a_whole_window_that_waits_is_no_tail() -> None:
    script = told_tail(8, 8)
    for _ in range(4):
        script.batch(3)
    assert script.epoch_ends().end().findings == ()


def test_a_tail_for_an_inputs_gradient_is_right() -> None:
    assert told_tail(8).batch(20, wants_input=True).epoch_ends().end().findings == ()


def test_a_tail_that_another_optimizer_has_used_is_right() -> None:
    script = told_tail(8).optimizer(2, 2).open(2, optimizer=2)
    script.batch(20, 1, 2).epoch_ends().step(21, 2, optimizer=2)
    assert script.end().findings == ()


def test_the_line_of_the_regular_windows_is_told() -> None:
    script = Script().backward(9).step(5).clear(6)
    for _ in range(3):
        for number in range(1, 11):
            script.batch(3)
            if number % 4 == 0:
                script.step(5, windowed=True).clear(6)
        script.epoch_ends()
    assert [related.site.line for related in script.end().only("GL202", 5).related] == [3]


def test_windows_of_two_lines_have_no_single_one_to_tell() -> None:
    script = Script()
    for _ in range(3):
        for number in range(1, 11):
            script.batch(3 + number % 2)
            if number % 4 == 0:
                script.step(5, windowed=True).clear(6)
        script.epoch_ends()
    assert script.end().only("GL202", 5).related == ()


def test_a_tail_of_windows_of_two() -> None:
    epochs(3, batches=5, size=2).end().only("GL202", 5)


def test_a_counter_that_runs_on_may_end_anywhere() -> None:
    script = Script()
    for number in range(1, 31):
        script.batch(3)
        if number % 4 == 0:
            script.step(5, windowed=True).clear(6)
        if number % 10 == 0:
            script.epoch_ends()
    assert script.end().findings == ()


def test_the_line_that_steps_the_regular_windows_is_told() -> None:
    script = Script()
    for size, line in ((4, 5), (4, 5), (4, 8), (2, 8), (2, 8)):
        for _ in range(size):
            script.batch(3)
        script.step(line, windowed=True).clear(6)
    script.batch(3).epoch_ends().end().only("GL202", 5)


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


def at_zero(*batches: int, size: int = 3) -> Script:
    """Epochs of so many batches, with a step wherever the index is a multiple of the size."""
    script = Script()
    for count in batches:
        for number in range(count):
            script.batch(3)
            if number % size == 0:
                script.step(5, windowed=True).clear(6)
        script.epoch_ends()
    return script


def test_epochs_with_one_whole_window_each() -> None:
    finding = at_zero(5, 5, 5).end().only("GL204", 5)
    assert finding.detail == "the first window held 1 micro-batch, the windows after it 3"


def test_windows_of_two_after_the_first() -> None:
    at_zero(9, size=2).end().only("GL204", 5)


def test_two_whole_windows_in_two_epochs_are_enough() -> None:
    at_zero(5, 5).end().only("GL204", 5)


def test_two_whole_windows_in_a_row_prove_it_whatever_comes_later() -> None:
    script = at_zero(7).batch(3).batch(3).step(5, windowed=True).clear(6)
    assert ("GL204", 5) in script.end().certain


def test_a_first_window_of_another_line_is_another_matter() -> None:
    script = Script().batch(9).step(5, windowed=True).clear(6)
    for _ in range(3):
        script.batch(3).batch(3).step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_two_windows_prove_nothing() -> None:
    assert ("GL204", 5) not in at_zero(4).end().certain


def test_later_windows_of_other_sizes_prove_nothing() -> None:
    script = at_zero(5, 5, 5)
    for _ in range(2):
        script.batch(3)
    assert ("GL204", 5) not in script.step(5, windowed=True).clear(6).end().certain


def test_a_later_epoch_that_does_not_step_at_zero_proves_nothing() -> None:
    script = at_zero(5, 5)
    for _ in range(2):
        script.batch(3)
    script.step(5, windowed=True).clear(6)
    assert ("GL204", 5) not in script.end().certain


def test_counting_from_one_is_right() -> None:
    assert epochs(2, batches=12, size=3).end().findings == ()


def test_a_first_step_that_no_counter_guards_is_right() -> None:
    script = Script().batch(3).step(5).clear(6)
    for _ in range(3):
        script.batch(3).batch(3).step(5).clear(6)
    assert script.end().findings == ()
