"""The pure transition of one account."""

from __future__ import annotations

from functools import reduce

import pytest

from gradledger.ledger import account as module
from gradledger.ledger import events as ev
from gradledger.ledger.account import Account, Clip, Lost, Posting, Run, post
from gradledger.ledger.site import Site


def at(line: int) -> Site:
    return Site("train.py", line)


ONE = (1,)
BACKWARD = ev.BackwardRan(at(3), ONE)
OTHER = ev.BackwardRan(at(4), ONE)
SCALED = ev.BackwardRan(at(3), ONE, scaled_by=1)
STEP = ev.OptimizerStepped(at(5), ONE, 1)
CLEAR = ev.GradientCleared(at(6), ONE)
CLIP = ev.GradientsClipped(at(7), ONE)
SKIP = ev.StepSkipped(at(5), ONE, 1, 1)
EPOCH = ev.EpochEnded(None, 1)
MOVED = ev.ParametersMoved(at(8), ONE)
ASSIGNED = ev.GradientAssigned(at(8), ONE)


def after(*events: ev.Event) -> Account:
    return reduce(post, events, Account())


def test_a_new_account_holds_nothing() -> None:
    account = Account()
    assert (account.content, account.waiting, account.scaled_by) == ("none", 0, None)


def test_equal_passes_in_a_row_are_one_run() -> None:
    account = after(BACKWARD, BACKWARD, OTHER, BACKWARD)
    assert account.fresh == (Run(Posting(BACKWARD), 2), Run(Posting(OTHER)), Run(Posting(BACKWARD)))
    assert (account.content, account.waiting) == ("held", 4)


def test_a_run_is_counted_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    assert after(*[BACKWARD] * 5).waiting == 3
    assert after(*[BACKWARD] * 3) == after(*[BACKWARD] * 4)
    assert after(*[BACKWARD, CLEAR] * 5).lost[0].run.count == 3


def test_a_step_makes_fresh_stale() -> None:
    account = after(BACKWARD, BACKWARD, OTHER, STEP)
    assert account.fresh == ()
    assert account.stale == (Posting(BACKWARD), Posting(OTHER))
    assert (account.applied, account.content) == (STEP, "held")


def test_many_steps_without_clearing_reach_a_fixed_point() -> None:
    assert after(*[BACKWARD, STEP] * 2) == after(*[BACKWARD, STEP] * 9)


def test_a_second_step_keeps_the_first_as_the_one_that_applied() -> None:
    again = ev.OptimizerStepped(at(9), ONE, 1)
    assert after(BACKWARD, STEP, again).applied == STEP
    assert after(BACKWARD, STEP, BACKWARD, again).applied == again


def test_a_step_on_assigned_gradients_is_the_one_that_applied() -> None:
    again = ev.OptimizerStepped(at(9), ONE, 1)
    assert after(ASSIGNED, STEP, again).applied == again
    assert after(BACKWARD, STEP, ASSIGNED, again).applied == again


def test_the_latest_four_kinds_that_a_step_applied_are_remembered() -> None:
    passes = [ev.BackwardRan(at(line), ONE) for line in range(10, 16)]
    assert after(*passes, STEP).stale == tuple(Posting(ran) for ran in passes[2:])


def test_a_skipped_step_uses_what_is_there() -> None:
    account = after(BACKWARD, SKIP)
    assert (account.fresh, account.applied) == ((), SKIP)


def test_clearing_empties_and_remembers_what_was_unused() -> None:
    account = after(BACKWARD, BACKWARD, CLEAR)
    assert (account.content, account.waiting, account.stale) == ("none", 0, ())
    (lost,) = account.lost
    assert (lost.run, lost.cleared, lost.after_epoch) == (Run(Posting(BACKWARD), 2), CLEAR, False)


def test_clearing_what_was_used_loses_nothing() -> None:
    assert after(BACKWARD, STEP, CLEAR) == Account()
    assert after(BACKWARD, STEP, ev.GradientCleared(at(6), ONE, to="zero")) == Account(content="zero")


