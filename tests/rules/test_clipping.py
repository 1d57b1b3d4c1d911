"""GL304, GL307 and GL309: clipping at the wrong time, or the wrong thing."""

from __future__ import annotations

from tests.ledger_script import Script

# -- GL304 clip-without-effect --------------------------------------------------------------------------


def test_clipping_after_the_step() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).step(4).clip(5)
    finding = script.end().only("GL304", 5)
    assert finding.message == "clips after the step has applied the gradients"
    assert finding.detail == "4 of 4 calls found nothing that a later step used"


def test_clipping_before_the_backward() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).clip(3).backward(4).step(5)
    assert script.end().only("GL304", 3).message == "clips before backward() has computed the gradients"


def test_clipping_between_backward_and_step_is_right() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).clip(4).step(5)
    assert script.end().findings == ()


def test_measuring_after_the_step_is_right() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).step(4).clip(5, only_measures=True)
    assert script.end().findings == ()


def test_clipping_what_was_cleared_too_early_is_that_other_mistake() -> None:
    script = Script()
    for _ in range(4):
        script.backward(3).clear(4).clip(5).step(6)
    script.end().only("GL102", 4)


# -- GL307 clip-inside-window ---------------------------------------------------------------------------


def test_clipping_each_partial_sum() -> None:
    script = Script()
    for _ in range(3):
        for _ in range(4):
            script.batch(3).clip(4)
        script.step(6, windowed=True).clear(7)
    finding = script.end().only("GL307", 4)
    assert finding.message == "clips a partial sum: the step comes only after 4 micro-batches"
    assert finding.count == 3


def test_clipping_the_first_of_two() -> None:
    script = Script()
    for _ in range(3):
        script.batch(3).clip(4).batch(3).step(6, windowed=True).clear(7)
    script.end().only("GL307", 4)


def test_of_a_partial_sum_that_still_carries_the_scale_the_worse_is_told() -> None:
    script = Script().scaler(1)
    for _ in range(3):
        for _ in range(2):
            script.batch(3, scaled_by=1).clip(4)
        script.unscale(5).scaler_step(6).update(6).clear(7)
    script.end().only("GL301", 4)


def test_a_clip_of_scaled_gradients_hides_no_later_one() -> None:
    script = Script().scaler(1)
    for _ in range(3):
        script.batch(3, scaled_by=1).clip(4).unscale(5).clip(6).batch(3).step(7, windowed=True).clear(8)
    assert ("GL307", 6) in script.end().certain


def test_clipping_before_the_first_is_another_mistake() -> None:
    script = Script()
    for _ in range(3):
        script.clip(4).batch(3).batch(3).step(6, windowed=True).clear(7)
    script.end().only("GL304", 4)


def test_clipping_the_total_is_right() -> None:
    script = Script()
    for _ in range(3):
        script.batch(3).batch(3).batch(3).clip(4).step(6, windowed=True).clear(7)
    assert script.end().findings == ()


def test_clipping_one_loss_before_another_is_right() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3).clip(4).backward(5).step(6)
    assert script.end().findings == ()


def test_measuring_each_partial_sum_is_right() -> None:
    script = Script()
    for _ in range(3):
        for _ in range(4):
            script.batch(3).clip(4, only_measures=True)
        script.step(6, windowed=True).clear(7)
    assert script.end().findings == ()


# -- GL309 clip-other-parameters ------------------------------------------------------------------------


def test_clipping_parameters_that_have_no_gradients() -> None:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).clip(4, ()).step(5)
    finding = script.end().only("GL309", 4)
    assert [related.site.line for related in finding.related] == [5]
    assert finding.detail == "4 of 4 calls"


def test_clipping_the_other_half_of_a_gan() -> None:
    script = Script().open(2, module=3)
    for _ in range(4):
        script.clear(2, 1, 2).backward(3, 1, 2).clip(4, (2,)).step(5)
    assert ("GL309", 4) in script.end().certain


def test_clipping_before_any_pass_is_meant_for_no_other_step() -> None:
    script = Script().optimizer(1, 2).open(2, optimizer=2)
    script.clip(2, (1,)).clip(3, (2,)).step(5)
    for _ in range(4):
        script.backward(4, 1).step(5).clear(6, 1).backward(7, 2).step(8, 2, optimizer=2).clear(9, 2)
    assert script.end().certain == [("GL304", 2), ("GL304", 3)]


def test_clipping_what_is_stepped_later_is_right() -> None:
    script = Script().optimizer(1, 2).open(2, optimizer=2)
    for _ in range(4):
        script.clear(2, 1, 2).backward(3, 1, 2).clip(4, (2,)).clip(5, (1,)).step(6).step(7, 2, optimizer=2)
    assert script.end().findings == ()


def test_clipping_more_than_is_stepped_is_right() -> None:
    script = Script().open(2, module=3)
    for _ in range(4):
        script.clear(2, 1, 2).backward(3, 1, 2).clip(4, (1, 2)).step(5)
    assert script.end().findings == ()


def test_clipping_for_an_update_by_hand_is_right() -> None:
    script = Script().open(2, module=3)
    for _ in range(4):
        script.clear(2, 1, 2).backward(3, 1, 2).clip(4, (2,)).step(5, 2, optimizer=None).step(6)
    assert script.end().findings == ()


def test_clipping_the_right_parameters_at_the_wrong_moment_is_that_mistake() -> None:
    script = Script().optimizer(1, 2).open(2, optimizer=2)
    for _ in range(4):
        script.clear(2, 2, owner=2).backward(3, 2).step(4, 2, optimizer=2).clip(5, (2,))
        script.clear(6, 1).backward(7, 1).step(8, 1)
    script.end().only("GL304", 5)


