"""GL401 to GL404: several optimizers, and parameters without one."""

from __future__ import annotations

import pytest

from gradledger.ledger import events as ev
from tests.ledger_script import Script


def two_optimizers() -> Script:
    """Account 1 belongs to optimizer 1 and account 2 to optimizer 2."""
    return Script().optimizer(2, 2).open(2, optimizer=2)


# -- GL401 cross-optimizer-leak -------------------------------------------------------------------------


def test_a_critic_that_is_not_cleared_before_its_own_backward() -> None:
    script = two_optimizers()
    for _ in range(4):
        script.clear(3, 1).backward(4, 1, 2).step(5, 1)
        script.backward(6, 2).step(7, 2, optimizer=2).clear(8, 2, owner=2)
    finding = script.end().only("GL401", 7)
    assert finding.message == "also applies what the backward() at line 4 left for another optimizer"
    assert [related.site.line for related in finding.related] == [4, 6]


def test_a_kept_graph_makes_it_only_possible() -> None:
    script = two_optimizers()
    for _ in range(4):
        script.clear(3, 1).backward(4, 1, 2, kept_graph=True).step(5, 1)
        script.backward(6, 2).step(7, 2, optimizer=2).clear(8, 2, owner=2)
    assert (script.end().certain, script.possible) == ([], [("GL401", 7)])


def test_shared_parameters_that_another_optimizer_applied_and_nobody_cleared() -> None:
    script = Script().optimizer(2, 2)
    for _ in range(4):
        script.backward(4).step(5).backward(6).step(7, optimizer=2).clear(8)
    assert script.end().certain == [("GL401", 7)]


def test_clearing_the_critic_before_its_own_backward_is_right() -> None:
    script = two_optimizers()
    for _ in range(4):
        script.clear(3, 1).backward(4, 1, 2).step(5, 1)
        script.clear(6, 2, owner=2).backward(7, 2).step(8, 2, optimizer=2)
    assert script.end().findings == ()


def test_another_loss_that_reaches_as_much_is_still_another() -> None:
    script = two_optimizers()
    for _ in range(4):
        script.clear(3, 1).backward(4, 1, 2).step(5, 1).clear(3, 1)
        script.backward(6, 1, 2).step(7, 2, optimizer=2).step(5, 1).clear(8, 2, owner=2)
    assert script.end().certain == [("GL401", 7)]


def test_one_loss_on_which_the_other_optimizer_steps_more_often_is_right() -> None:
    script = two_optimizers()
    for _ in range(4):
        script.clear(3, 1).backward(4, 1, 2).step(5, 1).clear(6, 1)
        script.backward(4, 1, 2).step(7, 2, optimizer=2).step(8, 1).clear(9, 2, owner=2)
    assert script.end().findings == ()


def test_parameters_without_a_leak_hide_no_others() -> None:
    script = Script().optimizer(2, 2).open(2, optimizer=2).open(3, optimizer=2)
    for _ in range(4):
        script.clear(3, 1).backward(4, 1, 3).step(5, 1)
        script.backward(6, 2, 3).step(7, 2, 3, optimizer=2).clear(8, 2, 3, owner=2)
    script.end().only("GL401", 7)


def test_joint_training_is_right() -> None:
    script = two_optimizers()
    for _ in range(4):
        script.clear(3, 1).clear(4, 2, owner=2).backward(5, 1, 2).step(6, 1).step(7, 2, optimizer=2)
    assert script.end().findings == ()


def test_two_joint_losses_are_right() -> None:
    script = two_optimizers()
    for _ in range(4):
        script.clear(3, 1, 2).backward(5, 1, 2).backward(6, 1, 2).step(7, 1).step(8, 2, optimizer=2)
    assert script.end().findings == ()


# -- GL402 parameter-outside-optimizer ------------------------------------------------------------------


def with_head(**facts: object) -> Script:
    """A body that optimizer 1 holds and a head that nobody holds."""
    script = Script(opened=False).optimizer(2).open(1, optimizer=1, module=1, training=True)
    script.open(2, names=("head.weight", "head.bias"), **facts)
    for _ in range(4):
        script.clear(3, 1, 2, by="module", owner=None).backward(4, 1, 2).step(5, 1)
    return script


