"""`learn quiz 7`: questions with an explanation for every option; the score is kept."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.ledger.record import replace
from gradledger.lessons.lesson import Lesson
from gradledger.lessons.progress.cards import missed
from gradledger.lessons.progress.state import Progress, Score
from gradledger.lessons.quiz import Question, questions
from gradledger.lessons.reading.asking import asked, explained, question_blocks
from gradledger.lessons.reading.reader import Reader, one_lesson
from gradledger.lessons.reading.screen import Screen

TAKES = "LESSON"
ABOUT = "questions, with an explanation for every option"
ORDER = 6


def run(reader: Reader, words: Sequence[str]) -> int:
    """Ask all questions of a lesson; without a terminal, print them and the answers after them."""
    lesson = one_lesson(words, "quiz 7")
    found = questions(lesson.folder)
    if not reader.screen.interactive:
        _print(lesson, found, reader.screen)
        return 0
    wrong = []
    for number, question in enumerate(found, 1):
        reader.screen.show(["", f"Lesson {lesson.number}, question {number} of {len(found)}", ""])
        if not asked(question, reader.screen):
            wrong.append(question)
            reader.store.change(lambda p, q=question: missed(p, f"{lesson.id}.{q.id}", reader.now()))  # type: ignore[misc]
    score = Score(len(found) - len(wrong), len(found))

    def kept(progress: Progress) -> Progress:
        return replace(progress, quizzes={**progress.quizzes, lesson.id: score})

    reader.store.change(kept)
    lines = [reader.screen.facts.paint(f"{score.right} of {score.of} right.", "code")]
    if wrong:
        lines.append(f"What you missed comes back: gradledger learn recall ({len(wrong)} to recall)")
    reader.screen.show(lines)
    return 0


def _print(lesson: Lesson, found: tuple[Question, ...], screen: Screen) -> None:
    for number, question in enumerate(found, 1):
        screen.show([f"Lesson {lesson.number}, question {number} of {len(found)}", ""])
        for block in question_blocks(question, screen):
            screen.show([*block, ""])
    screen.show(["Answers", ""])
    for number, question in enumerate(found, 1):
        screen.show([f"{number}: {question.answer}", *explained(question, screen, first=question.answer), ""])
