"""The glossary."""

from __future__ import annotations

from gradledger.lessons import catalogue
from gradledger.lessons.playground.pages.frame import Page
from gradledger.lessons.playground.pages.prose import inline
from gradledger.report.page.safe import text


def glossary_page(root: str) -> Page:
    """Every term with the lesson that tells more."""
    numbers = {lesson.id: lesson for lesson in catalogue.lessons()}
    rows = []
    for term in catalogue.glossary():
        lesson = numbers.get(term.lesson)
        more = (
            f' <a href="{text(root)}/learn/lesson/{lesson.id}">Lesson {lesson.number}</a>' if lesson else ""
        )
        rows.append(f"<div><dt>{inline(term.name)}</dt><dd>{inline(term.text)}{more}</dd></div>")
    body = (
        '<header class="hero"><h1>Glossary</h1>'
        '<p class="lead">The words of the course, each in a sentence or two.</p></header>'
        f'<dl class="glossary">{"".join(rows)}</dl>'
    )
    return Page("Glossary", "glossary", body)