def test_a_head_that_no_optimizer_holds() -> None:
    finding = with_head(module=2, training=True).end().only("GL402", 2)
    assert finding.message == (
        "was not given `head.weight`, `head.bias`: gradients flow in, and nothing ever updates them"
    )
    assert finding.detail == "4 passes reached them, no step did"
    assert [related.site.line for related in finding.related] == [4]


def test_many_names_are_cut_short() -> None:
    script = with_head(module=2, training=True).open(3, module=2, training=True, size=40)
    for _ in range(2):
        script.clear(3, 1, 2, 3).backward(4, 1, 2, 3).step(5, 1)
    assert "`head.weight`, `head.bias` and 40 more" in script.end().only("GL402", 2).message


def test_without_the_constructor_the_backward_is_the_place() -> None:
    script = Script(opened=False).open(1, optimizer=1, module=1).open(2, module=1)
    for _ in range(4):
        script.clear(3, 1, 2).backward(4, 1, 2).step(5, 1)
    script.end().only("GL402", 4)


def test_the_companion_may_come_after_the_forgotten_one() -> None:
    script = Script(opened=False).optimizer(2).open(1, names=("head",), module=2, training=True)
    script.open(2, optimizer=1, module=1, training=True)
    for _ in range(4):
        script.clear(3, 1, 2, by="module", owner=None).backward(4, 1, 2).step(5, 2)
    script.end().only("GL402", 2)


def test_who_is_never_stepped_or_belongs_to_no_model_is_no_companion() -> None:
    for facts in ({"optimizer": 2, "module": 1}, {"optimizer": 1}):
        script = Script(opened=False).optimizer(2).optimizer(8, 2).open(1, training=True, **facts)
        script.open(2, module=2, training=True)
        for _ in range(4):
            script.clear(3, 1, 2, by="module", owner=None).backward(4, 1, 2)
            if facts["optimizer"] == 1:
                script.step(5, 1)
        assert "GL402" not in [code for code, _ in script.end(complete=False).certain]


def test_gradients_that_the_program_assigns_are_its_own() -> None:
    assert with_head(module=2, training=True).assign(6, 2).end().findings == ()


def test_it_is_not_said_before_the_end() -> None:
    assert with_head(module=2, training=True).findings == ()


def test_a_model_in_evaluation_mode_is_a_judge_and_not_forgotten() -> None:
    assert with_head(module=2, training=False).end().findings == ()


def test_inputs_and_hand_updated_parameters_are_right() -> None:
    assert with_head(trainable=False).end().findings == ()
    assert with_head(module=2, training=True).step(6, 2, optimizer=None).end().findings == ()


def test_a_worker_copy_has_no_companions() -> None:
    script = Script(opened=False).optimizer(2).open(1, optimizer=1, module=1).open(2, module=2, training=True)
    for _ in range(4):
        script.clear(3, 2, owner=None).backward(4, 2).assign(5, 1).step(6, 1)
    assert script.end().findings == ()


# -- GL403 optimizer-holds-other-parameters -------------------------------------------------------------


def replaced(*, orphaned: bool, before: int = 0, after: int = 4) -> Script:
    """The optimizer holds account 1, the model has account 2 by now."""
    script = Script(opened=False).optimizer(2).open(1, optimizer=1, module=1)
    for _ in range(before):
        script.clear(3, 1).backward(4, 1).step(5, 1)
    script.open(2, module=2, training=True)
    for _ in range(after):
        script.clear(3, 1).backward(4, 2).step(5, 1)
    if orphaned:
        script.post(ev.ParametersOrphaned(None, (1,), 1))
    return script.end()


def test_a_model_that_was_rebuilt() -> None:
    finding = replaced(orphaned=True).only("GL403", 2)
    assert finding.message == "was built from parameters that the model has since replaced"
    assert [related.site.line for related in finding.related] == [4]


def test_a_model_that_was_rebuilt_in_the_midst_of_the_run() -> None:
    replaced(orphaned=True, before=6).only("GL403", 2)


def test_two_steps_on_nothing_are_enough() -> None:
    replaced(orphaned=False, before=6, after=2).only("GL403", 2)


def test_a_model_whose_place_in_the_training_was_taken() -> None:
    """The old one still lives somewhere."""
    finding = replaced(orphaned=False, before=6).only("GL403", 2)
    assert (finding.count, finding.detail) == (4, "2 parameters in the optimizer belong to no model any more")


