"""What PyTorch or Python says when a loop cannot run, in words for the reader."""

from __future__ import annotations

import re

_WORDS = (
    (
        r"name 'prediction' is not defined",
        "The loss asks for a prediction, but no forward pass has run yet. Put forward above loss.",
    ),
    (
        r"name 'fake' is not defined",
        "This loss asks for the generator's fake, but no forward pass has run yet. Put forward above it.",
    ),
    (
        r"name 'loss(_[dg])?' is not defined",
        "This line uses the loss, but nothing has computed one yet. Put loss above it.",
    ),
    (
        r"name '([xyzi]|ones|zeros)' is not defined",
        "This stands outside the loop over micro-batches: before the first one there is no data to use.",
    ),
    (
        r"backward through the graph a second time",
        (
            "backward() frees the graph it walked through. A second backward() of the same loss finds "
            "nothing to walk; each one needs its own forward and loss."
        ),
    ),
    (
        r"modified by an inplace operation",
        (
            "A step has changed the weights between the forward pass and this backward(), which still needs "
            "the old ones. Compute the loss after that step, or call backward() before it."
        ),
    ),
    (
        r"unscale_\(\) has already been called",
        (
            "unscale_() divides by the scale, so it may run once between two updates of the scaler. Move it "
            "to where the window closes, and call scaler.update() after the step."
        ),
    ),
    (
        r"unscale_\(\) is being called after step\(\)",
        "The step was already made. unscale_() belongs before scaler.step().",
    ),
    (
        r"step\(\) has already been called since the last update",
        "The scaler steps once, then wants to adapt its scale. Put scaler.update after scaler.step.",
    ),
    (
        r"No inf checks were recorded",
        (
            "The scaler has seen no scaled gradients of this optimizer. Scale the loss before backward(), "
            "and clear only after the step."
        ),
    ),
    (
        r"No inf checks were recorded prior to update",
        "scaler.update() has nothing to go by: no gradient was unscaled since the last time.",
    ),
    (
        r"Attempting to unscale FP16 gradients",
        "The gradients themselves are fp16. Keep the weights in fp32 and let autocast do the rest.",
    ),
    (
        r"_scale is None",
        "The scaler gets its scale when it scales its first loss. Put scale before backward.",
    ),
)


def words_for(error: BaseException) -> str:
    """Why this error was raised and what to move, or a general word."""
    text = str(error)
    for pattern, words in reversed(_WORDS):
        if re.search(pattern, text):
            return words
    return "PyTorch cannot run this order. The line that is marked is where it stopped."
