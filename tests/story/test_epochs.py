"""Epochs, stretches of steps, and what is observed of them."""

from __future__ import annotations

import pytest

from gradledger.ledger import details as d
from gradledger.ledger import events as ev
from gradledger.ledger.record import replace
from gradledger.story.epochs import STRETCHES, Epochs
from gradledger.story.observation import observed, summed_up
from gradledger.story.told import Epoch

ROW = Epoch("1", 1.0, None, None, 1.0, 10, 0, 10, 0.1, first_loss=1.2, last_loss=0.9)


def after(before: Epoch, **changes: object) -> str:
    return observed([before, replace(before, **changes)])[1].observation  # type: ignore[arg-type]


@pytest.mark.parametrize(("told", "expected"), [(True, [3, 3]), (False, [2, 3, 1])])
def test_an_epoch_lasts_until_the_next_ones_first_batch(expected: list[int], *, told: bool) -> None:
    """Some libraries fetch ahead: the loader runs out before the last passes over its batches."""
    epochs = Epochs()
    if told:
        epochs.hear(d.StepsWanted(None, (1,)))  # which recordings of the first schema do not have
    passed, ended = ev.BackwardRan(None, (1,), loader=1), ev.EpochEnded(None, 1)
    step = ev.OptimizerStepped(None, (1,), 1)
    for _ in range(2):
        for event in (d.BatchTaken(None, 1), passed, step, passed, step, ended, passed, step):
            epochs.hear(event)
    rows, by_steps = epochs.rows()
    assert [row.passes for row in rows] == [row.updates for row in rows] == expected
    assert not by_steps


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"loss": 0.8}, "falling by 20%"),
        ({"loss": 0.995}, "plateau: the loss changed by less than 1%"),
        ({"loss": 1.2}, "rising by 20%"),
        ({"loss": 2.5}, "diverging: 2.5 times the best loss so far"),
        ({"loss": float("nan")}, "the loss is no number any more"),
        ({"loss": None}, "no loss was seen"),
        ({"updates": 0}, "no update was made"),
        ({"loss": 0.8, "skipped": 2}, "falling by 20%; 2 updates skipped by the scaler"),
        (
            {"stale_updates": 10, "norm": 2.0, "loss": 0.8},
            "gradients grow: they were never cleared; falling by 20%",
        ),
        (
            {"stale_updates": 10, "loss": 0.8},
            "old gradients are applied again: they were never cleared; falling by 20%",
        ),
    ],
)
def test_an_observation_is_derived_from_the_numbers(changes: dict[str, object], text: str) -> None:
    assert after(ROW, **changes) == text


def test_of_losses_below_zero_no_shares_are_told() -> None:
    assert after(replace(ROW, loss=-0.5), loss=-2.5) == "falling from -0.5 to -2.5"
    assert after(replace(ROW, loss=0.5), loss=-0.5) == "falling from 0.5 to -0.5"
    assert after(replace(ROW, loss=-2.0), loss=-1.0) == "rising from -2 to -1"
    below = replace(ROW, first_loss=-1.0, last_loss=-2.0)
    assert observed([below])[0].observation == "falling from -1 to -2"


def test_the_first_row_is_observed_by_itself() -> None:
    assert observed([ROW])[0].observation == "falling from 1.2 to 0.9"
    assert observed([replace(ROW, passes=1)])[0].observation == "the first value"


def test_the_run_is_summed_up() -> None:
    rows = [replace(ROW, accuracy=0.5), replace(ROW, loss=0.25, accuracy=0.75, stale_updates=1)]
    assert summed_up(rows) == (
        "loss 1.000 to 0.250, accuracy 0.500 to 0.750; "
        "1 update applied gradients that an earlier one had applied"
    )
    assert summed_up(rows[:1]) == ""
    assert summed_up([ROW, replace(ROW, loss=2.73e-8)]) == "loss 1 to 2.73e-08"


def heard(epochs: Epochs, loss: float, *, samples: int = 1, loader: int | None = None) -> None:
    epochs.hear(d.LossSeen(None, loss, None, samples))
    epochs.hear(ev.BackwardRan(None, (1,), loader=loader))
    epochs.hear(ev.OptimizerStepped(None, (1,), 1), 0.1)


def test_losses_are_weighted_by_their_samples() -> None:
    epochs = Epochs()
    heard(epochs, 1.0, samples=3, loader=7)
    heard(epochs, 5.0, samples=1, loader=7)
    epochs.hear(ev.EpochEnded(None, 7))
    (row,), by_steps = epochs.rows()
    assert (row.loss, by_steps) == (2.0, False)


def test_only_a_loader_that_gave_training_batches_ends_an_epoch() -> None:
    epochs = Epochs()
    heard(epochs, 1.0, loader=7)
    epochs.hear(ev.EpochEnded(None, 8))
    heard(epochs, 1.0, loader=7)
    epochs.hear(ev.EpochEnded(None, 7))
    epochs.hear(ev.EpochEnded(None, 8))
    rows, _ = epochs.rows()
    assert [row.passes for row in rows] == [2]


@pytest.mark.parametrize("passes", [1, 9, 10, 25, 41, 1000, 1023])
def test_without_epochs_there_are_at_most_ten_stretches_that_hold_every_step(passes: int) -> None:
    epochs = Epochs()
    for number in range(passes):
        heard(epochs, float(number))
    rows, by_steps = epochs.rows()
    assert by_steps
    assert len(rows) <= STRETCHES
    assert sum(row.updates for row in rows) == sum(row.passes for row in rows) == passes
    assert sum((row.loss or 0) * row.passes for row in rows) == pytest.approx(sum(range(passes)))
    assert rows[-1].label.split("-")[-1] == str(passes)


def test_a_metric_belongs_to_the_epoch_before() -> None:
    epochs = Epochs()
    for value in (10.0, 20.0):
        heard(epochs, 1.0, loader=7)
        epochs.hear(ev.EpochEnded(None, 7))
        epochs.hear(d.MetricSeen(None, "score", value))
    assert [row.metric for row in epochs.rows()[0]] == [10.0, 20.0]
