"""GL101 to GL104: gradients that stay too long, and gradients that go too soon."""

from __future__ import annotations

import pytest

from gradledger.ledger import events as ev
from tests.ledger_script import Script, at

# -- GL101 stale-gradient -------------------------------------------------------------------------------


def test_never_clearing_is_reported_at_the_backward() -> None:
    script = Script()
    for _ in range(5):
        script.backward(3).step(4)
    finding = script.end().only("GL101", 3)
    assert finding.message == "adds to gradients that the step at line 4 has already applied"
    assert finding.detail == (
        "4 of 5 steps; at the last one 4 of the 5 micro-batches inside each gradient were old"
    )
    assert (finding.count, finding.first_step) == (4, 2)
    assert [related.site.line for related in finding.related] == [4]


def test_measured_norms_enter_the_detail() -> None:
    script = Script().backward(3).step(4).backward(3)
    script.post(ev.NormMeasured(None, (1,), inside=14.21, alone=0.613)).step(4)
    assert script.only("GL101", 3).detail.endswith(
        "1 of the 2 micro-batches inside each gradient was old (norm 14.2 where this batch alone gives 0.613)"
    )


def test_norms_of_an_earlier_step_are_told_with_that_step() -> None:
    script = Script().backward(3).step(4).backward(3)
    script.post(ev.NormMeasured(None, (1,), inside=14.21, alone=0.613)).step(4)
    script.backward(3).step(4)
    assert script.only("GL101", 3).detail == (
        "2 of 3 steps; at the last one 2 of the 3 micro-batches inside each gradient were old "
        "(measured at step 2: norm 14.2 where this batch alone gives 0.613)"
    )


@pytest.mark.parametrize("order", ["zero first", "zero before backward", "zero last", "zero on both sides"])
def test_clearing_anywhere_between_step_and_backward_is_right(order: str) -> None:
    script = Script()
    for _ in range(4):
        if order in ("zero first", "zero before backward", "zero on both sides"):
            script.clear(2)
        script.backward(3).step(4)
        if order in ("zero last", "zero on both sides"):
            script.clear(5, owner=None, by="module")
    assert script.end().findings == ()


def test_clearing_once_per_epoch_is_still_stale() -> None:
    script = Script()
    for _ in range(2):
        script.clear(2)
        for _ in range(3):
            script.batch(3).step(4)
        script.epoch_ends()
    assert script.end().certain == [("GL101", 3)]


def test_a_clear_that_is_not_called_is_the_place_to_look() -> None:
    script = Script().post(ev.ClearNotCalled(at(2), "opt.zero_grad"))
    for _ in range(4):
        script.backward(3).step(4)
    finding = script.end().only("GL101", 2)
    assert finding.message == "names `opt.zero_grad` without calling it, so nothing is cleared"
    assert [related.site.line for related in finding.related] == [3, 4]


def test_a_clear_of_the_wrong_model_is_the_place_to_look() -> None:
    script = Script()
    for _ in range(4):
        script.clear_nothing(2).backward(3).step(4)
    script.end().only("GL101", 2)


def test_a_clear_that_is_not_called_in_another_file_is_not() -> None:
    script = Script().post(ev.ClearNotCalled(at(2, "other.py"), "opt.zero_grad"))
    script.post(ev.ClearNotCalled(None, "opt.zero_grad"))
    for _ in range(4):
        script.backward(3).step(4)
    script.end().only("GL101", 3)


@pytest.mark.parametrize(("calls", "line"), [(1, 3), (2, 2)])
def test_a_clear_is_taken_for_mistyped_only_if_it_is_repeated(calls: int, line: int) -> None:
    script = Script()
    for number in range(4):
        script.clear_nothing(None)
        if number < calls:
            script.clear_nothing(2)
        script.backward(3).step(4)
    script.end().only("GL101", line)


def test_clears_of_the_right_optimizer_before_the_first_pass_are_not_mistyped() -> None:
    script = Script().clear(2).clear(2)
    for _ in range(4):
        script.backward(3).step(4)
    script.end().only("GL101", 3)


def test_a_clear_of_parameters_without_optimizer_is_of_use() -> None:
    script = Script().open(2)
    for _ in range(2):
        script.clear(2, 2, owner=None).backward(3, 1, 2).step(4)
    assert script.books.clears[at(2)].effective == 1
    script.end(complete=False)
    assert ("GL101", 3) in script.certain
    assert ("GL101", 2) not in script.certain


def test_a_clear_that_repeats_what_another_line_clears_is_of_use() -> None:
    script = Script().optimizer(2, 2).open(2, optimizer=2)
    for _ in range(4):
        script.clear(8, 2, owner=2).clear(9, 2, owner=2).backward(3, 1, 2).step(4).step(5, 2, optimizer=2)
    script.end().only("GL101", 3)


