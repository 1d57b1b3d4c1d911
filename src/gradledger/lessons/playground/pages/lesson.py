"""A lesson as a page: its text with blanks, exhibits to run, predictions to make, places for plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from gradledger.ledger.record import dataclass
from gradledger.lessons import catalogue
from gradledger.lessons.experiment_source import exhibits, first_used
from gradledger.lessons.lesson import Lesson, Myth, Part, Plot, Predict, Prose, Run
from gradledger.lessons.playground.pages.code import code_block
from gradledger.lessons.playground.pages.frame import Page
from gradledger.lessons.playground.pages.prose import Blanks, inline
from gradledger.report.page.safe import text


@dataclass(frozen=True, slots=True)
class Told:
    """The text of a lesson or a myth as HTML, and what its exhibits will fill in."""

    html: str
    blanks: Blanks
    plots: dict[str, list[tuple[int, Plot]]]
    """By exhibit: the plots it makes, with their numbers on the page."""
    predictions: dict[str, list[tuple[int, Predict]]]


@lru_cache(maxsize=64)
def told(folder: Path, parts: tuple[Part, ...]) -> Told:
    """All parts in a row."""
    blanks = Blanks()
    plots: dict[str, list[tuple[int, Plot]]] = {}
    predictions: dict[str, list[tuple[int, Predict]]] = {}
    rows = []
    beside = first_used(folder, [part.name for part in parts if isinstance(part, Run)])
    for number, part in enumerate(parts):
        match part:
            case Prose():
                rows.append(f'<div class="prose">{blanks.html(part)}</div>')
            case Run(name=name):
                rows.append(_exhibit(folder, name, beside[name]))
            case Predict(name=name):
                predictions.setdefault(name, []).append((number, part))
                rows.append(_prediction(part, number))
            case Plot(name=name):
                plots.setdefault(name, []).append((number, part))
                rows.append(f'<div class="plot-here" data-plot="{number}" hidden></div>')
    return Told("\n".join(rows), blanks, plots, predictions)


def of(owner: Lesson | Myth) -> Told:
    """The same for a lesson; a myth that does not say where shows its experiment first."""
    parts = owner.parts
    if isinstance(owner, Myth) and not any(isinstance(part, Run) and part.name == "decide" for part in parts):
        parts = (Run("decide", 1), *parts)
    return told(owner.folder, parts)


def lesson_page(lesson: Lesson, *, done: bool, root: str) -> Page:
    """The page of one lesson."""
    runs = sum(isinstance(part, Run) for part in lesson.parts)
    body = (
        f'<article class="lesson" data-owner="{lesson.id}">{_head(lesson, root)}'
        '<div class="run-all">'
        f'<button type="button" class="primary" id="run-all">Run all {runs} exhibits</button>'
        "<p>Every number below is computed by PyTorch on this machine when you run it. "
        "Where a prediction is asked, say yours first.</p></div>"
        f"{of(lesson).html}{_foot(lesson, root, done=done)}</article>"
    )
    return Page(lesson.title, "learn", body, ("exhibits.js",))


def _exhibit(folder: Path, name: str, beside: Mapping[str, str]) -> str:
    shown = exhibits(folder)[name]
    return (
        f'<figure class="exhibit" data-exhibit="{text(name)}" id="exhibit-{text(name)}">'
        f"<figcaption>{inline(shown.about)}</figcaption>{code_block(shown.source)}"
        f"{_scaffolding(beside)}"
        '<div class="running"><button type="button" class="run">Run</button>'
        '<span class="state" role="status"></span></div>'
        '<pre class="printed" hidden aria-label="What it printed"></pre></figure>'
    )


def _scaffolding(beside: Mapping[str, str]) -> str:
    if not beside:
        return ""
    names = ", ".join(f"<code>{text(name)}</code>" for name in beside)
    return (
        f'<details class="beside"><summary>where {names}</summary>'
        f"{code_block((chr(10) * 3).join(beside.values()))}</details>"
    )


def _prediction(part: Predict, number: int) -> str:
    return (
        f'<form class="predict" data-of="{text(part.name)}" data-predict="{number}">'
        f'<label for="predict-{number}"><span>Predict</span> {inline(part.question)}</label>'
        f'<input id="predict-{number}" autocomplete="off" maxlength="40" '
        'placeholder="a number, or yes or no">'
        '<button type="submit">Commit and run</button>'
        '<output class="said" role="status"></output></form>'
    )


def _head(lesson: Lesson, root: str) -> str:
    facts = [f"about {lesson.minutes} minutes"]
    needs = _links(lesson.needs, root)
    if needs:
        facts.append(f"after {needs}")
    codes = "".join(f'<li class="code-tag">{text(code)}</li>' for code in lesson.codes)
    return (
        f'<header class="lesson-head"><p class="kicker">Lesson {lesson.number}</p>'
        f'<h1>{inline(lesson.title)}</h1><p class="lead">{inline(lesson.summary)}</p>'
        f'<p class="facts">{", ".join(facts)}</p>'
        f'<ul class="codes" aria-label="Rules it explains">{codes}</ul>'
        "</header>"
    )


def _foot(lesson: Lesson, root: str, *, done: bool) -> str:
    words = "Read" if done else "Mark as read"
    following = _links(lesson.next, root)
    return (
        '<footer class="lesson-foot">'
        f'<button type="button" id="read" class="primary" aria-pressed="{str(done).lower()}">{words}</button>'
        f'<a href="{text(root)}/quiz/{lesson.id}">Quiz of this lesson</a>'
        + (f'<span class="next">Next: {following}</span>' if following else "")
        + f'<p class="also">At a terminal: <code>gradledger learn repair {lesson.number}</code> hands you '
        "its broken script and judges your repair, "
        f"<code>gradledger learn trace {lesson.number}</code> shows its loop by stages.</p></footer>"
    )


def _links(names: Sequence[str], root: str) -> str:
    found = [lesson for lesson in catalogue.lessons() if lesson.id in names]
    return " and ".join(
        f'<a href="{text(root)}/learn/lesson/{one.id}">{one.number}. {inline(one.title)}</a>' for one in found
    )
