"""The numbers alone name each mistake: one loop for each, written by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.agreement.drawing import right_calls
from tests.agreement.loops import Guard, Link, Loop, Op, Place, Player, Precision, Tail
from tests.agreement.sides import arithmetic
from tests.agreement.text import written

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


def codes(loop: Loop, folder: Path) -> set[str]:
    """What the numbers say."""
    verdict = arithmetic(loop, written(loop), folder / "loop.py")
    assert verdict is not None
    assert not verdict.open
    return set(verdict.codes)


@pytest.mark.parametrize("code", MISTAKES)
def test_mistake_is_named(code: str, tmp_path: Path) -> None:
    assert codes(MISTAKES[code], tmp_path) == {code}


@pytest.mark.parametrize("name", RIGHT)
def test_right_loop_is_right(name: str, tmp_path: Path) -> None:
    assert codes(RIGHT[name], tmp_path) == set()


def test_a_clip_between_two_steps_has_its_effect_on_the_second(tmp_path: Path) -> None:
    assert codes(calling(EVERY, CLEAR, STEP, CLIP, STEP), tmp_path) == {"GL105"}
