"""GL301, GL302, GL303, GL305 and GL308: gradient scalers."""

from __future__ import annotations

from gradledger.ledger import events as ev
from tests.ledger_script import Script


def scaled(script: Script) -> Script:
    """One backward() on a scaled loss."""
    return script.clear(3).backward(4, scaled_by=1)


# -- GL301 clip-before-unscale --------------------------------------------------------------------------


def test_clipping_what_is_still_scaled() -> None:
    script = Script().scaler(2).open(2, optimizer=1)
    for _ in range(3):
        script.clear(3, 1, 2).backward(4, 1, 2, scaled_by=1).clip(5, (1, 2))
        script.step(6, 1, 2, scaler=1).update(7)
    finding = script.end().only("GL301", 5)
    assert [related.site.line for related in finding.related] == [4]
    assert (finding.count, finding.detail) == (3, "all 3 steps")


def test_clipping_by_hand_what_is_still_scaled() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        scaled(script).change(5, clipping=True).scaler_step(6).update(7)
    script.end().only("GL301", 5)


def test_unscaling_first_is_right() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        scaled(script).unscale(5).clip(6).scaler_step(7).update(8)
    assert script.end().findings == ()


def test_measuring_the_norm_or_dividing_by_a_constant_is_right() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        scaled(script).clip(5, only_measures=True).change(6).scaler_step(7).update(8)
    assert script.end().findings == ()


def test_scaled_clips_inside_a_window_are_one_mistake() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        script.batch(4, scaled_by=1).clip(5).batch(4, scaled_by=1).clip(5)
        script.scaler_step(6).update(7).clear(8)
    script.end().only("GL301", 5)


# -- GL302 step-bypasses-scaler -------------------------------------------------------------------------


def test_a_direct_step_on_scaled_gradients() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        scaled(script).step(5)
    finding = script.end().only("GL302", 5)
    assert [related.site.line for related in finding.related] == [4]


def test_a_direct_step_after_unscaling_is_right() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        scaled(script).unscale(5).step(6)
    assert script.end().findings == ()


def test_a_direct_step_after_dividing_by_hand_is_right() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        scaled(script).change(5).step(6)
    assert script.end().findings == ()


def test_unscaled_parameters_hide_no_scaled_ones() -> None:
    script = Script().scaler(2).open(2, optimizer=1)
    for _ in range(3):
        script.clear(3, 1, 2).backward(4, 1).backward(5, 2, scaled_by=1).step(6, 1, 2)
    script.end().only("GL302", 6)


# -- GL303 scaler-never-updated -------------------------------------------------------------------------


def test_torchs_refusal_is_explained() -> None:
    script = Script().scaler(2)
    scaled(scaled(script).scaler_step(5)).refuse(5, "already-stepped")
    finding = script.end(complete=False).only("GL303", 5)
    assert "torch raises here" in finding.message


def test_a_scaler_that_is_new_each_time_and_never_updated() -> None:
    script = Script()
    for number in range(4):
        script.scaler(2, number, inside_loop=number > 0)
        script.clear(3).backward(4, scaled_by=number).scaler_step(5, number)
    finding = script.end().only("GL303", 5)
    assert finding.detail == "4 steps and no update"


def never_updated(times: int) -> Script:
    script = Script()
    for number in range(times):
        script.scaler(2, number).clear(3).backward(4, scaled_by=number).scaler_step(5, number)
    return script


def test_two_steps_without_an_update_are_enough_at_the_end() -> None:
    assert never_updated(2).findings == ()
    never_updated(2).end().only("GL303", 5)


def test_torchs_refusal_is_all_that_is_told() -> None:
    script = never_updated(3).refuse(5, "already-stepped").end()
    assert script.only("GL303", 5).detail == "a gradient scaler steps each optimizer once between two updates"


def test_scalers_that_are_updated_are_right() -> None:
    script = Script().scaler(2)
    for _ in range(4):
        scaled(script).scaler_step(5).update(6)
    assert script.end().findings == ()


def test_a_single_step_needs_no_update() -> None:
    assert scaled(Script().scaler(2)).scaler_step(5).end().findings == ()


# -- GL305 backward-bypasses-scaler ---------------------------------------------------------------------


def test_an_unscaled_loss_among_scaled_ones() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        scaled(script).backward(5).scaler_step(6).update(7)
    finding = script.end().only("GL305", 6)
    assert "the backward() at line 5 added unscaled" in finding.message


def test_a_scaler_that_scaled_nothing_is_explained() -> None:
    script = Script().scaler(2).backward(4).refuse(5, "never-scaled")
    finding = script.end(complete=False).only("GL305", 5)
    assert [related.site.line for related in finding.related] == [4]


def test_a_scaler_that_scaled_nothing_without_any_pass() -> None:
    script = Script().scaler(2).refuse(5, "never-scaled").end(complete=False)
    assert script.only("GL305", 5).related == ()


def test_unscaled_gradients_that_were_altered_by_hand_are_the_programs_own() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        script.clear(3).backward(4).change(5).scaler_step(6).update(7)
    assert script.end().findings == ()


def test_parameters_that_were_altered_by_hand_hide_no_others() -> None:
    script = Script().scaler(2).open(2, optimizer=1)
    for _ in range(3):
        script.clear(3, 1, 2).backward(4, 1, 2).change(5, 1).step(6, 1, 2, scaler=1).update(7)
    script.end().only("GL305", 6)


def test_scaling_every_loss_is_right() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        scaled(script).backward(5, scaled_by=1).scaler_step(6).update(7)
    assert script.end().findings == ()


def test_gradients_that_were_assigned_are_the_programs_own() -> None:
    script = Script().scaler(2)
    for _ in range(3):
        script.clear(3).backward(4).assign(5).scaler_step(6).update(7)
    assert script.end().findings == ()


# -- GL308 scaler-recreated -----------------------------------------------------------------------------


def recreated(times: int, *, inside_loop: bool = True) -> Script:
    script = Script()
    for number in range(times):
        script.scaler(2, number, inside_loop=inside_loop and number > 0)
        script.clear(3).backward(4, scaled_by=number).scaler_step(5, number).update(6, number)
    return script.end()


def test_a_new_scaler_in_every_turn() -> None:
    finding = recreated(5).only("GL308", 2)
    assert finding.detail == "5 scalers made by this line in one loop"
    assert finding.severity.value == "warning"


def test_one_scaler_for_each_of_two_runs_is_right() -> None:
    assert recreated(2).findings == ()


def test_a_scaler_for_each_optimizer_is_right_whatever_another_line_makes() -> None:
    """As for the folds of a cross-validation."""
    script = Script()
    for number in range(4):
        for line, scaler in ((2, number), (9, 10 + number)):
            script.scaler(line, scaler, inside_loop=line == 2 and number > 0)
            script.clear(3).backward(4, scaled_by=scaler)
            script.scaler_step(5, scaler, optimizer=number).update(6, scaler)
    assert ("GL308", 2) not in script.end().certain


def test_two_scalers_of_one_training_are_enough_to_tell() -> None:
    script = Script()
    script.post(ev.ScalerStepped(None, 99, 1)).update(9, 99)  # one that nobody saw being made
    for number in range(3):
        script.scaler(2, number, inside_loop=number > 0)
        script.clear(3).backward(4, scaled_by=number)
        script.scaler_step(5, number, optimizer=1 if number else 7).update(6, number)
    assert ("GL308", 2) in script.end().certain


def test_scalers_made_outside_a_loop_are_right() -> None:
    assert recreated(5, inside_loop=False).findings == ()
