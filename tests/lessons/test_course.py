"""What holds for every lesson: its exhibits run, its numbers are theirs, its scripts as wrong as they say."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from gradledger.lessons.catalogue import glossary, lessons, myths
from gradledger.lessons.exhibit import Exhibit, run_exhibit
from gradledger.lessons.experiment_source import exhibits, first_used
from gradledger.lessons.lesson import Lesson, Myth, Plot, Predict, Prose, Run
from gradledger.lessons.linking import lessons_about
from gradledger.lessons.quiz import Question, questions
from gradledger.lessons.reading.exhibits import exhibit_blocks
from gradledger.lessons.reading.figure import figure_lines
from gradledger.lessons.reading.markdown import markdown_blocks, parsed
from gradledger.lessons.repairing.judging import CLOSE, checked, concluded
from gradledger.lessons.repairing.stated import stated
from gradledger.report.cells import cells
from gradledger.report.style import StreamFacts
from gradledger.rules.catalogue import catalogue
from tests.forked import Audit, forked

LESSONS = {lesson.id: lesson for lesson in lessons()}
MYTHS = {myth.id: myth for myth in myths()}
FOLDERS = {**LESSONS, **MYTHS}

each_part = pytest.mark.parametrize("part", FOLDERS.values(), ids=FOLDERS)
each_lesson = pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)


@each_part
def test_exhibits_run_and_the_text_the_screen_and_the_quiz_agree_with_them(part: Lesson | Myth) -> None:
    """One test, because the exhibits are what takes time: each runs once."""
    found = {name: run_exhibit(part.folder, name) for name in exhibits(part.folder)}
    for one in found.values():
        assert_fits(one)
    assert_text_uses(part, found)
    for facts in (StreamFacts(), StreamFacts(unicode=False)):
        assert_fits_80_columns(part, found, facts)
    if isinstance(part, Myth):
        assert found["decide"].values["holds"] is part.truth
    else:
        for question in questions(part.folder):
            assert_decides(question, found)


def assert_fits(one: Exhibit) -> None:
    assert one.about.endswith((".", "?")), one.name
    assert len(one.printed.splitlines()) <= 24, one.name
    assert [line for line in one.printed.splitlines() if len(line) > 78] == [], one.name
    assert [line for line in one.source.splitlines() if len(line) > 78] == [], one.name


def assert_text_uses(part: Lesson | Myth, found: Mapping[str, Exhibit]) -> None:
    for piece in part.parts:
        match piece:
            case Prose():
                assert "{" not in re.sub(r"`[^`]*`|```.*?```", "", piece.filled(found), flags=re.DOTALL)
            case Predict(name=name, key=key):
                assert isinstance(found[name].values[key], int | float), f"{piece.line}: {name}.{key}"
            case Plot(name=name, key=key):
                drawn = found[name].values[key]
                assert all(len(ys) > 1 for ys in (drawn.values() if isinstance(drawn, dict) else [drawn]))


def assert_fits_80_columns(part: Lesson | Myth, found: Mapping[str, Exhibit], facts: StreamFacts) -> None:
    lines: list[str] = []
    beside = first_used(part.folder, [piece.name for piece in part.parts if isinstance(piece, Run)])
    for piece in part.parts:
        match piece:
            case Prose():
                lines += [line for block in markdown_blocks(piece.filled(found), facts) for line in block]
            case Run(name=name):
                assert all(len(line) <= 78 for one in beside[name].values() for line in one.splitlines()), (
                    name
                )
                lines += [
                    line for block in exhibit_blocks(found[name], facts, beside[name]) for line in block
                ]
            case Plot(name=name, key=key, title=title, x_label=x, y_label=y):
                lines += figure_lines(found[name].values[key], title, x, y, facts)
    assert [line for line in lines if cells(line) > 80] == []
    assert facts.unicode or all(line.isascii() for line in lines)
    assert [line for line in lines if "\\u" in line or "\\x" in line] == [], (
        "a character without an ASCII form"
    )


def assert_decides(question: Question, found: Mapping[str, Exhibit]) -> None:
    """The exhibit's value is that of the right option and of no other."""
    if question.exhibit is None:
        return
    name, _, key = question.exhibit.partition(".")
    value = found[name].values[key]
    assert question.right.value is not None, f"{question.id}: the right option has no value"
    for option in question.options:
        if option.value is not None:
            same = isinstance(option.value, bool) == isinstance(value, bool)
            close = same and option.value == pytest.approx(value, rel=1e-3, abs=1e-9)
            assert close == (option.key == question.answer), (question.id, option, value)


