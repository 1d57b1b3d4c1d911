"""Who takes the course: a screen, what was done so far, and the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from gradledger.ledger.record import dataclass
from gradledger.lessons import catalogue
from gradledger.lessons.lesson import Lesson
from gradledger.lessons.progress.state import Progress
from gradledger.lessons.progress.store import Store
from gradledger.lessons.reading.screen import Screen
from gradledger.lessons.refusal import Refusal

_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class Reader:
    """Handed to every way of learning."""

    screen: Screen
    store: Store
    now: Callable[[], float] = time.time
    output: str | None = None
    """Where a picture goes, if one was asked for."""
    port: int = 0
    """Where the playground listens; 0 lets the system choose."""
    browser: bool = True
    """Whether the playground opens a browser."""

    @property
    def progress(self) -> Progress:
        """What was done so far."""
        return self.store.read()


def one_lesson(words: Sequence[str], usage: str) -> Lesson:
    """The lesson that the words name, which must be one."""
    if len(words) != 1:
        numbers = ", ".join(str(lesson.number) for lesson in catalogue.lessons())
        raise Refusal(f"tell me which lesson, as in: gradledger learn {usage} (there are: {numbers})")
    return catalogue.lesson(words[0])


def following(progress: Progress) -> Lesson | None:
    """The lesson to go on with: the one begun last, else the first that is not done and may begin."""
    lessons = catalogue.lessons()
    done = {name for name, place in progress.places.items() if place.done}
    for lesson in lessons:
        if lesson.id == progress.last and lesson.id not in done:
            return lesson
    left = [lesson for lesson in lessons if lesson.id not in done]
    ready = [lesson for lesson in left if set(lesson.needs) <= done]
    return next(iter(ready or left), None)
