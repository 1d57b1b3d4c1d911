"""The course on the site: its exhibits run while the site is built, so every number is this PyTorch's.

mkdocs calls `on_files` while it builds (`hooks` in mkdocs.yml). With GRADLEDGER_SITE=quick nothing runs, and
dots stand for the numbers: enough to see that all pages and links are whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

from mkdocs.structure.files import File, Files

from gradledger.lessons.catalogue import glossary, lessons, myths
from gradledger.lessons.exhibit import Exhibit, run_exhibit
from gradledger.lessons.experiment_source import first_used
from gradledger.lessons.lesson import Lesson, Part, Plot, Predict, Prose, Run
from gradledger.lessons.playground.pages.figure import figure

QUICK = os.environ.get("GRADLEDGER_SITE") == "quick"


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each lesson, and one each for the course, the myths and the glossary."""
    pages = {f"course/{lesson.id}_{lesson.slug}.md": _lesson(lesson) for lesson in lessons()}
    pages |= {"course/index.md": _overview(), "course/myths.md": _myths(), "course/glossary.md": _glossary()}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def _overview() -> str:
    rows = [
        f"| {lesson.number} | [{lesson.title}]({lesson.id}_{lesson.slug}.md) | {lesson.summary} | "
        f"{lesson.minutes} |"
        for lesson in lessons()
    ]
    return "\n".join(
        [
            "# The course",
            "",
            "The same lessons as `gradledger learn` shows in the terminal and in the browser, where you can",
            "run, change and answer; here they are to be read. See also the [myths](myths.md) and the",
            "[glossary](glossary.md).",
            "",
            "| | lesson | | minutes |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _lesson(lesson: Lesson) -> str:
    codes = ", ".join(f"[{code}](../rules.md)" for code in lesson.codes)
    about = f"*{lesson.summary} {lesson.minutes} minutes.*" + (f" Rules: {codes}." if codes else "")
    ahead = [f"[{other.title}]({other.id}_{other.slug}.md)" for other in lessons() if other.id in lesson.next]
    end = ["", f"Next: {', '.join(ahead)}."] if ahead else []
    head = [f"# {lesson.number}. {lesson.title}", "", about, ""]
    return "\n".join([*head, *_told(lesson.parts, lesson.folder), *end, ""])


def _myths() -> str:
    lines = ["# Myths", ""]
    for myth in myths():
        verdict = "It holds." if myth.truth else "It does not hold."
        lines += [f"## {myth.claim}", "", '??? question "Does it hold?"', "", f"    {verdict}", ""]
        lines += [*_told(myth.parts, myth.folder), ""]
    return "\n".join(lines)


def _glossary() -> str:
    pages = {lesson.id: f"{lesson.id}_{lesson.slug}.md" for lesson in lessons()}
    lines = [
        f"**{term.name}**: {term.text} [Lesson {int(term.lesson[1:])}]({pages[term.lesson]}).\n"
        for term in glossary()
    ]
    return "\n".join(["# Glossary", "", *lines])


def _told(parts: Iterable[Part], folder: Path) -> Iterator[str]:
    """Text, exhibits and figures in order; a question hides its answer."""
    if QUICK:
        yield from (re.sub(r"\{[^{}]*\}", "…", part.text) for part in parts if isinstance(part, Prose))
        return
    parts = tuple(parts)
    ran: dict[str, Exhibit] = {}
    beside = first_used(folder, [part.name for part in parts if isinstance(part, Run)])

    def exhibit(name: str) -> Exhibit:
        if name not in ran:
            ran[name] = run_exhibit(folder, name)
        return ran[name]

    for part in parts:
        match part:
            case Prose():
                for name in {name for name, _, _ in part.fields}:
                    exhibit(name)
                yield part.filled(ran)
            case Run():
                shown = exhibit(part.name)
                yield f"\n```python\n{shown.source.rstrip()}\n```\n"
                for name, source in beside[part.name].items():
                    folded = indent(f"```python\n{source}\n```", "    ")
                    yield f'\n??? note "where {name}"\n\n{folded}\n'
                if shown.printed.strip():
                    yield f"```text\n{shown.printed.rstrip()}\n```\n"
            case Predict():
                answer = exhibit(part.name).values[part.key]
                told = ("yes" if answer else "no") if isinstance(answer, bool) else f"{answer:.4g}"
                yield f'\n??? question "{part.question}"\n\n    {told}\n'
            case Plot():
                drawn: Any = exhibit(part.name).values[part.key]
                yield "\n" + figure(drawn, part.title, part.x_label, part.y_label) + "\n"
