"""A lesson's folder is read into parts, and what is wrong with it is told with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.lessons.exhibit import run_exhibit
from gradledger.lessons.experiment_source import first_used
from gradledger.lessons.fault import CourseError
from gradledger.lessons.lesson import Plot, Predict, Prose, Run, read_lesson, read_myth
from gradledger.lessons.quiz import questions
from tests.lessons.folders import EXPERIMENT, LESSON, QUIZ, lesson_folder, myth_folder


def test_head_and_parts(tmp_path: Path) -> None:
    lesson = read_lesson(lesson_folder(tmp_path))
    assert (lesson.id, lesson.slug, lesson.number) == ("l01", "adding", 1)
    assert (lesson.title, lesson.summary, lesson.minutes) == ("Adding", "Two and two.", 3)
    assert (lesson.needs, lesson.next, lesson.codes) == ((), ("l02",), ("GL101",))
    assert [type(part) for part in lesson.parts] == [Prose, Predict, Run, Prose, Plot]
    _, predict, run, after, plot = lesson.parts
    assert (predict.name, predict.key, predict.tolerance) == ("sums", "total", 0.1)
    assert run.name == "sums"
    assert "<!-- run: nothing -->" in after.text
    assert (plot.title, plot.x_label, plot.y_label) == ("Each", "which", "how much")


def test_values_are_put_into_the_text_after_the_exhibit(tmp_path: Path) -> None:
    lesson = read_lesson(lesson_folder(tmp_path))
    values = {"sums": run_exhibit(lesson.folder, "sums")}
    assert "`{}` are braces" in lesson.parts[0].filled({})
    assert lesson.parts[3].filled(values).startswith("It is 4.00; the second is 2.0.")


def test_exhibit_shows_its_body_only(tmp_path: Path) -> None:
    exhibit = run_exhibit(lesson_folder(tmp_path), "sums")
    assert exhibit.about == "Adds two numbers."
    assert exhibit.source == 'total = _scaffold() + 2.0  # two and two\nprint("total", total)'
    assert exhibit.printed == "total 4.0\n"
    assert exhibit.values == {"total": 4.0, "each": [2.0, 2.0], "even": True}


def test_scaffolding_is_told_with_the_exhibit_that_uses_it_first(tmp_path: Path) -> None:
    folder = lesson_folder(tmp_path)
    text = (folder / "experiment.py").read_text(encoding="utf-8")
    more = text[text.index("def sums") :].replace("def sums", "def again").replace("_scaffold()", "_outer()")
    text += f"\n\n@cache\ndef _outer():\n    return _scaffold()\n\n\n{more}"
    (folder / "experiment.py").write_text(text, encoding="utf-8")
    scaffold, outer = "def _scaffold():\n    return HIDDEN", "@cache\ndef _outer():\n    return _scaffold()"
    there = first_used(folder, ["sums", "again"])
    assert there == {"sums": {"_scaffold": scaffold}, "again": {"_outer": outer}}
    back = first_used(folder, ["again", "sums"])
    assert back == {"again": {"_scaffold": scaffold, "_outer": outer}, "sums": {}}


def test_questions(tmp_path: Path) -> None:
    (question,) = questions(lesson_folder(tmp_path))
    assert (question.id, question.answer, question.exhibit) == ("sum", "b", "sums.total")
    assert question.right.why == "Count them."
    assert [option.value for option in question.options] == [3.0, 4.0]


def test_myth(tmp_path: Path) -> None:
    myth = read_myth(myth_folder(tmp_path))
    assert (myth.id, myth.claim, myth.truth, myth.lesson) == ("m01", "Two and two are five", False, "l01")
    assert run_exhibit(myth.folder, "decide").values["holds"] is False


WRONG_LESSONS = {
    "no head": ("+++\n", "", 1, "first line"),
    "open head": ("+++\n\n##", "\n##", 1, "not closed"),
    "no toml": ("minutes = 3", "minutes = three", 4, "no TOML"),
    "missing key": ('title = "Adding"', "", 2, '"title" is missing'),
    "wrong type": ("minutes = 3", 'minutes = "3"', 4, "a whole number"),
    "a list of other things": ('["l02"]', "[2]", 6, "list of strings"),
    "unknown key": ("minutes = 3", "minutes = 3\nminuets = 4", 5, "minuets"),
    "no code": ("GL101", "G101", 7, "no code"),
    "other comment": ("<!-- run: sums -->", "<!-- runs: sums -->", 15, "neither run"),
    "html": ("It is {", "<b>It</b> is {", 17, "HTML"),
    "brace": ("Before", "{Before}", 12, "doubled"),
    "lone brace": ("Before", "Before }", 12, "doubled"),
    "value before its run": ("Before", "{sums.total}", 12, "no exhibit sums was run above"),
    "predict after run": ("## Sums", "<!-- run: sums -->", 14, "nothing is left"),
    "predict never run": ("predict: sums.total", "predict: other.total", 14, "never run"),
    "predict without question": (" | What is two and two? | 0.1", "", 14, "question"),
    "predict with a word": ("| 0.1", "| roughly", 14, "no number"),
    "predict generously": ("| 0.1", "| 1.5", 14, "relative"),
    "plot without a run": ("plot: sums.each", "plot: others.each", 23, "must run before"),
    "plot in pieces": (" | how much", "", 23, "four pieces"),
    "open fence": ("```\n\n", "\n", 22, "never closed"),
    "run of two": ("run: sums", "run: sums | more", 15, "name of an exhibit"),
}


@pytest.mark.parametrize(("old", "new", "line", "said"), WRONG_LESSONS.values(), ids=WRONG_LESSONS)
def test_wrong_lesson_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    assert old in LESSON
    folder = lesson_folder(tmp_path, lesson=LESSON.replace(old, new, 1))
    with pytest.raises(CourseError) as caught:
        read_lesson(folder)
    assert str(caught.value).startswith(f"{folder / 'lesson.md'}:{line}: ")
    assert said in caught.value.problem


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{sums.total:.2f}", "{sums.sum:.2f}", "KeyError"),
        ("{sums.total:.2f}", "{sums.total:.2z}", "ValueError"),
        ("{sums.each[1]}", "{sums.each[7]}", "IndexError"),
    ],
)
def test_placeholder_without_value_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    lesson = read_lesson(lesson_folder(tmp_path, lesson=LESSON.replace(old, new)))
    with pytest.raises(CourseError, match=rf"lesson\.md:17: .*{said}"):
        lesson.parts[3].filled({"sums": run_exhibit(lesson.folder, "sums")})


WRONG_QUIZZES = {
    "no question": (QUIZ, "", 1, "no [[question]]"),
    "answer is no option": ('answer = "b"', 'answer = "c"', 4, "none of the options"),
    "no why": ('why = "Count them."\n', "", 13, '"why" is missing'),
    "unknown key": ("value = 3.0", "values = 3.0", 11, "nobody reads"),
    "value of a word": ("value = 3.0", 'value = "three"', 11, "a number"),
    "same key twice": ('key = "b"', 'key = "a"', 1, "same key"),
    "value without exhibit": ('exhibit = "sums.total"\n', "", 1, "names no exhibit"),
    "exhibit without key": ("sums.total", "sums", 5, "NAME.KEY"),
    "same id twice": (QUIZ, QUIZ + QUIZ, 19, "used above"),
}


@pytest.mark.parametrize(("old", "new", "line", "said"), WRONG_QUIZZES.values(), ids=WRONG_QUIZZES)
def test_wrong_quiz_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    assert old in QUIZ
    folder = lesson_folder(tmp_path, quiz=QUIZ.replace(old, new, 1))
    with pytest.raises(CourseError) as caught:
        questions(folder)
    assert str(caught.value).startswith(f"{folder / 'quiz.toml'}:{line}: ")
    assert said in caught.value.problem


WRONG_EXPERIMENTS = {
    "no docstring": ('    """Adds two numbers."""\n', "", "no docstring"),
    "arguments": ("def sums()", "def sums(x=1)", "takes arguments"),
    "no return": ("    return {", "    values = {", "does not end with return"),
    "syntax": ("total = ", "total == = ", "no Python"),
    "other name": ("def sums", "def sumz", "no exhibit sums (there are: sumz)"),
    "no dictionary": (
        'return {"total": total, "each": [2.0, 2.0], "even": total % 2 == 0}',
        "return 4",
        "int",
    ),
    "no plain value": ("[2.0, 2.0]", "(2.0, 2.0)", "tuple under 'each'"),
}


@pytest.mark.parametrize(("old", "new", "said"), WRONG_EXPERIMENTS.values(), ids=WRONG_EXPERIMENTS)
def test_wrong_experiment_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in EXPERIMENT
    folder = lesson_folder(tmp_path, experiment=EXPERIMENT.replace(old, new, 1))
    with pytest.raises(CourseError) as caught:
        run_exhibit(folder, "sums")
    assert said in str(caught.value)
    assert str(folder / "experiment.py") in str(caught.value)