def test_losses_in_a_row_are_joined_and_bounded() -> None:
    assert after(*[BACKWARD, CLEAR] * 3).lost[0].run.count == 3
    mixed = [event for _ in range(10) for event in (BACKWARD, CLEAR, OTHER, CLEAR)]
    assert len(after(*mixed).lost) == 8


def test_assigning_forgets_no_loss() -> None:
    assert after(BACKWARD, CLEAR, ASSIGNED).lost == after(BACKWARD, CLEAR).lost != ()


def test_a_step_forgets_what_was_lost_before_it() -> None:
    assert after(BACKWARD, CLEAR, BACKWARD, STEP).lost == ()


def test_the_end_of_an_epoch_marks_what_waits() -> None:
    account = after(BACKWARD, BACKWARD, EPOCH, BACKWARD)
    assert (account.tail, account.waiting) == (2, 3)
    assert post(account, CLEAR).lost[0].after_epoch
    assert post(account, STEP).tail == 0


def test_only_the_rest_of_an_ended_epoch_is_lost_after_it() -> None:
    lost = after(BACKWARD, OTHER, OTHER, EPOCH, OTHER, BACKWARD, CLEAR).lost
    assert lost == (
        Lost(Run(Posting(BACKWARD)), CLEAR, after_epoch=True),
        Lost(Run(Posting(OTHER), 2), CLEAR, after_epoch=True),
        Lost(Run(Posting(OTHER)), CLEAR),
        Lost(Run(Posting(BACKWARD)), CLEAR),
    )


def test_what_was_lost_may_have_served_where_the_parameters_were_moved() -> None:
    assert after(BACKWARD, MOVED).served is True
    assert after(BACKWARD, MOVED, CLEAR).lost == (Lost(Run(Posting(BACKWARD)), CLEAR, served=True),)
    assert after(BACKWARD, MOVED, OTHER) == after(BACKWARD, OTHER)
    assert after(BACKWARD, CLEAR).lost[0].served is False


def test_moving_parameters_means_nothing_to_an_empty_account() -> None:
    assert after(MOVED) == Account()


def test_assigned_gradients_are_the_programs_own() -> None:
    account = after(BACKWARD, ASSIGNED)
    assert (account.content, account.changed, account.waiting) == ("assigned", True, 0)
    assert not post(account, STEP).changed


def test_a_change_by_hand_is_remembered_until_the_step() -> None:
    changed = after(BACKWARD, ev.GradientChanged(at(8), ONE))
    assert changed.changed
    assert not post(changed, STEP).changed
    assert not post(changed, CLEAR).changed


def test_a_division_by_hand_is_remembered_through_later_changes() -> None:
    halved, changed = ev.GradientChanged(at(8), ONE, divided_by=2), ev.GradientChanged(at(9), ONE)
    assert after(BACKWARD, changed).divided is None
    assert after(BACKWARD, halved).divided is halved
    assert after(BACKWARD, halved, changed).divided is halved
    assert after(BACKWARD, halved, STEP).divided is None


def test_the_scale_is_there_until_it_is_divided_out() -> None:
    assert after(SCALED).scaled_by == 1
    assert after(SCALED, ev.GradientsUnscaled(at(8), ONE, 1, 1)).scaled_by is None
    assert after(SCALED, STEP, BACKWARD).scaled_by is None


def test_clips_know_what_they_found() -> None:
    account = after(SCALED, CLIP, SCALED, CLIP)
    assert [(clip.found, clip.scaled) for clip in account.clips] == [(1, True), (2, True)]
    assert after(BACKWARD, ev.GradientsClipped(at(7), ONE, only_measures=True)).clips == ()
    assert after(BACKWARD, CLIP, STEP).clips == ()


def test_a_clip_with_a_scaled_bound_is_right_on_scaled_gradients() -> None:
    fitting = ev.GradientsClipped(at(7), ONE, scaled_bound=True)
    assert after(SCALED, fitting).clips == (Clip(fitting, 1),)
    assert after(BACKWARD, CLIP).clips == (Clip(CLIP, 1),)


