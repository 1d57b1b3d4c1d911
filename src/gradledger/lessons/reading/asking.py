"""One question of a quiz: put, answered, explained."""

from __future__ import annotations

from gradledger.lessons.lesson import Lesson
from gradledger.lessons.quiz import Question
from gradledger.lessons.reading.exhibits import Exhibits
from gradledger.lessons.reading.guess import shown
from gradledger.lessons.reading.markdown import markdown_blocks, prose
from gradledger.lessons.reading.screen import Screen


def question_blocks(question: Question, screen: Screen) -> list[list[str]]:
    """The text and the options."""
    facts = screen.facts
    options = [
        line for option in question.options for line in prose(option.text, facts, first=f"  {option.key}) ")
    ]
    return [*markdown_blocks(question.text, facts), options]


def asked(question: Question, screen: Screen) -> bool:
    """Put the question; whether the answer was right. Every option is explained afterwards."""
    for block in question_blocks(question, screen):
        screen.show([*block, ""])
    answer = screen.choose("your answer:", [option.key for option in question.options])
    right = answer == question.answer
    facts = screen.facts
    verdict = facts.paint("Right.", "good") if right else facts.paint("No.", "error")
    screen.show(["", f"{verdict} The answer is {question.answer}."])
    screen.show([*explained(question, screen, first=answer), ""])
    return right


def explained(question: Question, screen: Screen, *, first: str = "") -> list[str]:
    """Why each option is right or wrong, the chosen one first."""
    lines = []
    for option in sorted(question.options, key=lambda option: option.key != first):
        mark = "+" if option.key == question.answer else "-"
        lines += prose(option.why, screen.facts, first=f"  {mark} {option.key}) ")
    return lines


def proof(question: Question, lesson: Lesson, screen: Screen) -> list[str]:
    """What the exhibit that decides the question finds, if there is one."""
    if question.exhibit is None:
        return []
    name, _, key = question.exhibit.partition(".")
    value = Exhibits(lesson.folder, screen)[name].values.get(key)
    if not isinstance(value, int | float):
        return []
    return prose(f"The exhibit {name} has just found {key} = {shown(value)}.", screen.facts, first="  ")
