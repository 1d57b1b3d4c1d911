"""What the auditor cannot tell in these loops, though the numbers can."""

from __future__ import annotations

from tests.agreement.loops import BY_HAND, Clearing, Guard, Held, Link, Loop, Op, Place, Source, Tail


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
    for player in loop.players:
        by_hand = player.clearing in BY_HAND and (Place.EPOCH, Op.CLEAR) in player.calls
        early = {(Place.START, Op.CLIP), (Place.FORWARD, Op.CLIP), (Place.EPOCH, Op.STEP)}
        looked = early.intersection(player.calls)
        if loop.source is Source.LIST and by_hand and looked:
            codes.add("GL202")  # these find what was cleared before a pass tells that an epoch is over
    if loop.source is Source.LIST and loop.guard is Guard.INNER:
        # Without a loader, a clear after the chunks of a batch says that an epoch is over.
        if loop.link is Link.JOINT:
            codes.add("GL205")
        if any(place is not Place.UPDATE for places in steps for place in places):
            codes.add("GL103")
    return frozenset(codes)


def lines_told(loop: Loop) -> bool:
    """Whether the auditor can name the line of a clearing.

    Of several by hand it takes the nearest, and of a function that clears for both its own line.
    """
    if all(player.clearing is Clearing.HELPER for player in loop.players) and len(loop.players) > 1:
        return False
    by_hand = [player for player in loop.players if player.clearing in BY_HAND]
    calls = sum(op is Op.CLEAR for player in by_hand for _, op in player.calls)
    if loop.tail is Tail.AFTER and loop.held is not Held.UPDATE:
        calls += sum(op is Op.CLEAR for player in by_hand for op in player.at(Place.UPDATE))
    doubtful = loop.dead is Op.CLEAR and loop.flagged is Op.CLEAR
    return not by_hand or calls + doubtful < 2
