"""Loops on which the three sides once told different things, as small as they can be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.agreement.agreeing import run_agrees, text_is_confirmed
from tests.agreement.loops import Clearing, Guard, Loop, Op, Place, Player, Precision, Source, Tail
from tests.agreement.test_noticing import sides

CLEAR, STEP, RESCALE = (Place.UPDATE, Op.CLEAR), (Place.UPDATE, Op.STEP), (Place.UPDATE, Op.RESCALE)
UNSCALE, CLIP = (Place.UPDATE, Op.UNSCALE), (Place.UPDATE, Op.CLIP)

LOOPS = {
    "a clear after the chunks empties a refused step": Loop(
        (Player((CLEAR, STEP, RESCALE)),), guard=Guard.INNER, size=2, precision=Precision.SCALER
    ),
    "clears of the right gradients before the first pass are not mistyped": Loop(
        (Player(((Place.RUN, Op.CLEAR), (Place.RUN, Op.CLEAR), STEP), Clearing.HELPER),)
    ),
    "a scaler that is off unscales nothing": Loop(
        (Player((UNSCALE, CLIP, STEP, RESCALE, CLEAR)),),
        guard=Guard.MODULO,
        size=2,
        divided=False,
        tail=Tail.GUARD,
        precision=Precision.DISABLED,
    ),
    "a scaler that is off is never updated": Loop((Player((STEP, CLEAR)),), precision=Precision.DISABLED),
}


@pytest.mark.parametrize("name", LOOPS)
def test_all_three_tell_the_same(name: str, tmp_path: Path) -> None:
    loop = LOOPS[name]
    verdict, run, read = sides(loop, tmp_path)
    assert verdict.codes
    assert not verdict.open
    run_agrees(loop, verdict, run)
    text_is_confirmed(loop, verdict, run, read)
    assert read.codes == verdict.codes


def test_clips_that_leave_next_to_nothing_of_stale_gradients_leave_open_whether_they_are_there(
    tmp_path: Path,
) -> None:
    calls = (Place.EPOCH, Op.CLEAR), (Place.BACKWARD, Op.CLIP), STEP, RESCALE
    loop = Loop((Player(calls),), guard=Guard.COUNTER, size=3, batches=7, precision=Precision.SCALER)
    verdict, run, read = sides(loop, tmp_path)
    assert "GL101" in verdict.open
    assert "GL101" in run.codes
    run_agrees(loop, verdict, run)
    text_is_confirmed(loop, verdict, run, read)


def test_rest_of_an_epoch_without_a_loader_leaves_open_how_often_a_clear_throws_away(tmp_path: Path) -> None:
    calls = (Place.FORWARD, Op.CLEAR), STEP
    early = Loop((Player(calls),), guard=Guard.EARLY, size=3, batches=5)
    for source, doubtful in ((Source.LIST, {"GL103"}), (Source.LOADER, set())):
        loop = replace(early, source=source)
        verdict, run, read = sides(loop, tmp_path)
        assert verdict.open == doubtful
        run_agrees(loop, verdict, run)
        text_is_confirmed(loop, verdict, run, read)
