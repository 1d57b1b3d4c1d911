"""Programs that clear, step, accumulate or schedule wrongly, one mistake each."""

from __future__ import annotations

from gradledger.ledger import events as ev
from tests.ledger_script import Script
from tests.rules.told import program

# -- clearing -------------------------------------------------------------------------------------------


@program
def never_cleared() -> Script:
    script = Script()
    for _ in range(4):
        script.backward(3).step(4)
    return script


@program
def never_cleared_and_measured() -> Script:
    script = never_cleared().backward(3)
    return script.post(ev.NormMeasured(None, (1,), 14.21, 0.613)).step(4)


@program
def never_cleared_between_two_steps() -> Script:
    script = Script()
    for _ in range(4):
        script.backward(3).step(4).backward(3).step(5)
    return script


@program
def never_cleared_after_a_library_stepped() -> Script:
    script = Script()
    for _ in range(4):
        script.backward(3).step(None)
    return script


@program
def zero_grad_not_called() -> Script:
    script = Script()
    script.post(ev.ClearNotCalled(script.at(2), "opt.zero_grad"))
    for _ in range(4):
        script.backward(3).step(4)
    return script


@program
def the_wrong_model_is_cleared() -> Script:
    script = Script()
    for _ in range(4):
        script.clear_nothing(2).backward(3).step(4)
    return script


@program
def cleared_before_the_step() -> Script:
    script = Script()
    for _ in range(4):
        script.backward(3).clear(4).step(5)
    return script


@program
def the_first_of_two_losses_is_thrown_away() -> Script:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).clear(4, unread=True).backward(5).step(6)
    return script


@program
def a_refused_step_after_a_clear() -> Script:
    return Script().scaler(1).backward(3, scaled_by=1).clear(4).refuse(5, "no-gradients")


@program
def cleared_inside_the_window() -> Script:
    script = Script()
    for _ in range(3):
        for _ in range(4):
            script.clear(2).batch(3)
        script.step(5, windowed=True)
    return script


@program
def a_gradient_that_is_none() -> Script:
    script = Script()
    return script.post(ev.GradientMissing(script.at(3), "p.grad"))


# -- stepping -------------------------------------------------------------------------------------------


@program
def stepped_twice() -> Script:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).step(4).step(5)
    return script


@program
def stepped_by_two_optimizers() -> Script:
    script = Script().optimizer(2, 2)
    for _ in range(4):
        script.clear(2).backward(3).step(4).step(5, optimizer=2)
    return script


@program
def stepped_on_nothing() -> Script:
    script = Script()
    for _ in range(4):
        script.clear(2).step(4)
    return script


@program
def a_refused_step_on_nothing() -> Script:
    return Script().scaler(1).refuse(5, "no-gradients")


@program
def a_refused_step_after_the_end_of_an_epoch_was_cleared() -> Script:
    script = Script().scaler(1).batch(3, scaled_by=1).epoch_ends()
    return script.clear(4).refuse(5, "no-gradients")


@program
def stepped_on_nan() -> Script:
    script = Script()
    for number in range(6):
        script.clear(2).backward(3).step(4, nonfinite=number >= 3)
    return script


@program
def graphs_kept() -> Script:
    script = Script()
    return script.post(ev.GraphKept(script.at(5), "total", 3))


@program
def the_same_graph_twice() -> Script:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3, kept_graph=True).backward(5, repeats=script.at(3)).step(6)
    return script


# -- windows --------------------------------------------------------------------------------------------


def measured(factor: float, size: int = 4, windows: int = 3) -> Script:
    script = Script()
    for _ in range(windows):
        for _ in range(size):
            script.backward(3, loop=1).loss(factor)
        script.step(5, windowed=True).clear(6)
    return script


@program
def a_window_of_undivided_means() -> Script:
    return measured(1.0)


@program
def divided_twice() -> Script:
    return measured(1 / 16)


@program
def perhaps_divided_twice() -> Script:
    return measured(1 / 4, size=2)


@program
def losses_and_gradients_divided() -> Script:
    script = Script()
    for _ in range(3):
        for _ in range(4):
            script.backward(3, loop=1).loss(1 / 4)
        script.change(4, divided_by=4).step(5, windowed=True).clear(6)
    return script


@program
def a_mean_of_divided_losses() -> Script:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3, averaged_twice=True).step(5)
    return script


def epochs(count: int, batches: int, *, clear_first: bool = False) -> Script:
    script = Script()
    for _ in range(count):
        if clear_first:
            script.clear(2)
        for number in range(1, batches + 1):
            script.batch(3)
            if number % 4 == 0:
                script.step(5, windowed=True).clear(6)
        script.epoch_ends()
    return script


@program
def a_tail_that_leaks() -> Script:
    return epochs(3, 10)


@program
def a_tail_that_is_cleared() -> Script:
    return epochs(3, 10, clear_first=True)


@program
def a_tail_that_is_left() -> Script:
    return epochs(1, 9)


def uneven(*windows: tuple[int, ...]) -> Script:
    script = Script()
    for counts in windows:
        for count in counts:
            script.backward(3, loop=1).loss(1 / len(counts), count)
        script.step(5, windowed=True).clear(6)
    return script


@program
def unequal_weights() -> Script:
    return uneven((10, 40, 20), (50, 10, 30), (20, 20, 60))


@program
def slightly_unequal_weights() -> Script:
    return uneven((100, 120), (120, 100), (100, 125))


@program
def a_short_first_window() -> Script:
    script = Script()
    for number in range(10):
        script.batch(3)
        if number % 3 == 0:
            script.step(5, windowed=True).clear(6)
    return script


# -- schedules ------------------------------------------------------------------------------------------


def per_batch(kind: str = "StepLR", horizon: int | None = None) -> Script:
    script = Script().scheduler(2, kind, horizon=horizon)
    for _ in range(6):
        script.batch(4).advance(8).batch(4).step(6, windowed=True).clear(7).advance(8)
    return script


@program
def a_planned_schedule_per_micro_batch() -> Script:
    return per_batch(horizon=6)


@program
def a_schedule_per_micro_batch() -> Script:
    return per_batch()


@program
def an_unknown_schedule_per_micro_batch() -> Script:
    return per_batch("LambdaLR")


@program
def a_schedule_before_the_step() -> Script:
    script = Script().scheduler(2)
    for _ in range(5):
        script.clear(3).backward(4).advance(5).step(6)
    return script
