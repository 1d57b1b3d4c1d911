"""What the auditor cannot tell in these loops, though the numbers can."""

from __future__ import annotations

from tests.agreement.loops import BY_HAND, Guard, Link, Loop, Op, Place, Source


def untold(loop: Loop) -> frozenset[str]:
    """The rules on which the auditor is not asked to agree with the numbers."""
    codes: set[str] = set()
    listed = loop.source is Source.LIST
    steps = {place for player in loop.players for place, op in player.calls if op is Op.STEP}
    if listed and (loop.guard in (Guard.EVERY, Guard.CONTINUE) or steps - {Place.UPDATE}):
        codes.add("GL201")  # neither a loader nor a guard around the step says that it closes a window
    if listed and any(player.clearing in BY_HAND for player in loop.players):
        codes.add("GL202")  # that a plain loop is over is noticed at the next zero_grad()
    if loop.guard is Guard.INNER:
        codes |= {"GL102", "GL103"}  # a clearing outside the inner loop looks like one after an epoch
    if len(loop.players) == 2:
        codes |= {"GL201", "GL202"}  # only the first loss is known to take a new batch, only one may wait
        codes |= {"GL304", "GL309"}  # a clip that finds nothing, with another optimizer's step after it
        if any(player.clearing in BY_HAND for player in loop.players):
            codes |= {"GL102", "GL103"}  # a clearing by hand is seen late, perhaps after the other's step
        first, second = ([place for place, op in p.calls if op is Op.STEP] for p in loop.players)
        if loop.link is Link.JOINT and first != second:
            codes |= {
                "GL101",
                "GL401",
            }  # what one has stepped on more often looks like a leak
    return frozenset(codes)


def lines_told(loop: Loop) -> bool:
    """Whether the auditor can name the line of a clearing: of several by hand it takes the nearest.

    Where one of two optimizers is never cleared, it takes an idle clearing of the other for a mistyped one.
    """
    regular = [[op for place, op in player.calls if place is not Place.RUN] for player in loop.players]
    if len(loop.players) == 2 and any(Op.CLEAR not in ops for ops in regular):
        return False
    by_hand = [player for player in loop.players if player.clearing in BY_HAND]
    calls = sum(op is Op.CLEAR for player in by_hand for _, op in player.calls)
    return not by_hand or calls + (loop.dead is Op.CLEAR) < 2