@each_part
def test_text_is_the_markdown_that_is_shown(part: Lesson | Myth) -> None:
    known = {
        "paragraph", "heading", "bullet_list", "ordered_list", "list_item", "table", "thead", "tbody", "tr",
        "th", "td", "inline", "fence", "text", "code_inline", "softbreak", "strong", "em", "link",
    }  # fmt: skip
    for piece in part.parts:
        if isinstance(piece, Prose):
            tokens = [inner for token in parsed(piece.text) for inner in (token, *(token.children or ()))]
            kinds = {re.sub(r"_(open|close)$", "", token.type) for token in tokens}
            assert kinds <= known


@each_part
def test_links_lead_somewhere(part: Lesson | Myth) -> None:
    for href in hrefs(part):
        rule = any(rule.code == href for rule in catalogue())
        assert href in FOLDERS or rule or re.match(r"https://[\w.-]+/", href), href


def hrefs(part: Lesson | Myth) -> Iterator[str]:
    for piece in part.parts:
        if isinstance(piece, Prose):
            for token in parsed(piece.text):
                for inner in token.children or ():
                    if inner.type == "link_open":
                        yield str(inner.attrs["href"])


@each_lesson
def test_lesson_names_rules_that_exist_and_explain_finds_it(lesson: Lesson) -> None:
    assert set(lesson.codes) <= {rule.code for rule in catalogue()}
    for code in lesson.codes:
        assert (lesson.number, lesson.title) in lessons_about(code)


@each_lesson
def test_broken_script_gives_the_stated_codes_when_read(lesson: Lesson) -> None:
    found, problem = checked(lesson.folder / "broken.py")
    assert problem == ""
    assert {one.code for one in found} == stated(lesson.folder / "broken.py").check


@each_lesson
def test_fixed_script_gives_nothing_when_read(lesson: Lesson) -> None:
    assert checked(lesson.folder / "fixed.py") == ((), "")


@each_lesson
def test_broken_script_gives_the_stated_codes_when_run(lesson: Lesson, tmp_path: Path) -> None:
    ran = judged_run(lesson, "broken.py", tmp_path)
    assert {one["code"] for one in ran.answer["findings"]} == stated(lesson.folder / "broken.py").run
    if "GL104" not in stated(lesson.folder / "broken.py").run:  # the one mistake that PyTorch does not bear
        assert ran.status == 0, ran.stderr
        assert ran.stdout.strip(), "it ends by printing its result"


@each_lesson
def test_fixed_script_gives_nothing_when_run_and_ends_with_the_weights_of_the_arithmetic(
    lesson: Lesson, tmp_path: Path
) -> None:
    ran = judged_run(lesson, "fixed.py", tmp_path)
    assert ran.status == 0, ran.stderr
    verdict = concluded((), ran.answer, ran.stderr)
    assert verdict.good, verdict
    assert verdict.distance is not None
    assert verdict.distance <= CLOSE


def judged_run(lesson: Lesson, script: str, folder: Path) -> Audit:
    """Run a copy, as a reader does: what lies inside gradledger is not taken for a user's program."""
    copy = shutil.copy(lesson.folder / script, folder)

    def run(result: Path) -> int:
        from gradledger.lessons.repairing.worker import main

        return main([str(copy), str(lesson.folder), str(result)])

    return forked(run)


@each_lesson
def test_quiz_has_questions_some_of_them_decided_by_an_exhibit(lesson: Lesson) -> None:
    asked = questions(lesson.folder)
    assert 4 <= len(asked) <= 6
    assert any(question.exhibit for question in asked)
    assert all(len(question.options) >= 2 for question in asked)


@pytest.mark.parametrize("myth", MYTHS.values(), ids=MYTHS)
def test_myth_leads_to_a_lesson(myth: Myth) -> None:
    assert myth.lesson in LESSONS


def test_every_rule_has_a_lesson() -> None:
    told = {code for lesson in LESSONS.values() for code in lesson.codes}
    assert {rule.code for rule in catalogue()} - told == set()


def test_there_are_twelve_lessons_and_eight_myths_and_each_term_has_a_lesson() -> None:
    assert list(LESSONS) == [f"l{number:02}" for number in range(1, 13)]
    assert len(MYTHS) >= 8
    assert {term.lesson for term in glossary()} <= set(LESSONS)


def test_prerequisites_come_before_and_what_comes_next_after() -> None:
    for lesson in LESSONS.values():
        assert {name for name in lesson.needs if name not in LESSONS or name >= lesson.id} == set()
        assert {name for name in lesson.next if name not in LESSONS or name <= lesson.id} == set()


def test_every_lesson_is_reached_from_the_first_by_what_comes_next() -> None:
    seen: set[str] = set()
    waiting = ["l01"]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += LESSONS[name].next
    assert seen == set(LESSONS)
