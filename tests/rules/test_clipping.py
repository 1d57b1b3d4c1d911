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
