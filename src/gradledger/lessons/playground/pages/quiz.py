"""Quizzes: the list of them, and the questions of one lesson."""

from __future__ import annotations

from gradledger.lessons import catalogue
from gradledger.lessons.lesson import Lesson
from gradledger.lessons.playground.pages.frame import Page
from gradledger.lessons.playground.pages.prose import inline, markdown
from gradledger.lessons.progress.state import Progress
from gradledger.lessons.quiz import Question, questions
from gradledger.report.page.safe import text


def quizzes_page(progress: Progress, root: str) -> Page:
    """Every lesson's quiz with the latest score."""
    rows = "".join(_row(lesson, progress, root) for lesson in catalogue.lessons())
    body = (
        '<header class="hero"><h1>Quiz</h1><p class="lead">Every option is explained, the wrong ones too. '
        "What you miss comes back in <code>gradledger learn recall</code>.</p></header>"
        f'<ol class="lessons">{rows}</ol>'
    )
    return Page("Quiz", "quiz", body)


def quiz_page(lesson: Lesson, root: str) -> Page:
    """The questions of one lesson; which option is right is not in the page."""
    found = questions(lesson.folder)
    cards = "".join(_question(question, number, len(found)) for number, question in enumerate(found, 1))
    body = (
        f'<article class="quiz" data-lesson="{lesson.id}"><header class="hero">'
        f'<p class="kicker">Quiz of lesson {lesson.number}</p><h1>{inline(lesson.title)}</h1>'
        f'<p class="lead">{len(found)} questions. Your score is kept on this machine.</p></header>{cards}'
        '<p class="score" id="score" role="status"></p>'
        f'<p class="more"><a href="{text(root)}/learn/lesson/{lesson.id}">Back to the lesson</a></p>'
        "</article>"
    )
    return Page(f"Quiz: {lesson.title}", "quiz", body, ("quiz.js",))


def _question(question: Question, number: int, total: int) -> str:
    options = "".join(
        f'<li><button type="button" class="option" data-key="{text(option.key)}">'
        f'<span class="letter" aria-hidden="true">{text(option.key)}</span><span>{inline(option.text)}</span>'
        "</button></li>"
        for option in question.options
    )
    return (
        f'<section class="question" data-question="{text(question.id)}" aria-labelledby="q-{number}">'
        f'<p class="kicker">{number} of {total}</p>'
        f'<div class="asked" id="q-{number}">{markdown(question.text)}</div>'
        f'<ul class="options">{options}</ul><div class="whys" role="status"></div></section>'
    )


def _row(lesson: Lesson, progress: Progress, root: str) -> str:
    score = progress.quizzes.get(lesson.id)
    mark = "not tried yet" if score is None else f"{score.right} of {score.of} right"
    whole = score is not None and score.right == score.of
    return (
        f'<li class="{"done" if whole else ""}"><a href="{text(root)}/quiz/{lesson.id}">'
        f'<span class="number" aria-hidden="true">{"✓" if whole else lesson.number}</span>'
        f'<span class="what"><b>{inline(lesson.title)}</b><span class="marks">{mark}</span></span></a></li>'
    )
