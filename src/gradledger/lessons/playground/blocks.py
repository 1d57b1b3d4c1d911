"""The blocks a training loop is put together from, and the places where a block can stand."""

from __future__ import annotations

from gradledger.ledger.record import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """One move of a training loop."""

    name: str
    letter: str
    """Stands for the block in a link."""
    label: str
    about: str
    """What it does, in one sentence."""
    tone: str
    """The family it is drawn in: clear, compute, post, shape, spend, scale."""
    world: str = "both"
    """Which set-ups know it: "single" (one optimizer), "amp" (one optimizer and a scaler), "pair" (two)."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A place of the loop where blocks stand."""

    name: str
    title: str
    about: str
    window: bool = False
    """Only a loop with windows has it."""


BLOCKS = (
    Block("zero", "z", "zero_grad", "Clears the gradients: the books are closed.", "clear", "single"),
    Block("forward", "f", "forward", "Runs the model on the micro-batch.", "compute"),
    Block("loss", "l", "loss", "Measures how far the prediction is off: one number.", "compute", "single"),
    Block("divide", "d", "divide by N", "Divides the loss by the length of a window.", "shape", "single"),
    Block(
        *("weigh", "w", "weigh by samples"),
        "Gives the loss its share of the window's samples: right also for uneven batches and short tails.",
        *("shape", "single"),
    ),
    Block(
        "scale", "a", "scale", "Multiplies the loss, so that small fp16 gradients survive.", "scale", "amp"
    ),
    Block("backward", "b", "backward", "Adds the gradients of this loss to .grad.", "post", "single"),
    Block("unscale", "u", "unscale", "Takes the scale out of the gradients again.", "scale", "amp"),
    Block("clip", "c", "clip", "Shortens the gradients to norm 1 where they are longer.", "shape", "single"),
    Block("step", "s", "step", "Spends the gradients: moves the weights.", "spend", "single"),
    Block(
        *("scaled_step", "k", "scaler step"),
        "Unscales if nobody has, and steps unless a gradient is infinite.",
        *("spend", "amp"),
    ),
    Block("update", "p", "scaler update", "Adapts the scale for the next update.", "scale", "amp"),
    Block("schedule", "h", "scheduler", "Moves the learning rate along its plan.", "spend", "single"),
    Block("zero_d", "Z", "zero D", "Clears the discriminator's gradients.", "clear", "pair"),
    Block("loss_d", "L", "loss D", "How well D tells real from fake; fake is detached.", "compute", "pair"),
    Block("backward_d", "B", "backward D", "Adds D's gradients; the generator gets none.", "post", "pair"),
    Block("step_d", "S", "step D", "Moves the discriminator's weights.", "spend", "pair"),
    Block("zero_g", "Y", "zero G", "Clears the generator's gradients.", "clear", "pair"),
    Block("loss_g", "K", "loss G", "How well the fake passes D.", "compute", "pair"),
    Block(
        *("backward_g", "A", "backward G"),
        "Adds G's gradients, and on the way also fills the discriminator's.",
        *("post", "pair"),
    ),
    Block("step_g", "T", "step G", "Moves the generator's weights.", "spend", "pair"),
)
"""Every block there is."""

LANES = (
    Lane("epoch_start", "Before the epoch", "once per epoch"),
    Lane("window_start", "Window opens", "once per window", window=True),
    Lane("batch", "Every micro-batch", "for each micro-batch"),
    Lane("window_end", "Window closes", "once per window", window=True),
    Lane("epoch_end", "After the epoch", "once per epoch"),
)
"""The places, in the order in which a program has them."""

BY_NAME = {block.name: block for block in BLOCKS}
BY_LETTER = {block.letter: block for block in BLOCKS}
LANE_NAMES = tuple(lane.name for lane in LANES)


def known(world: str) -> tuple[Block, ...]:
    """The blocks that a set-up of this world may use."""
    wider = {"single": ("both", "single"), "amp": ("both", "single", "amp"), "pair": ("both", "pair")}[world]
    return tuple(block for block in BLOCKS if block.world in wider)
