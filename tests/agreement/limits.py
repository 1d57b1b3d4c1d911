"""What the auditor cannot tell in these loops, though the numbers can."""

from __future__ import annotations

from tests.agreement.loops import BY_HAND, Guard, Link, Loop, Op, Place, Source


def untold(loop: Loop) -> frozenset[str]:
    """The rules on which the auditor is not asked to agree with the numbers."""
    codes: set[str] = set()
    steps = [[place for place, op in player.calls if op is Op.STEP] for player in loop.players]
    if loop.source is Source.LIST and (
        loop.guard is Guard.EVERY or any(place is not Place.UPDATE for places in steps for place in places)
    ):
        codes.add("GL201")  # neither a loader nor a guard around the step says that it closes a window
    regular = [[call for call in player.calls if call[1] in (Op.STEP, Op.CLEAR)] for player in loop.players]
    if loop.link is Link.JOINT and regular[0] != regular[-1]:
        codes.add("GL201")  # what another optimizer has used in the meantime may be meant as it is
    if loop.guard is Guard.INNER:
        codes.add("GL103")  # a clearing outside the inner loop looks like one after an epoch
    return frozenset(codes)


def lines_told(loop: Loop) -> bool:
    """Whether the auditor can name the line of a clearing: of several by hand it takes the nearest."""
    by_hand = [player for player in loop.players if player.clearing in BY_HAND]
    calls = sum(op is Op.CLEAR for player in by_hand for _, op in player.calls)
    doubtful = loop.dead is Op.CLEAR and loop.flagged is Op.CLEAR
    return not by_hand or calls + doubtful < 2
