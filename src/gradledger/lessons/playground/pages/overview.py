"""The first page of the course: all lessons, what was read, and the other ways to learn."""

from __future__ import annotations

from gradledger.lessons import catalogue
from gradledger.lessons.lesson import Lesson
from gradledger.lessons.playground.pages.frame import Page
from gradledger.lessons.playground.pages.prose import inline
from gradledger.lessons.progress.state import Progress
from gradledger.lessons.reading.menu import TITLE
from gradledger.lessons.ways import ways
from gradledger.report.page.safe import text

_WAYS = (
    ("playground", "Playground", "Move the blocks of a training loop and watch a real run."),
    ("myths", "Myths", "Say yes or no, then the experiment decides."),
    ("quiz", "Quiz", "Questions with an explanation for every option."),
    ("glossary", "Glossary", "The words, each in two sentences."),
)
_AT_A_TERMINAL = "repair", "trace", "recall", "measure"


def overview_page(progress: Progress, root: str) -> Page:
    """What there is to learn."""
    lessons = catalogue.lessons()
    read = sum(1 for one in lessons if _done(one, progress))
    here = "".join(
        f'<li><a href="{text(root)}/{name}"><b>{title}</b><span>{about}</span></a></li>'
        for name, title, about in _WAYS
    )
    rows = "".join(_row(one, progress, root) for one in lessons)
    minutes = sum(one.minutes for one in lessons)
    body = (
        f'<header class="hero"><h1>{inline(TITLE)}</h1>'
        '<p class="lead">A course on clearing and accumulating gradients in PyTorch, in which every claim is '
        f"computed in front of you. {len(lessons)} lessons, about {minutes} minutes, {read} read so far.</p>"
        "</header>"
        f'<ul class="ways" aria-label="Other ways to learn">{here}</ul>'
        f'<section aria-labelledby="lessons-title"><h2 id="lessons-title">Lessons</h2>'
        f'<ol class="lessons">{rows}</ol></section>'
        '<section aria-labelledby="terminal-title"><h2 id="terminal-title">At a terminal</h2>'
        '<p class="lead">Four more ways, over the same lessons and the same score.</p>'
        f'<dl class="terminal">{"".join(map(_command, _AT_A_TERMINAL))}</dl></section>'
    )
    return Page("Course", "learn", body)


def _command(name: str) -> str:
    way = ways()[name]
    line = f"gradledger learn {name}" + (" LESSON" if way.takes.startswith("LESSON") else "")
    return f"<div><dt><code>{text(line)}</code></dt><dd>{inline(way.about)}</dd></div>"


def _row(lesson: Lesson, progress: Progress, root: str) -> str:
    done = _done(lesson, progress)
    score = progress.quizzes.get(lesson.id)
    marks = [f"{lesson.minutes} min"]
    if done:
        marks.append("read")
    if score is not None:
        marks.append(f"quiz {score.right} of {score.of}")
    codes = "".join(f'<span class="code-tag">{text(code)}</span>' for code in lesson.codes)
    return (
        f'<li class="{"done" if done else ""}"><a href="{text(root)}/learn/lesson/{lesson.id}">'
        f'<span class="number" aria-hidden="true">{"✓" if done else lesson.number}</span>'
        f'<span class="what"><b>{inline(lesson.title)}</b><span>{inline(lesson.summary)}</span>'
        f'<span class="marks">{" · ".join(marks)} {codes}</span></span></a></li>'
    )


def _done(lesson: Lesson, progress: Progress) -> bool:
    place = progress.places.get(lesson.id)
    return place is not None and place.done
