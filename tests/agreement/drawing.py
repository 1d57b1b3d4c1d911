"""Random loops: a right one, and up to two calls taken away, moved or added."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st

from tests.agreement.loops import (
    Clearing,
    Guard,
    Held,
    Link,
    Loop,
    Op,
    Place,
    Player,
    Precision,
    Shape,
    Source,
    Tail,
)

Calls = tuple[tuple[Place, Op], ...]

WINDOWS = (
    Guard.MODULO,
    Guard.FLAG,
    Guard.CONTINUE,
    Guard.COUNTER,
    Guard.RUNNING,
    Guard.INNER,
    Guard.EARLY,
)
MOVED = (Op.CLEAR, Op.CLIP, Op.STEP, Op.SCHEDULE)
"""Calls that may stand anywhere; torch refuses to unscale twice."""


MOSTLY = st.sampled_from((True, True, True, False))


def right_calls(
    *,
    clear: Place,
    clip: bool = False,
    schedule: Place | None = None,
    scaler: bool = False,
    unscale: bool = True,
) -> Calls:
    """The calls of a right loop in their order."""
    update = [Op.UNSCALE] if clip and scaler and unscale else []
    update += [Op.CLIP] if clip else []
    update += [Op.STEP]
    update += [Op.RESCALE] if scaler else []
    update += [Op.CLEAR] if clear is Place.UPDATE else []
    update += [Op.SCHEDULE] if schedule is Place.UPDATE else []
    calls = [(Place.UPDATE, op) for op in update]
    if clear is not Place.UPDATE:
        calls.insert(0, (clear, Op.CLEAR))
    if schedule is Place.EPOCH_END:
        calls.append((Place.EPOCH_END, Op.SCHEDULE))
    return tuple(calls)


@st.composite
def changed(draw: st.DrawFn, calls: Calls) -> Calls:
    """The calls with up to two of them taken away, moved or added."""
    for _ in range(draw(st.sampled_from((0, 0, 1, 1, 1, 2)))):
        kind = draw(st.sampled_from(("move", "drop", "add")))
        there = [index for index, (_, op) in enumerate(calls) if kind == "drop" or op in MOVED]
        if kind != "add" and there:
            index = draw(st.sampled_from(there))
            op = calls[index][1]
            calls = calls[:index] + calls[index + 1 :]
        else:
            op = draw(st.sampled_from(MOVED))
        if kind != "drop":
            call = (draw(st.sampled_from(Place)), op)
            calls = (*calls, call) if draw(st.booleans()) else (call, *calls)
    return calls


@st.composite
def players(
    draw: st.DrawFn, *, guard: Guard, precision: Precision = Precision.PLAIN, clears: tuple[Place, ...] = ()
) -> Player:
    """One model with its optimizer."""
    places = (Place.START, Place.UPDATE) if guard in (Guard.EVERY, Guard.INNER) else (Place.UPDATE,)
    mixed = precision is not Precision.PLAIN
    through_scaler = not mixed or draw(MOSTLY)
    calls = right_calls(
        clear=draw(st.sampled_from(clears or places)),
        clip=draw(st.sampled_from((False, False, True))),
        schedule=draw(st.sampled_from((None, None, Place.UPDATE, Place.EPOCH_END))),
        scaler=mixed and through_scaler,
        unscale=mixed and draw(MOSTLY),
    )
    return Player(
        draw(changed(calls)),
        draw(st.sampled_from(Clearing)),
        scaled=not mixed or draw(MOSTLY),
        through_scaler=through_scaler,
    )


@st.composite
def dressed(draw: st.DrawFn, loop: Loop) -> Loop:
    """The loop in some shape of program, with flags that change nothing."""
    branches = st.none() | st.sampled_from((Op.CLEAR, Op.CLIP, Op.STEP))
    return replace(
        loop,
        batches=draw(st.integers(5, 7)),
        shape=draw(st.sampled_from(Shape)),
        held=draw(st.sampled_from(Held)),
        source=draw(st.sampled_from((Source.LOADER, Source.LOADER, Source.LIST))),
        flagged=draw(branches),
        dead=draw(branches),
    )


@st.composite
def cycles(draw: st.DrawFn) -> Loop:
    """One model, one step per batch."""
    return draw(dressed(Loop((draw(players(guard=Guard.EVERY)),))))


@st.composite
def windows(draw: st.DrawFn, *, precision: Precision = Precision.PLAIN) -> Loop:
    """One model, several micro-batches per step."""
    guard = draw(st.sampled_from(WINDOWS))
    player = draw(players(guard=guard, precision=precision))
    return draw(dressed(_windowed(draw, Loop((player,), precision=precision), guard)))


@st.composite
def mixed_precision(draw: st.DrawFn) -> Loop:
    """One model with a gradient scaler, with and without windows."""
    precision = draw(st.sampled_from([p for p in Precision if p is not Precision.PLAIN]))
    if draw(st.booleans()):
        return draw(windows(precision=precision))
    return draw(dressed(Loop((draw(players(guard=Guard.EVERY, precision=precision)),), precision=precision)))


@st.composite
def pairs(draw: st.DrawFn) -> Loop:
    """Two models with an optimizer each."""
    link = draw(st.sampled_from(Link))
    precision = draw(st.sampled_from((Precision.PLAIN, Precision.PLAIN, Precision.SCALER)))
    guard = Guard.EVERY if link is Link.THROUGH else draw(st.sampled_from((Guard.EVERY, *WINDOWS)))
    if guard is Guard.CONTINUE and link is Link.SEPARATE:
        guard = Guard.MODULO
    first = draw(players(guard=guard, precision=precision))
    clears = (Place.START, Place.START, Place.UPDATE) if link is Link.THROUGH else ()
    second = draw(players(guard=guard, precision=precision, clears=clears))
    loop = Loop((first, second), link=link, precision=precision)
    return draw(dressed(_windowed(draw, loop, guard)))


def _windowed(draw: st.DrawFn, loop: Loop, guard: Guard) -> Loop:
    if guard is Guard.EVERY:
        return loop
    flushed = guard in (Guard.MODULO, Guard.FLAG, Guard.CONTINUE, Guard.COUNTER)
    return replace(
        loop,
        guard=guard,
        size=draw(st.integers(2, 3)),
        divided=draw(st.sampled_from((True, True, False))),
        tail=draw(st.sampled_from(Tail if flushed else (Tail.LEFT,))),
    )


FAMILIES = {"cycles": cycles(), "windows": windows(), "precision": mixed_precision(), "pairs": pairs()}
