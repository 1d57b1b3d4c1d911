"""One prediction: the question, the reader's answer, and the exhibit's."""

from __future__ import annotations

from gradledger.lessons.lesson import Predict
from gradledger.lessons.reading.exhibits import Exhibits
from gradledger.lessons.reading.guess import agrees, shown, understood
from gradledger.lessons.reading.markdown import prose
from gradledger.lessons.reading.screen import Screen
from gradledger.lessons.refusal import Refusal


def question_lines(part: Predict, screen: Screen) -> list[str]:
    """The question as it is put."""
    return prose(part.question, screen.facts, first="? ", rest="  ")


def value_of(part: Predict, exhibits: Exhibits) -> float:
    """The number, or yes or no, that the exhibit finds."""
    value = exhibits[part.name].values.get(part.key)
    if not isinstance(value, int | float):
        raise Refusal(f"the exhibit {part.name} has no number {part.key} to predict")
    return value


def said(part: Predict, exhibits: Exhibits, screen: Screen) -> float | None:
    """What the reader says; None if nothing."""
    yes_or_no = isinstance(value_of(part, exhibits), bool)
    hint = "yes or no" if yes_or_no else "a number"
    while True:
        answer = screen.ask(f"  your answer ({hint}; Enter skips):")
        if not answer:
            return None
        value = understood(answer, yes_or_no=yes_or_no)
        if value is not None:
            return value
        screen.show(
            f"  That is not {hint}." + ("" if yes_or_no else " Write it like 8, -0.5, 1e-3, 1/3 or 50%.")
        )


def verdict(part: Predict, answer: float | None, exhibits: Exhibits, screen: Screen) -> bool:
    """Say whether the answer was right, after the exhibit was shown."""
    value = value_of(part, exhibits)
    facts = screen.facts
    if answer is None:
        screen.show(prose(f"The answer: {shown(value)}.", facts))
        return False
    right = agrees(answer, value, part.tolerance)
    if isinstance(value, bool):
        answer = bool(answer)
    text = f"you said {shown(answer)}; it is {shown(value)}"
    mark = facts.paint("Right: ", "good") if right else facts.paint("Not so: ", "error")
    screen.show(f"{mark}{text}.")
    return right
