"""GL501 and GL502: reducing gradients across processes too often, or never."""

from __future__ import annotations

from tests.ledger_script import Script


def window(*reduced: bool | None, hand: bool = False) -> Script:
    script = Script()
    for _ in range(3):
        for whether in reduced:
            script.batch(3, reduced=whether)
        if hand:
            script.reduce(4)
        script.step(5, windowed=True).clear(6)
    return script.end()


# -- GL501 sync-every-microbatch ------------------------------------------------------------------------


def test_a_reduction_at_every_micro_batch() -> None:
    finding = window(True, True, True, True).only("GL501", 3)
    assert finding.message == "reduces gradients across processes 4 times for one step, once is enough"
    assert finding.severity.value == "performance"
    assert not finding.fails


def test_a_reduction_at_the_last_micro_batch_is_right() -> None:
    assert window(False, False, False, True).findings == ()


def test_without_replicas_there_is_nothing_to_reduce() -> None:
    assert window(None, None, None).findings == ()


def test_losses_of_different_lines_are_no_window() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3, reduced=True).backward(4, reduced=True).step(5)
    assert script.end().findings == ()


def test_reductions_of_one_line_with_another_pass_between() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3, reduced=True).backward(9).backward(3, reduced=True).step(5)
    script.end().only("GL501", 3)


def test_the_line_that_reduces_most_is_told() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3, reduced=True).backward(3, reduced=True).backward(9, reduced=True).step(5)
    assert "3 times for one step" in script.end().only("GL501", 3).message


# -- GL502 unsynced-step --------------------------------------------------------------------------------


def test_a_step_on_local_gradients() -> None:
    finding = window(False, False).only("GL502", 5)
    assert finding.message == "applies what the backward() at line 3 left unreduced: replicas drift apart"
    assert [related.site.line for related in finding.related] == [3]


def test_reducing_by_hand_is_right() -> None:
    assert window(False, False, False, hand=True).findings == ()
    assert window(None, None, None, hand=True).findings == ()


def test_gradients_altered_by_hand_may_have_been_reduced() -> None:
    script = Script()
    for _ in range(3):
        script.batch(3, reduced=False).change(4).step(5).clear(6)
    assert script.end().findings == ()


def test_parameters_without_gradients_hide_no_others() -> None:
    script = Script().open(2, optimizer=1)
    for _ in range(3):
        script.clear(2, 1, 2).backward(3, 2, reduced=False).step(5, 1, 2)
    script.end().only("GL502", 5)


def test_reducing_all_but_the_last_is_the_worse_mistake_alone() -> None:
    assert window(True, True, True, False).certain == [("GL502", 5)]
