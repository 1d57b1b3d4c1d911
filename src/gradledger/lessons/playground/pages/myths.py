"""The myths on one page: commit to yes or no, then the experiment decides."""

from __future__ import annotations

from gradledger.lessons import catalogue
from gradledger.lessons.lesson import Myth
from gradledger.lessons.playground.pages.frame import Page
from gradledger.lessons.playground.pages.lesson import of
from gradledger.lessons.playground.pages.prose import inline
from gradledger.lessons.progress.state import Progress
from gradledger.report.page.safe import text


def myths_page(progress: Progress, root: str) -> Page:
    """Every myth; its text shows once the reader has judged it."""
    myths = catalogue.myths()
    right = sum(1 for myth in myths if myth.id in progress.myths and progress.myths[myth.id].right)
    rows = "".join(_myth(myth, progress, root) for myth in myths)
    body = (
        '<header class="hero"><h1>Myths</h1><p class="lead">Is it true? Commit to yes or no. '
        f"Then an experiment runs here, and it decides. {right} of {len(myths)} judged rightly so far.</p>"
        f'</header><div class="myths">{rows}</div>'
    )
    return Page("Myths", "myths", body, ("exhibits.js",))


def _myth(myth: Myth, progress: Progress, root: str) -> str:
    score = progress.myths.get(myth.id)
    before = (
        ""
        if score is None
        else f'<span class="marks">judged {"rightly" if score.right else "wrongly"}</span>'
    )
    lesson = catalogue.lesson(myth.lesson)
    return (
        f'<article class="myth" data-owner="{myth.id}" id="{myth.id}"><header>'
        f'<p class="kicker">Myth {myth.number} {before}</p><h2>“{inline(myth.claim)}”</h2></header>'
        '<div class="judge" role="group" aria-label="Is it true?">'
        '<button type="button" data-says="yes">It is true</button>'
        '<button type="button" data-says="no">It is not</button>'
        '<output class="verdict-line" role="status"></output></div>'
        f'<div class="decided" hidden>{of(myth).html}'
        f'<p class="more">More in <a href="{text(root)}/learn/lesson/{lesson.id}">'
        f"lesson {lesson.number}, {inline(lesson.title)}</a>.</p></div></article>"
    )