def test_an_earlier_step_on_nothing_has_applied_nothing() -> None:
    script = Script()
    for _ in range(3):
        script.step(4).backward(3).step(4).clear(5)
    assert ("GL101", 3) not in script.end().certain


def test_norms_that_read_alike_are_not_told() -> None:
    script = Script().backward(3).step(4).backward(3)
    script.post(ev.NormMeasured(None, (1,), inside=0.6131, alone=0.6132)).step(4)
    assert "norm" not in script.only("GL101", 3).detail


def test_parameters_that_a_pass_did_not_reach_still_hold_what_was_applied() -> None:
    script = Script().open(2, optimizer=1)
    script.backward(3, 1, 2).step(4, 1, 2)
    for _ in range(3):
        script.clear(9, 1).backward(5, 1).step(6, 1, 2)
    finding = script.end().only("GL101", 5)
    assert finding.message == "adds to gradients that the step at line 4 has already applied"


def test_an_idle_clear_is_not_blamed_while_another_one_works() -> None:
    script = Script()
    for _ in range(2):
        script.clear(9, owner=None, by="module")
        for _ in range(3):
            script.clear_nothing(2).backward(3).step(4)
    script.end().only("GL101", 3)


def test_updates_by_hand_are_steps() -> None:
    script = Script()
    for _ in range(3):
        script.backward(3).step(4, optimizer=None)
    script.end().only("GL101", 3)


def test_a_closure_that_does_not_clear() -> None:
    script = Script()
    for _ in range(3):
        script.backward(3).closure(2).backward(3).step(5).clear(6)
    script.end().only("GL101", 3)


def test_a_closure_that_clears_first_is_right() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3).closure(5).clear(2).backward(3).step(5)
    assert script.end().findings == ()


def test_a_step_that_a_scaler_skipped_is_no_step() -> None:
    script = Script().scaler(1)
    script.batch(3, scaled_by=1).skip(4).update(5)
    script.batch(3, scaled_by=1).scaler_step(4).update(5).clear(6)
    assert script.end().findings == ()


def test_gradients_altered_by_hand_are_the_programs_own_business() -> None:
    script = Script()
    for _ in range(3):
        script.backward(3).change(4).step(5)
    assert script.end().findings == ()


def test_several_losses_before_one_step_are_right() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3).backward(4).step(5)
    assert script.end().findings == ()


# -- GL102 cleared-before-step --------------------------------------------------------------------------


def test_clearing_between_backward_and_step() -> None:
    script = Script()
    for _ in range(4):
        script.backward(3).clear(4).step(5)
    finding = script.end().only("GL102", 4)
    assert (
        finding.message == "clears what the backward() at line 3 posted before the step at line 5 can use it"
    )
    assert (finding.count, finding.first_step, finding.detail) == (4, 1, "all 4 steps")
    assert [related.site.line for related in finding.related] == [3, 5]


def test_a_pass_for_an_input_too_was_meant_for_the_step_that_finds_nothing() -> None:
    script = Script()
    for _ in range(3):
        script.backward(3, wants_input=True).clear(4).step(5)
    script.end().only("GL102", 4)


def test_a_pass_for_an_input_that_is_cleared_before_the_own_pass_is_right() -> None:
    script = Script()
    for _ in range(3):
        script.backward(3, wants_input=True).clear(4).backward(5).step(6).clear(7)
    assert script.end().findings == ()


def test_a_window_counts_once_however_many_accounts_lost_something() -> None:
    script = Script().open(2, optimizer=1)
    for _ in range(4):
        script.backward(3, 1, 2).backward(7, 2).clear(4, 1, 2).step(5, 1, 2)
    assert script.end().only("GL102", 4).count == 4


def test_of_several_kinds_of_windows_the_usual_one_is_told() -> None:
    script = Script()
    for line in (7, 3, 3, 3):
        script.backward(line).clear(4).step(5)
    finding = script.end().only("GL102", 4)
    assert "the backward() at line 3" in finding.message
    assert (finding.count, finding.first_step) == (4, 1)


def test_the_first_of_two_losses_is_thrown_away() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).clear(4, unread=True).backward(5).step(6)
    finding = script.end().only("GL102", 4)
    assert "throws away the gradients of the backward() at line 3" in finding.message


def test_beside_an_optimizer_whose_steps_find_nothing_its_loss_may_be_what_is_cleared() -> None:
    script = Script().optimizer(9, 2).open(2, optimizer=2)
    for _ in range(4):
        script.clear(2, unread=True).backward(3).step(4).backward(5).step(6, 2, optimizer=2)
    script.end().only("GL106", 6)