def test_a_clip_by_hand_knows_what_it_found() -> None:
    clip = ev.GradientChanged(at(7), ONE, clipping=True)
    assert after(SCALED, SCALED, clip).clips == (Clip(clip, 2, scaled=True),)
    assert after(BACKWARD, clip).clips == (Clip(clip, 1),)
    assert after(BACKWARD, clip, ev.GradientChanged(at(9), ONE)).clips == (Clip(clip, 1),)


@pytest.mark.parametrize("clip", [CLIP, ev.GradientChanged(at(7), ONE, clipping=True)])
def test_clips_are_bounded(clip: ev.Event) -> None:
    assert len(after(*[BACKWARD, clip] * 20).clips) == 8


def test_what_another_optimizer_used_is_marked() -> None:
    account = after(*[BACKWARD] * 4, ev.UsedElsewhere(None, ONE, 2, 1, 3))
    assert [(run.count, run.posting.used_by) for run in account.fresh] == [(1, None), (2, 2), (1, None)]
    assert account.waiting == 4


@pytest.mark.parametrize(("first", "last"), [(0, 0), (2, 2), (4, 4), (4, 9), (7, 9), (3, 1)])
def test_a_range_without_passes_marks_nothing(first: int, last: int) -> None:
    account = after(BACKWARD, BACKWARD, OTHER, OTHER)
    assert post(account, ev.UsedElsewhere(None, ONE, 2, first, last)) == account


def test_a_range_over_several_runs_marks_its_part_of_each() -> None:
    account = after(BACKWARD, BACKWARD, OTHER, OTHER, BACKWARD, ev.UsedElsewhere(None, ONE, 2, 1, 3))
    assert [(run.count, run.posting.ran, run.posting.used_by) for run in account.fresh] == [
        (1, BACKWARD, None),
        (1, BACKWARD, 2),
        (1, OTHER, 2),
        (1, OTHER, None),
        (1, BACKWARD, None),
    ]


def test_a_whole_run_that_another_optimizer_used_stays_one() -> None:
    account = after(BACKWARD, OTHER, ev.UsedElsewhere(None, ONE, None, 0, 2))
    assert [run.posting.used_by for run in account.fresh] == [-1, -1]
    assert post(account, STEP).stale == (Posting(BACKWARD), Posting(OTHER))


def test_reducing_by_hand_settles_what_was_unreduced_and_claims_nothing_else() -> None:
    local, synced = ev.BackwardRan(at(3), ONE, reduced=False), ev.BackwardRan(at(3), ONE, reduced=True)
    account = after(local, local, synced, ev.GradientsReduced(at(8), ONE))
    assert [(run.count, run.posting.ran.reduced) for run in account.fresh] == [(2, None), (1, True)]


def test_a_closure_uses_only_what_is_fresh() -> None:
    closure = ev.ClosureEvaluated(at(9), ONE, 1)
    assert after(BACKWARD, closure).applied == closure
    assert after(BACKWARD, STEP, closure) == after(BACKWARD, STEP)
    assert after(closure) == Account()


def test_other_events_change_nothing() -> None:
    before = after(BACKWARD)
    for event in (ev.LossScaled(at(1), 1), ev.ScalerUpdated(at(1), 1), ev.RunEnded(None)):
        assert post(before, event) is before


def test_a_posting_stands_at_the_line_of_its_pass() -> None:
    assert [posting.site for posting in after(BACKWARD, OTHER).postings()] == [at(3), at(4)]


def test_what_another_optimizer_has_used_was_not_missed() -> None:
    used = ev.UsedElsewhere(None, ONE, 2, 0, 1)
    assert not after(BACKWARD, used, CLEAR).missed
    assert after(BACKWARD, OTHER, used, CLEAR).missed
    assert not after(BACKWARD, STEP, CLEAR).missed
