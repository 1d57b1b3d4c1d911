"""`learn recall`: the questions that were missed come back, ever more rarely as they are known."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.lessons import catalogue
from gradledger.lessons.lesson import Lesson
from gradledger.lessons.progress.cards import due, known, missed, next_due, wait_text
from gradledger.lessons.quiz import Question, questions
from gradledger.lessons.reading.asking import asked, question_blocks
from gradledger.lessons.reading.reader import Reader
from gradledger.lessons.refusal import Refusal

TAKES = ""
ABOUT = "the questions you missed, again, at growing distances"
ORDER = 7


def run(reader: Reader, words: Sequence[str]) -> int:
    """Ask the cards that are due now."""
    if words:
        raise Refusal("recall takes nothing: it knows what you missed")
    screen = reader.screen
    every = _questions()
    cards = {name: card for name, card in reader.progress.cards.items() if name in every}
    ready = due(cards, reader.now())
    if not cards:
        screen.show("There is nothing to recall: no question was missed yet.")
        return 0
    right = 0
    for number, name in enumerate(ready, 1):
        lesson, question = every[name]
        screen.show(
            ["", f"Card {number} of {len(ready)}, from lesson {lesson.number}, box {cards[name].box}", ""]
        )
        if not screen.interactive:
            for block in question_blocks(question, screen):
                screen.show([*block, ""])
            continue
        good = asked(question, screen)
        right += good
        moved = known if good else missed
        reader.store.change(lambda p, move=moved, card=name: move(p, card, reader.now()))  # type: ignore[misc]
        screen.show([] if good else [f"  More: gradledger learn read {lesson.number}", ""])
    lines = [f"{right} of {len(ready)} recalled."] if ready and screen.interactive else []
    left = {name: card for name, card in reader.progress.cards.items() if name in every}
    after = next_due(left)
    if after is None:
        lines.append("No card is left: you knew each one five times.")
    elif after > reader.now():
        lines.append(f"The next card is due {wait_text(after - reader.now())}.")
    elif screen.interactive:
        lines.append("What you missed waits: gradledger learn recall")
    screen.show(lines)
    return 0


def _questions() -> dict[str, tuple[Lesson, Question]]:
    """Every question of the course by lesson and id; a card whose question is gone is not asked."""
    return {
        f"{lesson.id}.{question.id}": (lesson, question)
        for lesson in catalogue.lessons()
        for question in questions(lesson.folder)
    }
