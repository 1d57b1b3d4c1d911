"""`learn read 7`: the text, with every exhibit run on the way; goes on where the reader stopped."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.ledger.record import replace
from gradledger.lessons import catalogue
from gradledger.lessons.lesson import Lesson, Part, Plot, Predict, Prose, Run
from gradledger.lessons.progress.state import Place, Progress
from gradledger.lessons.reading.exhibits import Exhibits
from gradledger.lessons.reading.figure import figure_lines
from gradledger.lessons.reading.markdown import markdown_blocks, prose
from gradledger.lessons.reading.predicting import question_lines, said, verdict
from gradledger.lessons.reading.reader import Reader, following, one_lesson
from gradledger.lessons.refusal import Refusal

TAKES = "LESSON"
ABOUT = "read the lesson; its exhibits run in front of you"
ORDER = 1


def run(reader: Reader, words: Sequence[str]) -> int:
    """Read one lesson; without a number, the one to go on with."""
    if words:
        lesson = one_lesson(words, "read 7")
    else:
        found = following(reader.progress)
        if found is None:
            raise Refusal("every lesson is read; choose one: gradledger learn read 7")
        lesson = found
    reading = _Reading(reader, lesson)
    if reader.screen.interactive:
        reading.by_and_by()
    else:
        reading.at_once()
    return 0


class _Reading:
    """One lesson, from its head to its end."""

    def __init__(self, reader: Reader, lesson: Lesson) -> None:
        self._reader = reader
        self._screen = reader.screen
        self._lesson = lesson
        order = [part.name for part in lesson.parts if isinstance(part, Run)]
        self._exhibits = Exhibits(lesson.folder, reader.screen, order)
        self._said: dict[str, list[tuple[Predict, float | None]]] = {}
        """Predictions that wait for their exhibit."""
        self._revealed: set[str] = set()
        """Exhibits that were shown: on the way back nothing is left to predict of them."""
        self._top = 0
        """The part that the present screen began with."""

    def at_once(self) -> None:
        """Everything, nothing asked."""
        self._screen.show(self._head())
        for part in self._lesson.parts:
            self._screen.show([*question_lines(part, self._screen), ""] if isinstance(part, Predict) else [])
            for block in self._blocks(part):
                self._screen.show([*block, ""])
        self._screen.show(self._tail())

    def by_and_by(self) -> None:
        """A screen at a time; each part that was reached is kept."""
        number = self._top = self._begin()
        self._screen.show(self._head())
        parts = self._lesson.parts
        while number < len(parts):
            self._keep(Place(number, len(parts), done=self._done()))
            number = self._step(number)
        self._keep(Place(0, len(parts), done=True))
        self._screen.show(self._tail())

    def _begin(self) -> int:
        """The part to begin with."""
        place = self._reader.progress.places.get(self._lesson.id)
        if place is None or not 0 < place.part < len(self._lesson.parts):
            return 0
        self._screen.show(f"You stopped at part {place.part + 1} of {len(self._lesson.parts)}.")
        answer = self._screen.choose("Enter goes on there, b begins anew:", ("b",), otherwise="on")
        return 0 if answer == "b" else place.part

    def _done(self) -> bool:
        place = self._reader.progress.places.get(self._lesson.id)
        return place is not None and place.done

    def _step(self, number: int) -> int:
        """Show one part; the number of the one to show after it."""
        part = self._lesson.parts[number]
        if isinstance(part, Predict):
            self._screen.show(question_lines(part, self._screen))
            if part.name not in self._revealed:
                self._said.setdefault(part.name, []).append((part, said(part, self._exhibits, self._screen)))
                self._top = number + 1
            self._screen.show()
            return number + 1
        for block in self._blocks(part):
            if not self._screen.fits(len(block) + 1):
                answer = self._screen.choose("-- Enter: on   b: back   q: stop --", ("b",), otherwise="on")
                if answer == "b":
                    number = self._top = self._before(self._top)
                    return number
                self._top = number
            self._screen.show([*block, ""])
        if isinstance(part, Run):
            self._revealed.add(part.name)
            for asked, answer_given in self._said.pop(part.name, ()):
                verdict(asked, answer_given, self._exhibits, self._screen)
                self._screen.show()
        return number + 1

    def _before(self, top: int) -> int:
        """The part to go back to from a screen that began with this one: no question, which is soon read."""
        earlier = range(top - 1, -1, -1)
        return next((at for at in earlier if not isinstance(self._lesson.parts[at], Predict)), 0)

    def _blocks(self, part: Part) -> list[list[str]]:
        facts = self._screen.facts
        match part:
            case Prose():
                return markdown_blocks(part.filled(self._exhibits), facts)
            case Run(name=name):
                return self._exhibits.blocks(name)
            case Plot(name=name, key=key, title=title, x_label=x_label, y_label=y_label):
                value = self._exhibits[name].values[key]
                return [figure_lines(value, title, x_label, y_label, facts)]
            case Predict():
                return []

    def _keep(self, place: Place) -> None:
        name = self._lesson.id

        def change(progress: Progress) -> Progress:
            return replace(progress, last=name, places={**progress.places, name: place})

        self._reader.store.change(change)

    def _head(self) -> list[str]:
        lesson, facts = self._lesson, self._screen.facts
        title = facts.paint(facts.prose(f"Lesson {lesson.number}: {lesson.title}"), "code")
        told = [f"about {lesson.minutes} minutes"]
        if lesson.needs:
            told.append("after " + " and ".join(str(int(name[1:])) for name in lesson.needs))
        if lesson.codes:
            told.append("explains " + ", ".join(lesson.codes))
        rows = prose(lesson.summary, facts)
        return [title, *(facts.paint(line, "quiet") for line in prose("; ".join(told), facts)), "", *rows, ""]

    def _tail(self) -> list[str]:
        number, facts = self._lesson.number, self._screen.facts
        ways = {
            f"gradledger learn quiz {number}": "see what stayed",
            f"gradledger learn repair {number}": "mend its broken script",
            f"gradledger learn trace {number}": "its loop by stages",
        }
        for name in self._lesson.next:
            try:
                after = catalogue.lesson(name)
            except LookupError:
                continue
            ways[f"gradledger learn read {after.number}"] = facts.prose(after.title)
        width = max(map(len, ways))
        head = facts.paint(f"End of lesson {number}. What now:", "code")
        return [head, *(f"  {way:<{width}}  {about}" for way, about in ways.items())]