@pytest.mark.parametrize("turns", [1, 2])
def test_a_single_pass_only_shows_something(turns: int) -> None:
    script = Script()
    for _ in range(turns):
        script.clear(2).backward(3).clear(4, unread=True).backward(5).step(6)
    assert script.end().certain == [("GL102", 4)] * (turns - 1)


def test_a_first_pass_whose_gradients_are_read_is_right() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).clear(4).backward(5).step(6)
    assert script.end().findings == ()


def test_a_pass_for_an_inputs_gradient_is_right() -> None:
    script = Script()
    for _ in range(4):
        script.backward(3, wants_input=True).clear(4, unread=True).backward(5).step(6)
    assert script.end().findings == ()


def test_a_generators_loss_may_be_cleared_from_the_critic() -> None:
    script = Script().optimizer(2, 2).open(2, optimizer=2)
    for _ in range(4):
        script.clear(9, 1).backward(3, 1, 2).clear(4, 2, owner=2, unread=True)
        script.backward(5, 2).step(6, 2, optimizer=2).step(7, 1)
    assert script.end().findings == ()


def test_a_refused_step_after_a_clear_is_explained() -> None:
    script = Script().scaler(1).backward(3, scaled_by=1).clear(4).refuse(5, "no-gradients")
    script.end(complete=False).only("GL102", 4)


def test_a_refused_step_after_a_clear_once_the_batches_were_over() -> None:
    script = Script().scaler(1).batch(3, scaled_by=1).epoch_ends().clear(4).refuse(5, "no-gradients")
    script.end(complete=False).only("GL102", 4)


def test_a_refused_step_names_each_clear_that_emptied_it() -> None:
    script = Script().scaler(1).batch(3, scaled_by=1).clear(4).batch(3, scaled_by=1).clear(5)
    script.refuse(6, "no-gradients")
    assert script.end(complete=False).certain == [("GL102", 4), ("GL102", 5)]


def test_a_refused_step_after_an_inputs_pass_was_cleared() -> None:
    script = Script().scaler(1).backward(3, scaled_by=1, wants_input=True).clear(4)
    script.refuse(5, "no-gradients").end(complete=False).only("GL102", 4)


def test_half_of_the_windows_are_enough() -> None:
    script = Script()
    for number in range(5):
        script.clear(2).backward(3)
        if number % 2 == 0:
            script.clear(4)
        script.step(5)
    script.end().only("GL102", 4)


def test_a_tail_that_is_cleared_before_a_step_that_finds_nothing() -> None:
    script = Script()
    for _ in range(4):
        script.batch(3).epoch_ends().clear(4).step(5)
    script.end().only("GL102", 4)


def test_a_leaf_that_is_updated_by_hand_is_no_input() -> None:
    script = Script(opened=False).open(1, trainable=False)
    for _ in range(4):
        script.backward(3, wants_input=True).clear(4, owner=None, by="hand").step(5, optimizer=None)
    script.end().only("GL102", 4)


@pytest.mark.parametrize(("optimizer", "found"), [(None, [("GL102", 4)]), (1, [])])
def test_the_first_of_two_losses_of_such_a_leaf_is_thrown_away(
    optimizer: int | None, found: list[tuple[str, int]]
) -> None:
    script = Script(opened=False).open(1, optimizer, trainable=optimizer is not None)
    for _ in range(4):
        script.backward(3, wants_input=True).clear(4, owner=None, by="hand", unread=True)
        script.backward(5, wants_input=True).step(6, optimizer=optimizer).clear(7, owner=None, by="hand")
    assert script.end().certain == found


def test_what_is_cleared_at_the_end_of_an_epoch_is_not_what_a_later_step_misses() -> None:
    script = Script()
    for _ in range(4):
        script.batch(3).epoch_ends().clear(4).batch(3).clear(5).step(6)
    assert [finding for finding in script.end().certain if finding[0] == "GL102"] == [("GL102", 5)]


def test_a_pass_for_an_input_hides_no_other() -> None:
    script = Script()
    for _ in range(4):
        script.backward(7, wants_input=True).clear(4).backward(3).clear(4).step(5)
    assert "the backward() at line 3" in script.end().only("GL102", 4).message


def test_a_window_that_lost_twice_hides_no_later_one() -> None:
    script = Script().open(2, optimizer=1)
    script.backward(3, 1, 2).backward(7, 2).clear(4, 1, 2).step(5, 1, 2)
    for _ in range(2):
        script.backward(3, 1, 2).clear(4, 1, 2).step(5, 1, 2)
    assert script.end().only("GL102", 4).count == 3


