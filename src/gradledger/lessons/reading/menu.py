"""The overview of the course, and the menu that stays until the reader leaves."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.lessons import catalogue
from gradledger.lessons.lesson import Lesson
from gradledger.lessons.progress.cards import due
from gradledger.lessons.progress.state import Progress
from gradledger.lessons.reading.reader import Reader, following
from gradledger.lessons.reading.screen import Stopped
from gradledger.lessons.refusal import Refusal
from gradledger.lessons.ways import ways
from gradledger.report.cells import cut, wrap
from gradledger.report.style import StreamFacts

_RIGHT = 36
"""The cells of a row that are not the title's."""

TITLE = "Gradients: how they add up, and when to clear them"


def overview(reader: Reader) -> list[str]:
    """Every lesson with its minutes, what was done, and what to do next."""
    facts, progress = reader.screen.facts, reader.progress
    lessons = catalogue.lessons()
    minutes = sum(lesson.minutes for lesson in lessons)
    lines = [
        facts.paint(TITLE, "code"),
        f"{len(lessons)} lessons, about {minutes} minutes; PyTorch computes every number as you read.",
        "",
        facts.paint(_columns("", "lesson", "minutes", "after", "read", "quiz", facts), "quiet"),
    ]
    lines += [_row(lesson, progress, facts) for lesson in lessons]
    judged = sum(1 for myth in catalogue.myths() if myth.id in progress.myths)
    mended = sum(1 for exercise in progress.repairs.values() if exercise.done)
    ready = len(due(progress.cards, reader.now()))
    told = [
        f"myths judged: {judged} of {len(catalogue.myths())}",
        f"scripts mended: {mended}",
        f"cards due: {ready}",
    ]
    lines += ["", "; ".join(told) + ".", *_next(progress)]
    return lines


def _row(lesson: Lesson, progress: Progress, facts: StreamFacts) -> str:
    place = progress.places.get(lesson.id)
    quiz = progress.quizzes.get(lesson.id)
    read = "-"
    if place is not None:
        read = "done" if place.done else f"{place.part}/{place.parts}"
    score = f"{quiz.right}/{quiz.of}" if quiz is not None else "-"
    needs = ",".join(str(int(name[1:])) for name in lesson.needs) or "-"
    title = cut(facts.prose(lesson.title), facts.width - _RIGHT, facts.ellipsis)
    return _columns(str(lesson.number), title, str(lesson.minutes), needs, read, score, facts)


def _columns(
    number: str, title: str, minutes: str, after: str, read: str, quiz: str, facts: StreamFacts
) -> str:
    return f"  {number:>2}  {title:<{facts.width - _RIGHT}}  {minutes:>7}  {after:>5}  {read:>5}  {quiz:>4}"


def _next(progress: Progress) -> list[str]:
    lesson = following(progress)
    if lesson is None:
        return ["Every lesson is read."]
    place = progress.places.get(lesson.id)
    begun = place is not None and not place.done and place.part > 0
    return [f"{'Go on with' if begun else 'Next'}: gradledger learn read {lesson.number}"]


def commands(facts: StreamFacts) -> list[str]:
    """The ways to learn, as one types them."""
    usage = {f"gradledger learn {way.name} {way.takes}".rstrip(): way.about for way in ways().values()}
    width = max(map(len, usage)) + 2
    lines = []
    for command, about in usage.items():
        for number, row in enumerate(wrap(about, facts.width - width - 3)):
            lines.append(f"  {'' if number else command:<{width}}{row}")
    return lines


def menu(reader: Reader) -> int:
    """Ask what to do until the reader leaves; without a terminal, print the overview and the commands."""
    screen = reader.screen
    if not screen.interactive:
        screen.show([*overview(reader), "", *commands(screen.facts)])
        return 0
    while True:
        screen.show([*overview(reader), *_help(screen.facts)])
        try:
            chosen = screen.ask("learn>").lower().split()
        except Stopped:
            return 0
        _do(reader, chosen)


def _help(facts: StreamFacts) -> list[str]:
    words = " ".join(f"{way.name}" for way in ways().values())
    return [
        *wrap(
            "Enter goes on; a number, or a rule's code such as GL103, reads that lesson; a word and a number "
            f"do more, as in quiz 7. The words: {words}. q leaves.",
            facts.width - 1,
        )
    ]


def _do(reader: Reader, chosen: Sequence[str]) -> None:
    screen = reader.screen
    word, rest = (chosen[0], list(chosen[1:])) if chosen else ("read", [])
    if word not in ways():
        word, rest = "read", list(chosen)
    try:
        ways()[word].run(reader, rest)
        screen.ask("-- Enter: back to the overview --")
    except Stopped:
        screen.show()
    except (Refusal, LookupError) as refusal:
        screen.show(["", f"{refusal}"])
        screen.ask("-- Enter: back to the overview --")
