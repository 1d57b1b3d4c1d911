"""Set-ups to begin with: the right loop and the classic mistakes."""

from __future__ import annotations

from gradledger.ledger.record import dataclass
from gradledger.lessons.playground.setup import Setup, lanes


@dataclass(frozen=True, slots=True)
class Preset:
    """A set-up with a name, and the rules that speak when it runs."""

    name: str
    title: str
    about: str
    setup: Setup
    codes: tuple[str, ...] = ()


_BATCH = "forward loss divide backward"

PRESETS = (
    Preset(
        *("right", "The right loop"),
        "Four micro-batches, one update: the same as one large batch.",
        Setup(lanes(batch=_BATCH, window_end="step zero")),
    ),
    Preset(
        *("missing-zero", "No zero_grad"),
        "Nothing clears the gradients: every step applies the old ones again.",
        Setup(lanes(batch="forward loss backward step"), every=1),
        ("GL101",),
    ),
    Preset(
        *("zero-between", "zero_grad between"),
        "Cleared after backward and before the step: nothing is left to apply.",
        Setup(lanes(batch="forward loss backward zero step"), every=1),
        ("GL102",),
    ),
    Preset(
        *("zero-inside", "zero_grad inside the window"),
        "Cleared at every micro-batch, stepped at every fourth: three of four are lost.",
        Setup(lanes(batch="zero " + _BATCH, window_end="step")),
        ("GL103",),
    ),
    Preset(
        *("undivided", "Not divided"),
        "Four mean losses are summed: the gradient is four times too long.",
        Setup(lanes(batch="forward loss backward", window_end="step zero")),
        ("GL201",),
    ),
    Preset(
        *("lost-tail", "A tail left over"),
        "Ten micro-batches, windows of four: the last two leak into the next epoch.",
        Setup(lanes(batch=_BATCH, window_end="step zero"), batches=10, guard="plain"),
        ("GL202",),
    ),
    Preset(
        *("uneven", "Uneven batches"),
        "Micro-batches of 2 to 8 samples are averaged as equals.",
        Setup(lanes(batch=_BATCH, window_end="step zero"), sizes="uneven"),
        ("GL203",),
    ),
    Preset(
        *("eager-schedule", "Scheduler too often"),
        "The rate falls at every micro-batch, the optimizer steps at every fourth.",
        Setup(lanes(batch=_BATCH + " schedule", window_end="step zero")),
        ("GL205",),
    ),
    Preset(
        *("clip-first", "Clip before unscale"),
        "The gradients are clipped while they are still multiplied by the scale.",
        Setup(
            lanes(batch="forward loss divide scale backward", window_end="clip scaled_step update zero"),
            amp=True,
        ),
        ("GL301",),
    ),
    Preset(
        *("leak", "GAN leak"),
        "The generator's backward fills the discriminator, and nothing clears that.",
        Setup(
            lanes(batch="forward loss_g zero_g backward_g step_g loss_d backward_d step_d zero_d"),
            every=1,
            second=True,
        ),
        ("GL401",),
    ),
)
"""In the order in which they are shown."""
