"""The right loop for the data and the settings of a set-up."""

from __future__ import annotations

from gradledger.ledger.record import replace
from gradledger.lessons.playground.setup import Lanes, Setup, lanes


def right(setup: Setup) -> Setup:
    """The same model, data, optimizer and extras, with every block where it belongs."""
    return replace(setup, lanes=_pair(setup) if setup.second else _single(setup), guard="whole")


def is_exact(setup: Setup) -> bool:
    """Whether dividing by the length of a window weighs every sample alike."""
    return setup.sizes == "even" and setup.batches % setup.every == 0


def _single(setup: Setup) -> Lanes:
    used = setup.used
    per_epoch = "schedule" in (*setup.lane("epoch_start"), *setup.lane("epoch_end"))
    share = ("divide" if is_exact(setup) else "weigh") if setup.every > 1 else ""
    clips = "clip" in used
    batch = f"forward loss {share} {'scale' if setup.amp else ''} backward"
    update = (
        f"{'unscale' if setup.amp and clips else ''} {'clip' if clips else ''} "
        f"{'scaled_step update' if setup.amp else 'step'} "
        f"{'schedule' if 'schedule' in used and not per_epoch else ''} zero"
    )
    return lanes(batch=batch, window_end=update, epoch_end="schedule" if per_epoch else "")


def _pair(setup: Setup) -> Lanes:
    """Each network's moves in a row, whichever of the two the reader has put first."""
    of_d = "zero_d loss_d backward_d step_d"
    of_g = "zero_g loss_g backward_g step_g"
    order = [name for lane in setup.lanes for name in lane if name in ("loss_d", "loss_g")]
    if order[:1] == ["loss_g"]:
        return lanes(batch=f"forward {of_g} {of_d}")
    return lanes(batch=f"forward {of_d} {of_g}")
