"""Programs that are wrong about scalers, clipping, optimizers or replicas, one mistake each."""

from __future__ import annotations

from gradledger.ledger import events as ev
from tests.ledger_script import Script
from tests.rules.told import program


def two_optimizers() -> Script:
    return Script().optimizer(2, 2).open(2, optimizer=2)


# -- scalers and clipping -------------------------------------------------------------------------------


@program
def clipped_while_scaled() -> Script:
    script = Script().scaler(2)
    for _ in range(3):
        script.clear(3).backward(4, scaled_by=1).clip(5).scaler_step(6).update(7)
    return script


@program
def stepped_past_the_scaler() -> Script:
    script = Script().scaler(2)
    for _ in range(3):
        script.clear(3).backward(4, scaled_by=1).step(5)
    return script


@program
def a_second_step_that_torch_refuses() -> Script:
    script = Script().scaler(2).clear(3).backward(4, scaled_by=1).scaler_step(5)
    return script.clear(3).backward(4, scaled_by=1).refuse(5, "already-stepped")


@program
def scalers_that_are_never_updated() -> Script:
    script = Script()
    for number in range(3):
        script.scaler(2, number).clear(3).backward(4, scaled_by=number).scaler_step(5, number)
    return script


@program
def clipped_after_the_step() -> Script:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).step(4).clip(5)
    return script


@program
def clipped_before_the_backward() -> Script:
    script = Script()
    for _ in range(4):
        script.clear(2).clip(3).backward(4).step(5)
    return script


@program
def an_unscaled_loss_among_scaled_ones() -> Script:
    script = Script().scaler(2)
    for _ in range(3):
        script.clear(3).backward(4, scaled_by=1).backward(5).scaler_step(6).update(7)
    return script


@program
def a_scaler_that_scaled_nothing() -> Script:
    return Script().scaler(2).backward(4).refuse(5, "never-scaled")


@program
def clipped_inside_the_window() -> Script:
    script = Script()
    for _ in range(3):
        for _ in range(4):
            script.batch(3).clip(4)
        script.step(6, windowed=True).clear(7)
    return script


@program
def a_scaler_in_every_turn() -> Script:
    script = Script()
    for number in range(5):
        script.scaler(2, number, inside_loop=number > 0)
        script.clear(3).backward(4, scaled_by=number).scaler_step(5, number).update(6, number)
    return script


@program
def other_parameters_clipped() -> Script:
    script = Script()
    for _ in range(4):
        script.clear(2).backward(3).clip(4, ()).step(5)
    return script


# -- several optimizers ---------------------------------------------------------------------------------


def critic(*, kept_graph: bool = False) -> Script:
    script = two_optimizers()
    for _ in range(4):
        script.clear(3, 1).backward(4, 1, 2, kept_graph=kept_graph).step(5, 1)
        script.backward(6, 2).step(7, 2, optimizer=2).clear(8, 2, owner=2)
    return script


@program
def what_another_optimizers_loss_left() -> Script:
    return critic()


@program
def what_another_loss_of_the_same_forward_left() -> Script:
    return critic(kept_graph=True)


@program
def what_another_optimizer_applied() -> Script:
    script = Script().optimizer(2, 2)
    for _ in range(4):
        script.backward(4).step(5).backward(6).step(7, optimizer=2).clear(8)
    return script


def forgotten(*names: str, size: int = 2, built: bool = True) -> Script:
    script = Script(opened=False)
    if built:
        script.optimizer(2)
    script.open(1, optimizer=1, module=1, training=True)
    script.open(2, names=names, size=size, module=2, training=True)
    for _ in range(4):
        script.clear(3, 1, 2, by="module", owner=None).backward(4, 1, 2).step(5, 1)
    return script


@program
def a_forgotten_head() -> Script:
    return forgotten("head.weight", "head.bias")


@program
def a_forgotten_head_with_many_parts() -> Script:
    return forgotten("a", "b", "c", "d", "e", size=5)


@program
def a_forgotten_head_without_names() -> Script:
    return forgotten(size=7)


@program
def a_forgotten_head_of_an_optimizer_nobody_saw() -> Script:
    return forgotten("head", size=1, built=False)


def rebuilt(*, built: bool = True) -> Script:
    script = Script(opened=False)
    if built:
        script.optimizer(2)
    script.open(1, optimizer=1, module=1).open(2, module=2, training=True)
    for _ in range(4):
        script.clear(3, 1).backward(4, 2).step(5, 1)
    return script.post(ev.ParametersOrphaned(None, (1,), 1))


@program
def a_model_that_was_rebuilt() -> Script:
    return rebuilt()


@program
def a_model_that_was_rebuilt_before_anybody_looked() -> Script:
    return rebuilt(built=False)


@program
def a_part_of_a_model_that_was_rebuilt() -> Script:
    script = Script(opened=False).optimizer(2).open(1, optimizer=1, module=1)
    script.open(2, optimizer=1, module=1).open(3, module=1, training=True)
    script.post(ev.ParametersOrphaned(None, (2,), 1))
    for _ in range(4):
        script.clear(3, 1, 2, 3).backward(4, 1, 3).step(5, 1, 2)
    return script


def never_stepped(*, built: bool = True) -> Script:
    script = two_optimizers() if built else Script().open(2, optimizer=2)
    for _ in range(4):
        script.clear(3, 1).clear(4, 2, owner=2).backward(5, 1, 2).step(6, 1)
    return script


@program
def an_optimizer_that_is_never_stepped() -> Script:
    return never_stepped()


@program
def an_optimizer_that_is_never_stepped_and_nobody_saw() -> Script:
    return never_stepped(built=False)


# -- replicas -------------------------------------------------------------------------------------------


def reduced(*whether: bool) -> Script:
    script = Script()
    for _ in range(3):
        for each in whether:
            script.batch(3, reduced=each)
        script.step(5, windowed=True).clear(6)
    return script


@program
def reduced_at_every_micro_batch() -> Script:
    return reduced(True, True, True)


@program
def never_reduced() -> Script:
    return reduced(False, False)
