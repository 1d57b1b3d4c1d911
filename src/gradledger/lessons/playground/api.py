"""What the pages ask for: to try a set-up, to run an exhibit, to judge an answer, to keep a place."""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request

from gradledger.ledger.record import replace
from gradledger.lessons import catalogue
from gradledger.lessons.exhibit import Value
from gradledger.lessons.experiment_source import exhibits
from gradledger.lessons.lesson import Lesson, Myth, Predict
from gradledger.lessons.playground.answering import WrongRequestError, while_there, word
from gradledger.lessons.playground.pages import figure
from gradledger.lessons.playground.pages.code import code_lines
from gradledger.lessons.playground.pages.lesson import Told, of
from gradledger.lessons.playground.pages.prose import inline
from gradledger.lessons.playground.setup import read, written
from gradledger.lessons.playground.workshop import Workshop
from gradledger.lessons.progress.cards import missed
from gradledger.lessons.progress.state import Place, Progress, Score
from gradledger.lessons.progress.store import Store
from gradledger.lessons.quiz import Question, questions
from gradledger.lessons.reading.guess import agrees, shown, understood

TRIAL_SECONDS = 20
EXHIBIT_SECONDS = 120


class Api:
    """The endpoints, with the worker that runs things and the file that keeps the reader's progress."""

    def __init__(self, workshop: Workshop, store: Store) -> None:
        self._workshop = workshop
        self._store = store

    async def run(self, request: Request, data: dict[str, Any]) -> object:
        """Try a set-up."""
        setup = read(data.get("setup"))
        job = self._workshop.do("trial", TRIAL_SECONDS, setup=written(setup))
        result = await while_there(request, job)
        for finding in result["findings"]:
            finding["lesson"] = lesson_of(finding["code"])
        result["lines"] = code_lines(result["program"])
        return result

    async def exhibit(self, request: Request, data: dict[str, Any]) -> object:
        """Run an exhibit, and say what belongs into the blanks and plots that wait for it."""
        owner = _owner(word(data, "owner"))
        name = word(data, "name")
        if name not in exhibits(owner.folder):
            raise WrongRequestError(f'{owner.id} has no exhibit "{name}"')
        told = of(owner)
        folder = owner.folder.relative_to(catalogue.HERE).as_posix()
        job = self._workshop.do("exhibit", EXHIBIT_SECONDS, folder=folder, name=name)
        result = await while_there(request, job)
        values: dict[str, Value] = result["values"]
        return {
            "printed": result["printed"].rstrip("\n"),
            "blanks": told.blanks.of(name, values),
            "plots": _plots(told, name, values),
            "predictions": _verdicts(told.predictions.get(name, []), data.get("said"), values),
            **self._judged(owner, data.get("judged"), values),
        }

    async def quiz(self, _: Request, data: dict[str, Any]) -> object:
        """Explain the options of a question; when all are answered, keep the score."""
        lesson = _lesson(word(data, "lesson"))
        found = {question.id: question for question in questions(lesson.folder)}
        answers = data.get("answers")
        latest = found.get(word(data, "latest"))
        if (
            not isinstance(answers, dict)
            or latest is None
            or not all(_is_answer(found, a) for a in answers.items())
        ):
            raise WrongRequestError("no such question, or no such option")
        if latest.id not in answers:
            raise WrongRequestError("the latest question has no answer")
        if answers[latest.id] != latest.answer:
            self._store.change(lambda kept: missed(kept, f"{lesson.id}.{latest.id}", time.time()))
        right = sum(found[name].answer == key for name, key in answers.items())
        complete = len(answers) == len(found)
        if complete:
            score = Score(right, len(found))
            self._store.change(lambda kept: replace(kept, quizzes={**kept.quizzes, lesson.id: score}))
        whys = [{"key": o.key, "why": inline(o.why), "right": o.key == latest.answer} for o in latest.options]
        return {
            "right": answers[latest.id] == latest.answer,
            "whys": whys,
            "score": [right, len(found)],
            "complete": complete,
        }

    async def read(self, _: Request, data: dict[str, Any]) -> object:
        """Keep that a lesson was read, or was not."""
        lesson = _lesson(word(data, "lesson"))
        place = Place(0, len(lesson.parts), done=data.get("done") is True)

        def kept(progress: Progress) -> Progress:
            return replace(progress, last=lesson.id, places={**progress.places, lesson.id: place})

        self._store.change(kept)
        return {"done": place.done}

    def _judged(self, owner: Lesson | Myth, said: object, values: dict[str, Value]) -> dict[str, object]:
        if not isinstance(owner, Myth) or not isinstance(said, bool):
            return {}
        holds = bool(values["holds"])
        score = Score(int(said == holds), 1)
        self._store.change(lambda kept: replace(kept, myths={**kept.myths, owner.id: score}))
        return {"holds": holds, "right": said == holds}


def lesson_of(code: str) -> dict[str, object] | None:
    """The lesson that explains a rule: the one that names it first, else any."""
    telling = [lesson for lesson in catalogue.lessons() if code in lesson.codes]
    if not telling:
        return None
    best = min(telling, key=lambda lesson: lesson.codes.index(code))
    return {"id": best.id, "number": best.number, "title": best.title}


def _owner(name: str) -> Lesson | Myth:
    try:
        return catalogue.myth(name) if name.startswith("m") else catalogue.lesson(name)
    except LookupError as error:
        raise WrongRequestError(str(error)) from None


def _lesson(name: str) -> Lesson:
    owner = _owner(name)
    if not isinstance(owner, Lesson):
        raise WrongRequestError(f"{name} is no lesson")
    return owner


def _is_answer(found: dict[str, Question], given: tuple[object, object]) -> bool:
    name, key = given
    question = found.get(name) if isinstance(name, str) else None
    return question is not None and key in [option.key for option in question.options]


def _plots(told: Told, name: str, values: dict[str, Value]) -> dict[str, str]:
    drawn = {}
    for number, plot in told.plots.get(name, []):
        value = values[plot.key]
        if isinstance(value, (list, dict)):
            drawn[str(number)] = figure.figure(value, plot.title, plot.x_label, plot.y_label)
    return drawn


def _verdicts(asked: list[tuple[int, Predict]], said: object, values: dict[str, Value]) -> dict[str, object]:
    given = said if isinstance(said, dict) else {}
    return {str(number): _verdict(part, given.get(str(number)), values[part.key]) for number, part in asked}


def _verdict(part: Predict, said: object, value: Value) -> dict[str, object]:
    assert isinstance(value, (int, float))
    answer = understood(said.strip(), yes_or_no=isinstance(value, bool)) if isinstance(said, str) else None
    if answer is None:
        return {"right": None, "is": shown(value)}
    mine = bool(answer) if isinstance(value, bool) else answer
    return {"right": agrees(answer, value, part.tolerance), "is": shown(value), "said": shown(mine)}
