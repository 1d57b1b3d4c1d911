"""`learn predict 2`: say the number before the exhibit reveals it."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.ledger.record import replace
from gradledger.lessons.lesson import Predict
from gradledger.lessons.progress.state import Score
from gradledger.lessons.reading.exhibits import Exhibits
from gradledger.lessons.reading.predicting import question_lines, said, verdict
from gradledger.lessons.reading.reader import Reader, one_lesson

TAKES = "LESSON"
ABOUT = "say the number before it is revealed"
ORDER = 3


def run(reader: Reader, words: Sequence[str]) -> int:
    """Ask every prediction of a lesson; without a terminal, show them with their answers."""
    lesson = one_lesson(words, "predict 2")
    screen = reader.screen
    parts = [part for part in lesson.parts if isinstance(part, Predict)]
    exhibits = Exhibits(lesson.folder, screen, [part.name for part in parts])
    if not parts:
        screen.show(f"Lesson {lesson.number} asks for no predictions.")
        return 0
    right = 0
    for number, part in enumerate(parts, 1):
        screen.show([f"Prediction {number} of {len(parts)}", *question_lines(part, screen)])
        answer = said(part, exhibits, screen) if screen.interactive else None
        screen.show()
        for block in exhibits.blocks(part.name):
            screen.show([*block, ""])
        right += verdict(part, answer, exhibits, screen)
        screen.show()
    if screen.interactive:
        screen.show(f"{right} of {len(parts)} predicted.")
        score = Score(right, len(parts))
        reader.store.change(lambda p: replace(p, predictions={**p.predictions, lesson.id: score}))
    return 0
