"""Spaced repetition after Leitner: a card that was known moves to a box that is opened less often."""

from __future__ import annotations

from collections.abc import Mapping

from gradledger.ledger.record import replace
from gradledger.lessons.progress.state import Card, Progress

DAY = 86_400.0
WAITS = (0.0, 1 * DAY, 3 * DAY, 7 * DAY, 21 * DAY)
"""How long a card rests in each box; the first box is always open."""


def missed(progress: Progress, name: str, now: float) -> Progress:
    """The question goes into the first box, wherever its card was."""
    return replace(progress, cards={**progress.cards, name: Card(1, now)})


def known(progress: Progress, name: str, now: float) -> Progress:
    """The card moves on by one box; out of the last one it is done with."""
    cards = dict(progress.cards)
    card = cards.pop(name, None)
    if card is not None and card.box < len(WAITS):
        cards[name] = Card(card.box + 1, now + WAITS[card.box])
    return replace(progress, cards=cards)


def due(cards: Mapping[str, Card], now: float) -> list[str]:
    """The cards to be asked now, those of the lowest boxes first."""
    ready = [(card.box, card.due, name) for name, card in cards.items() if _is_due(card, now)]
    return [name for _, _, name in sorted(ready)]


def next_due(cards: Mapping[str, Card]) -> float | None:
    """When the next card is due."""
    return min((card.due for card in cards.values()), default=None)


def _is_due(card: Card, now: float) -> bool:
    """Whether it has rested long enough; if it would rest longer than its box lets it, a clock was wrong."""
    return card.due <= now or card.due - now > WAITS[card.box - 1] + DAY


def wait_text(seconds: float) -> str:
    """A time to wait in words."""
    for size, name in ((DAY, "day"), (3600.0, "hour"), (60.0, "minute")):
        count = round(seconds / size)
        if count and seconds > 0.95 * size:  # a day that began a moment ago is a day
            return f"in {count} {name}{'s' if count > 1 else ''}"
    return "in less than a minute"