def test_clipping_for_an_optimizer_that_never_steps_is_that_mistake() -> None:
    script = Script().optimizer(2, 2).open(2, optimizer=2)
    for _ in range(4):
        script.clear(3, 1, 2).backward(4, 1, 2).clip(5, (2,)).step(6, 1)
    script.end().only("GL404", 2)


def unclipped(turns: int) -> Script:
    """Account 1 is stepped, account 2 is clipped."""
    script = Script().open(2, module=3)
    for _ in range(turns):
        script.clear(2, 1, 2).backward(3, 1, 2).clip(4, (2,)).step(5)
    return script


def counted(script: Script) -> str:
    """How many of the calls at line 4 were for nothing."""
    (finding,) = (finding for finding in script.findings if finding.code == "GL309")
    assert finding.site.line == 4
    return finding.detail


def test_the_last_call_counts_once_the_run_has_ended() -> None:
    assert counted(unclipped(5)) == "4 of 5 calls"
    assert counted(unclipped(5).end()) == "5 of 5 calls"


def test_a_last_call_that_was_cleared_counts_once() -> None:
    assert counted(unclipped(5).clear(2, 1, 2).end()) == "5 of 5 calls"


def test_a_last_call_without_a_step_does_not_count() -> None:
    assert counted(unclipped(4).clear(2, 1, 2).backward(3, 1, 2).clip(4, (2,)).end()) == "4 of 5 calls"


def test_clipping_that_one_step_used_is_right() -> None:
    script = unclipped(9).clear(2, 1, 2).backward(3, 1, 2).clip(4, (2,)).step(5).step(6, 2, optimizer=None)
    assert "GL309" not in {finding.code for finding in script.end().findings}


def test_clipping_that_is_seldom_for_nothing_is_right() -> None:
    script = unclipped(2)
    for _ in range(2):
        script.clear(2, 1, 2).backward(3, 1, 2).clip(4, (2,))
    assert "GL309" not in {finding.code for finding in script.clear(2, 1, 2).end().findings}


def test_of_the_other_steps_the_most_frequent_is_told() -> None:
    script = Script().clear(2).backward(3).clip(4, ()).step(6)
    for _ in range(3):
        script.clear(2).backward(3).clip(4, ()).step(5)
    finding = script.end().only("GL309", 4)
    assert [related.site.line for related in finding.related] == [5]


def adversaries() -> Script:
    """Optimizer 1 holds account 1, optimizer 2 account 2."""
    return Script().optimizer(1, 2).open(2, optimizer=2)


def test_clipping_the_adversary_that_has_just_stepped() -> None:
    script = adversaries()
    for _ in range(4):
        script.clear(2, 2, owner=2).backward(3, 2).step(4, 2, optimizer=2)
        script.clear(5, 1).backward(6, 1).clip(7, (2,)).step(8, 1)
    script.end().only("GL309", 7)


def test_clipping_the_adversary_that_was_stepped_and_cleared() -> None:
    script = adversaries()
    for _ in range(4):
        script.backward(3, 1, 2).step(4, 2, optimizer=2).clear(5, 2, owner=2)
        script.clip(6, (2,)).step(7, 1).clear(8, 1).clear(9, 2, owner=2)
    script.end().only("GL309", 6)


def test_clipping_the_adversary_that_then_loses_its_gradients() -> None:
    script = adversaries()
    for _ in range(4):
        script.clear(2, 1, 2).backward(3, 1, 2).clip(4, (2,)).backward(5, 1).step(6, 1)
        script.clear(7, 2, owner=2).backward(8, 2).step(9, 2, optimizer=2)
    assert ("GL309", 4) in script.end().certain


def test_clipping_too_late_after_a_common_backward_is_that_mistake() -> None:
    script = adversaries()
    for _ in range(4):
        script.clear(2, 1, 2).backward(3, 1, 2).step(4, 2, optimizer=2).clip(5, (2,)).step(6, 1)
    script.end().only("GL304", 5)


def test_clipping_what_is_empty_before_the_others_backward_is_that_mistake() -> None:
    script = adversaries()
    for _ in range(4):
        script.clear(2, 2, owner=2).clip(3, (2,)).clear(4, 1).backward(5, 1).step(6, 1)
        script.clear(7, 2, owner=2).backward(8, 2).step(9, 2, optimizer=2)
    script.end().only("GL304", 3)


def test_clipping_other_parameters_beside_clipping_at_the_wrong_moment() -> None:
    script = adversaries()
    for _ in range(4):
        script.clear(2, 2, owner=2).backward(3, 2).step(4, 2, optimizer=2).clip(5, (2,))
        script.clear(6, 1).backward(7, 1).clip(8, ()).step(9, 1)
    assert script.end().certain == [("GL304", 5), ("GL309", 8)]


def test_clipping_other_parameters_beside_an_optimizer_that_never_steps() -> None:
    script = Script().optimizer(2, 2).open(2, optimizer=2)
    for _ in range(4):
        script.clear(3, 1, 2).backward(4, 1, 2).clip(5, (2,)).clip(6, ()).step(7, 1)
    assert script.end().certain == [("GL404", 2), ("GL309", 6)]


def test_clipping_what_took_the_place_of_the_optimizers_parameters_is_that_mistake() -> None:
    script = Script().open(2)
    script.clear(2).backward(3).clip(4).step(5)
    for _ in range(4):
        script.clear(2).backward(3, 2).clip(4, (2,)).step(5)
    assert [code for code, _ in script.end().certain] == ["GL403"]
