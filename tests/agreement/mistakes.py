"""One loop for each mistake, written by hand, and the right ones."""

from __future__ import annotations

from dataclasses import replace

from tests.agreement.drawing import right_calls
from tests.agreement.loops import Guard, Link, Loop, Op, Place, Player, Precision, Tail

EVERY = Loop((Player(right_calls(clear=Place.START)),))
WINDOW = Loop(
    (Player(right_calls(clear=Place.UPDATE)),), guard=Guard.MODULO, size=2, batches=5, tail=Tail.GUARD
)
SCALER = Loop((Player(right_calls(clear=Place.START, clip=True, scaler=True)),), precision=Precision.SCALER)
PAIR = Loop((EVERY.players[0], EVERY.players[0]), link=Link.THROUGH)


def calling(loop: Loop, *calls: tuple[Place, Op], player: int = 0) -> Loop:
    """The loop with other calls."""
    players = list(loop.players)
    players[player] = replace(players[player], calls=calls)
    return replace(loop, players=tuple(players))


CLEAR, STEP = (Place.START, Op.CLEAR), (Place.UPDATE, Op.STEP)
AFTER = (Place.UPDATE, Op.CLEAR)
CLIP, RESCALE = (Place.UPDATE, Op.CLIP), (Place.UPDATE, Op.RESCALE)

MISTAKES = {
    "GL101": calling(EVERY, STEP),
    "GL102": calling(EVERY, (Place.BACKWARD, Op.CLEAR), STEP),
    "GL103": calling(WINDOW, CLEAR, STEP),
    "GL105": calling(EVERY, CLEAR, STEP, STEP),
    "GL106": calling(EVERY, CLEAR, (Place.RUN, Op.STEP)),
    "GL201": replace(WINDOW, divided=False),
    "GL202": replace(WINDOW, tail=Tail.LEFT),
    "GL204": replace(WINDOW, guard=Guard.EARLY, tail=Tail.LEFT),
    "GL205": calling(replace(WINDOW, batches=6), STEP, AFTER, (Place.END, Op.SCHEDULE)),
    "GL206": calling(EVERY, CLEAR, (Place.UPDATE, Op.SCHEDULE), STEP),
    "GL301": calling(SCALER, CLEAR, CLIP, STEP, RESCALE),
    "GL302": replace(SCALER, players=(Player((CLEAR, STEP), through_scaler=False),)),
    "GL303": calling(SCALER, CLEAR, STEP),
    "GL304": calling(EVERY, CLEAR, STEP, CLIP),
    "GL305": replace(SCALER, players=(Player((CLEAR, STEP, RESCALE), scaled=False),)),
    "GL307": calling(replace(WINDOW, batches=6), (Place.BACKWARD, Op.CLIP), STEP, AFTER),
    "GL401": calling(PAIR, STEP, AFTER, player=1),
    "GL404": calling(EVERY, CLEAR),
}
RIGHT = {"every batch": EVERY, "windows": WINDOW, "scaler": SCALER, "pair": PAIR}