def test_of_two_kinds_that_are_as_frequent_the_first_is_told() -> None:
    script = Script()
    for line in (7, 3, 7, 3):
        script.backward(line).clear(4).step(5)
    assert "the backward() at line 7" in script.end().only("GL102", 4).message


def test_one_odd_window_is_no_finding() -> None:
    script = Script().backward(3).clear(4).step(5)
    for _ in range(5):
        script.clear(2).backward(3).step(5)
    assert script.end().findings == ()


# -- GL103 cleared-inside-window ------------------------------------------------------------------------


def test_clearing_at_every_micro_batch() -> None:
    script = Script()
    for _ in range(3):
        for _ in range(4):
            script.clear(2).batch(3)
        script.step(5, windowed=True)
    finding = script.end().only("GL103", 2)
    assert finding.message == "throws away 3 of 4 micro-batches of each window"
    assert [related.site.line for related in finding.related] == [3, 5]
    assert finding.count == 3


def test_an_optimizer_with_methods_of_its_own_may_keep_what_is_cleared() -> None:
    script = Script(opened=False).post(ev.OptimizerBuilt(at(1), 1, "Summing", own_methods=True)).open(1, 1)
    for _ in range(3):
        for _ in range(4):
            script.clear(2).batch(3)
        script.step(5, windowed=True)
    assert (script.end().certain, script.possible) == ([], [("GL103", 2)])


def test_each_clearing_line_answers_for_what_it_throws_away() -> None:
    script = Script()
    for _ in range(3):
        script.batch(3).clear(9).batch(3).clear(2).batch(3).clear(2).batch(3).step(5, windowed=True).clear(6)
    assert [(f.code, f.site.line, f.message) for f in script.end().findings] == [
        ("GL103", 2, "throws away 2 of 3 micro-batches of each window"),
        ("GL103", 9, "throws away 1 of 2 micro-batches of each window"),
    ]


def test_what_another_pass_had_posted_is_no_part_of_the_window() -> None:
    script = Script()
    for _ in range(3):
        script.batch(7).clear(2).batch(3).clear(2).batch(3).step(5, windowed=True).clear(6)
    assert script.end().only("GL103", 2).message == "throws away 1 of 2 micro-batches of each window"


def test_three_fifths_of_the_windows_are_enough() -> None:
    script = Script()
    for number in range(5):
        script.batch(3)
        if number % 2 == 0:
            script.clear(2)
        script.batch(3).step(5, windowed=True).clear(6)
    script.end().only("GL103", 2)


def test_a_line_that_clears_now_and_then_hides_no_other() -> None:
    script = Script().batch(3).clear(9).batch(3).step(5, windowed=True).clear(6)
    for _ in range(4):
        script.batch(3).clear(2).batch(3).step(5, windowed=True).clear(6)
    script.end().only("GL103", 2)


def test_windows_that_were_altered_by_hand_are_the_programs_own() -> None:
    script = Script()
    for _ in range(4):
        script.batch(3).clear(2).batch(3).change(4).step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_a_window_that_was_altered_by_hand_hides_no_other() -> None:
    script = Script().batch(3).change(4).step(5, windowed=True).clear(6)
    for _ in range(4):
        script.batch(3).clear(2).batch(3).step(5, windowed=True).clear(6)
    script.end().only("GL103", 2)


def test_the_rest_of_an_epoch_and_passes_for_an_input_are_no_part_of_a_window() -> None:
    script = Script()
    for _ in range(4):
        script.batch(3).epoch_ends().clear(2).batch(3).step(5).clear(6)
    assert script.end().findings == ()
    script = Script()
    for _ in range(4):
        script.batch(3, wants_input=True).clear(2).batch(3, wants_input=True).step(5).clear(6)
    assert script.end().findings == ()


def test_accumulation_that_clears_after_the_step_is_right() -> None:
    script = Script()
    for _ in range(3):
        for _ in range(4):
            script.batch(3)
        script.step(5, windowed=True).clear(6)
    assert script.end().findings == ()


def test_a_guard_that_skips_bad_losses_throws_away_only_now_and_then() -> None:
    script = Script()
    for number in range(10):
        script.clear(2).batch(3)
        if number != 4:
            script.step(5)
    assert script.end().findings == ()


# -- GL104 unguarded-grad-access ------------------------------------------------------------------------


def test_a_crash_on_none_is_explained() -> None:
    script = Script().post(ev.GradientMissing(at(3), "p.grad"))
    finding = script.end(complete=False).only("GL104", 3)
    assert finding.message.startswith("`p.grad` is None here")
    assert "`if p.grad is not None:`" in finding.remedy


def test_a_crash_elsewhere_is_not() -> None:
    assert Script().clear(2).backward(3).step(4).end(complete=False).findings == ()