def test_a_model_of_which_a_part_was_replaced() -> None:
    script = Script(opened=False).optimizer(2).open(1, optimizer=1, module=1)
    script.open(2, optimizer=1, module=1).open(3, module=1, training=True)
    script.post(ev.ParametersOrphaned(None, (2,), 1))
    for _ in range(4):
        script.clear(3, 1, 2, 3).backward(4, 1, 3).step(5, 1, 2)
    script.end().only("GL403", 2)


def test_a_part_that_no_pass_connects_with_the_new_one_is_right() -> None:
    script = Script(opened=False).optimizer(2).open(1, optimizer=1, module=1).open(2, optimizer=1, module=1)
    script.open(3, module=3, training=True).post(ev.ParametersOrphaned(None, (2,), 1))
    for _ in range(4):
        script.clear(3, 1, 2).backward(4, 1).step(5, 1, 2).clear(8, 3, owner=None).backward(9, 3)
    assert script.end().findings == ()


def test_parameters_that_still_have_a_model_are_not_orphans() -> None:
    assert replaced(orphaned=False).certain == [("GL106", 5)]


def test_an_optimizer_of_an_earlier_run_may_hold_orphans() -> None:
    script = Script()
    for _ in range(4):
        script.clear(3).backward(4).step(5)
    script.post(ev.ParametersOrphaned(None, (1,), 1)).open(2, module=2)
    for _ in range(4):
        script.clear(8, 2, owner=None).backward(9, 2)
    assert script.end().findings == ()


# -- GL404 optimizer-never-stepped ----------------------------------------------------------------------


def never_stepped(turns: int = 4) -> Script:
    script = two_optimizers()
    for _ in range(turns):
        script.clear(3, 1).clear(4, 2, owner=2).backward(5, 1, 2).step(6, 1)
    return script


def test_an_optimizer_that_is_zeroed_and_never_stepped() -> None:
    finding = never_stepped().end().only("GL404", 2)
    assert finding.detail == "4 passes into its parameters, 3 cleared unused, no step"
    assert [related.site.line for related in finding.related] == [5]


def test_parameters_that_the_program_moves_itself_need_no_step() -> None:
    script = never_stepped().post(ev.ParametersMoved(None, (2,)))
    assert script.end().findings == ()


def test_three_passes_of_which_two_were_cleared_are_enough() -> None:
    never_stepped(3).end().only("GL404", 2)
    assert never_stepped(2).clear(4, 2, owner=2).end().findings == ()


def test_passes_that_are_hardly_ever_cleared_say_nothing() -> None:
    script = two_optimizers()
    for _ in range(4):
        script.clear(3, 1).backward(5, 1, 2).step(6, 1)
    assert script.end().findings == ()


@pytest.mark.parametrize(("passes", "line"), [((4, 4), 5), ((3, 6), 9)])
def test_the_line_that_fills_it_most_is_told(passes: tuple[int, int], line: int) -> None:
    script = two_optimizers().open(3)
    for place, count in zip((5, 9), passes, strict=True):
        for _ in range(count):
            script.clear(4, 2, owner=2).backward(place, 2)
    for _ in range(20):
        script.backward(99, 3)
    (finding,) = (f for f in script.end().findings if f.code == "GL404")
    assert [related.site.line for related in finding.related] == [line]


def test_parameters_that_were_filled_under_another_number() -> None:
    """They are split off from an account that the passes had reached."""
    script = two_optimizers().open(3, module=5)
    for _ in range(3):
        script.backward(4, 3)
    script.open(4, optimizer=3, parent=3).clear(5, 4, owner=3)
    assert script.end().findings == ()  # neither a constructor nor a backward() to point at
    (finding,) = script.optimizer(6, 3).findings
    assert (finding.code, finding.site.line, finding.related) == ("GL404", 6, ())


def test_a_run_that_was_cut_off_may_have_stepped_it_later() -> None:
    assert never_stepped().end(complete=False).findings == ()


def test_one_step_is_enough() -> None:
    assert never_stepped().step(9, 2, optimizer=2).end().findings == ()


def test_an_optimizer_whose_steps_were_skipped_is_right() -> None:
    assert never_stepped().skip(9, 2, optimizer=2).end().findings == ()


def test_an_update_by_hand_is_a_step() -> None:
    assert never_stepped().step(9, 2, optimizer=None).end().findings == ()
