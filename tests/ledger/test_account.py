"""The pure transition of one account."""

from __future__ import annotations

from functools import reduce

import pytest

from gradledger.ledger import account as module
from gradledger.ledger import events as ev
from gradledger.ledger.account import Account, Posting, Run, post
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


def test_a_step_forgets_what_was_lost_before_it() -> None:
    assert after(BACKWARD, CLEAR, BACKWARD, STEP).lost == ()


def test_the_end_of_an_epoch_marks_what_waits() -> None:
    account = after(BACKWARD, BACKWARD, EPOCH, BACKWARD)
    assert (account.tail, account.waiting) == (2, 3)
    assert post(account, CLEAR).lost[0].after_epoch
    assert post(account, STEP).tail == 0


def test_assigned_gradients_are_the_programs_own() -> None:
    account = after(BACKWARD, ev.GradientAssigned(at(8), ONE))
    assert (account.content, account.changed, account.waiting) == ("assigned", True, 0)
    assert not post(account, STEP).changed


def test_a_change_by_hand_is_remembered_until_the_step() -> None:
    changed = after(BACKWARD, ev.GradientChanged(at(8), ONE))
    assert changed.changed
    assert not post(changed, STEP).changed
    assert not post(changed, CLEAR).changed


def test_the_scale_is_there_until_it_is_divided_out() -> None:
    assert after(SCALED).scaled_by == 1
    assert after(SCALED, ev.GradientsUnscaled(at(8), ONE, 1, 1)).scaled_by is None
    assert after(SCALED, STEP, BACKWARD).scaled_by is None


def test_clips_know_what_they_found() -> None:
    account = after(SCALED, CLIP, SCALED, CLIP)
    assert [(clip.found, clip.scaled) for clip in account.clips] == [(1, True), (2, True)]
    assert after(BACKWARD, ev.GradientsClipped(at(7), ONE, only_measures=True)).clips == ()
    assert after(BACKWARD, CLIP, STEP).clips == ()


@pytest.mark.parametrize("clip", [CLIP, ev.GradientChanged(at(7), ONE, clipping=True)])
def test_clips_are_bounded(clip: ev.Event) -> None:
    assert len(after(*[BACKWARD, clip] * 20).clips) == 8


def test_what_another_optimizer_used_is_marked() -> None:
    account = after(*[BACKWARD] * 4, ev.UsedElsewhere(None, ONE, 2, 1, 3))
    assert [(run.count, run.posting.used_by) for run in account.fresh] == [(1, None), (2, 2), (1, None)]
    assert account.waiting == 4


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


def test_other_events_change_nothing() -> None:
    before = after(BACKWARD)
    for event in (ev.LossScaled(at(1), 1), ev.ScalerUpdated(at(1), 1), ev.RunEnded(None)):
        assert post(before, event) is before
