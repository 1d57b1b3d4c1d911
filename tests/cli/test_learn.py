"""`gradledger learn` at a terminal, through pipes, and where things are missing."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from gradledger.cli.main import main
from gradledger.lessons.catalogue import glossary, lesson, lessons
from gradledger.lessons.quiz import questions
from gradledger.report.cells import cells
from tests.cli.conftest import Started
from tests.lessons.terminal import Terminal

BACK = "-- Enter: back to the overview --"
ON = "-- Enter: on"
ANSWER = "your answer"


@pytest.mark.slow
def test_nine_ways_by_keyboard_in_80_columns_without_colours(tmp_path: Path) -> None:
    with Terminal("learn", cwd=tmp_path, NO_COLOR="1") as screen:
        screen.until("learn> ")

        screen.type("GL103")  # a rule's code reads its lesson
        screen.until("Lesson 7: Once per window", ON)
        screen.type("9")
        screen.until("Please press Enter, b, or q to stop.")
        screen.type("q")
        screen.until("learn> ")

        screen.type("1")  # read, up to the first question, and stop there
        while screen.until(ON, ANSWER) == ON:
            screen.type("")
        screen.type("q")
        screen.until("Go on with: gradledger learn read 1", "learn> ")

        screen.type("")  # goes on there
        screen.until("You stopped at part")
        screen.type("")
        while (asked := screen.until(ON, ANSWER, BACK)) != BACK:
            screen.type("8" if asked == ANSWER else "")
        screen.type("")
        screen.until("done")

        screen.type("predict 1")
        while (asked := screen.until(ANSWER, BACK)) != BACK:
            screen.type("what" if "That is not a number" not in screen.text else "8")
        assert "Right: you said 8; it is 8." in screen.text
        screen.type("")

        screen.until("learn> ")
        screen.type("myths 1")
        screen.until("Is it true")
        screen.type("perhaps")
        screen.until("Please answer yes, no")
        screen.type("no")
        while screen.until(ON, BACK) == ON:
            screen.type("")
        assert "The experiment says" in screen.text
        screen.type("")

        screen.until("learn> ")
        screen.type("quiz 1")
        wrong = [next(o.key for o in q.options if o.key != q.answer) for q in questions(lesson(1).folder)]
        for key in wrong:
            screen.until(ANSWER)
            screen.type(key)
        screen.until(f"0 of {len(wrong)} right.", BACK)
        screen.until(BACK)
        screen.type("")
        screen.until(f"cards due: {len(wrong)}")

        screen.type("recall")
        by_card = sorted((q.id, q.answer) for q in questions(lesson(1).folder))
        answers = dict(by_card)
        for _ in wrong:
            screen.until(ANSWER)
            shown = screen.text[screen.text.rindex("Card ") :]
            flat = " ".join(shown.split())
            card = next(q for q in questions(lesson(1).folder) if " ".join(q.text.split())[:30] in flat)
            screen.type(answers[card.id])
        screen.until(f"{len(wrong)} of {len(wrong)} recalled.")
        screen.until("The next card is due in 1 day.")
        screen.until(BACK)
        screen.type("")

        screen.until("learn> ")
        screen.type(f"glossary {glossary()[0].name}")
        screen.until(f"gradledger learn read {int(glossary()[0].lesson[1:])}")
        screen.until(BACK)
        screen.type("")

        screen.until("learn> ")
        screen.type("repair 1")
        screen.until("Wrote l01_what_a_gradient_is.py")
        screen.until(BACK)
        screen.type("")
        screen.until("learn> ")
        screen.type("repair 1")
        screen.until("no  its weights")
        screen.until("Not yet.")
        screen.until("gradledger explain GL106")
        screen.until(BACK)
        screen.type("")
        shutil.copy(lesson(1).folder / "fixed.py", tmp_path / "l01_what_a_gradient_is.py")
        screen.until("learn> ")
        screen.type("repair l01")
        screen.until("Mended")
        screen.until(BACK)
        screen.type("")

        screen.until("scripts mended: 1")
        screen.type("measure 3")
        screen.until("On this machine")
        screen.until(BACK)
        screen.type("")

        screen.until("learn> ")
        screen.type("trace 1")
        screen.until("The broken one: gradledger learn trace 1 broken")
        screen.until(BACK)
        screen.type("")

        screen.until("learn> ")
        screen.type("quiz 99")
        screen.until('there is no lesson "99"')
        screen.until(BACK)
        screen.type("")
        screen.until("learn> ")
        screen.type("nonsense")
        screen.until("there is no lesson")
        screen.until(BACK)
        screen.type("")
        screen.until("learn> ")
        screen.type("q")
        assert screen.end() == 0

    assert [line for line in screen.bare if cells(line) > 80] == []
    assert "\x1b[" not in screen.text.replace("\x1b[K", "")
    assert "Traceback" not in screen.text
    kept = json.loads((tmp_path / "data" / "learn.json").read_text(encoding="utf-8"))
    assert kept["places"]["l01"]["done"] is True
    assert kept["quizzes"]["l01"] == {"right": 0, "of": len(wrong)}
    assert {card["box"] for card in kept["cards"].values()} == {2}
    assert kept["repairs"]["l01"]["done"] is True


def test_back_goes_further_back_each_time_and_asks_nothing_twice(tmp_path: Path) -> None:
    with Terminal("learn", "read", "1", cwd=tmp_path, NO_COLOR="1") as screen:
        screen.until(ON)
        screen.type("")
        screen.until("By how many h does the loss", ANSWER)
        screen.type("8")
        screen.until("Right: you said 8", ON)
        screen.until(ON)
        screen.type("")
        screen.until("Do not believe it", ANSWER)
        screen.until(ANSWER)
        screen.type("12")
        screen.until("Right: you said 12")
        screen.until(ON)
        for earlier in ("By hand it is the chain rule", "> One weight, one bias", "Before we can keep books"):
            screen.type("b")
            screen.until(earlier)
            assert screen.until(ON, ANSWER) == ON
        screen.type("q")
        assert screen.end() == 0


def test_a_new_process_knows_what_was_done_and_ctrl_d_leaves(tmp_path: Path) -> None:
    place = {"part": 2, "parts": 9, "done": False}
    (tmp_path / "data").mkdir()
    text = json.dumps(
        {"version": 1, "last": "l07", "places": {"l07": place}, "quizzes": {"l01": {"right": 2, "of": 4}}}
    )
    (tmp_path / "data" / "learn.json").write_text(text, encoding="utf-8")
    with Terminal("learn", cwd=tmp_path) as screen:
        screen.until("2/9")
        screen.until("Go on with: gradledger learn read 7")
        screen.until("learn>")
        screen.type("\x04")
        assert screen.end() == 0
    assert any("2/4" in line for line in screen.bare)
    assert "\x1b[1m" in screen.text  # colours, as nobody forbids them


def test_the_playground_is_served_until_ctrl_c(tmp_path: Path) -> None:
    with Terminal("learn", "--web", "--no-browser", cwd=tmp_path) as screen:
        screen.until("http://127.0.0.1:")
        screen.until("Ctrl-C ends it.")
        screen.type("\x03")
        assert screen.end() in (0, 130)
    assert "Traceback" not in screen.text


def test_without_a_terminal_the_overview_is_printed_and_nothing_asked(
    command: Started, tmp_path: Path
) -> None:
    done = command("learn", GRADLEDGER_DATA=str(tmp_path / "data"))
    assert done.returncode == 0
    assert done.stderr == ""
    for one in lessons():
        assert one.title in done.stdout
    assert "gradledger learn quiz LESSON" in done.stdout
    assert "learn>" not in done.stdout
    assert max(cells(line) for line in done.stdout.splitlines()) <= 80
    assert not (tmp_path / "data").exists()


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run a command in this process, which has torch, with streams that are no terminal."""
    monkeypatch.setenv("GRADLEDGER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["learn", *words])
        said = capsys.readouterr()
        # The test's own folder may have a long name, and a path is not broken.
        shown = said.out.replace(str(tmp_path), "folder").splitlines()
        assert [line for line in shown if cells(line) > 80] == []
        return status, said.out, said.err

    return run


def test_a_lesson_is_read_through_a_pipe(piped, tmp_path: Path) -> None:
    status, out, err = piped("read", "1")
    assert (status, err) == (0, "")
    assert out.startswith(f"Lesson 1: {lesson(1).title}\n")
    assert "gradledger learn quiz 1" in out
    assert not (tmp_path / "data").exists()


def test_other_ways_through_a_pipe(piped) -> None:
    status, out, _ = piped("predict", "1")
    assert status == 0
    assert "The answer: 8." in out
    status, out, _ = piped("quiz", "1")
    assert status == 0
    asked = questions(lesson(1).folder)
    assert out.index("Answers") > out.index(f"question {len(asked)} of {len(asked)}")
    status, out, _ = piped("recall")
    assert (status, "nothing to recall" in out) == (0, True)
    status, out, _ = piped("myths", "1")
    assert status == 0
    assert out.count("The experiment says") == 1
    status, out, _ = piped("glossary")
    assert (status, all(term.name in out for term in glossary())) == (0, True)


def test_measurements_with_a_picture(piped, tmp_path: Path) -> None:
    status, out, _ = piped("measure", "6", "--output", str(tmp_path / "plots.png"))
    assert status == 0
    assert (tmp_path / "plots.png").read_bytes().startswith(b"\x89PNG")
    assert "accumulation saves memory" in " ".join(out.split())
    rows = [line.split() for line in out.splitlines()]
    cut = [row for row in rows if len(row) == 5 and row[0] in ("64", "2048")]
    assert float(cut[0][-1]) < 1e-5  # the same gradient, cut into pieces or not
    assert float(cut[0][2]) < float(cut[1][2])  # in less memory


def test_a_rules_code_opens_its_lesson(piped) -> None:
    assert piped("GL106")[1].startswith("Lesson 1:")


WRONG = {
    "dance": 'no way to learn called "dance"',
    "read 99": 'no lesson "99"',
    "read 1 2": "which lesson",
    "quiz": "which lesson",
    "trace 1 sideways": 'no "sideways"',
    "myths 99": 'no myth "99"',
    "measure 4": "lessons 3 and 6 are measured",
    "recall 3": "takes nothing",
    "glossary flux capacitor": 'no "flux capacitor"',
    "repair 1 a b": "at most one file",
    "repair 1 no/such/folder/x.py": "cannot write",
    "repair 1 .": "is a folder",
    "GL999": "no lesson explains GL999",
    "--web read": "takes nothing else",
    "--web --reset": "takes nothing else",
    "--output x.png read 1": "--output belongs to measure",
    "--port 80 read 1": "belong to --web",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_cannot_be_done_is_said_in_one_line(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRADLEDGER_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["learn", *line.split()]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("gradledger learn: ")
    assert said.err.count("\n") == 1
    assert WRONG[line] in said.err


HIDING = """
import sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        hidden = name.partition('.')[0] == {module!r}
        return None if hidden else self.finder.find_spec(name, path, target)
sys.meta_path[:] = map(Without, sys.meta_path)
from gradledger.cli.main import main
sys.exit(main(['learn', *{words!r}]))
"""


@pytest.mark.parametrize("module", ["rich", "markdown_it", "platformdirs", "torch", "uvicorn"])
def test_what_is_not_installed_is_said_in_one_line(python: Started, module: str, tmp_path: Path) -> None:
    words = ["--web", "--no-browser"] if module == "uvicorn" else ["read", "1"]
    done = python("-c", HIDING.format(module=module, words=words), GRADLEDGER_DATA=str(tmp_path / "data"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("gradledger learn: ")
    assert "pip install 'gradledger[" in done.stderr


def test_reset_forgets(piped, tmp_path: Path) -> None:
    assert piped("--reset")[1] == "There is nothing to forget.\n"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "learn.json").write_text('{"version": 1, "last": "l02"}', encoding="utf-8")
    assert piped("--reset")[1].startswith("Forgotten: ")
    assert not (tmp_path / "data" / "learn.json").exists()


def test_a_script_of_the_reader_that_does_not_run_is_judged_with_its_error(piped, tmp_path: Path) -> None:
    path = tmp_path / "l01_what_a_gradient_is.py"
    path.write_text("def (\n", encoding="utf-8")
    status, out, _ = piped("repair", "1")
    assert status == 1
    assert "cannot read it: line 1" in out
    assert "Not yet." in out


def test_what_was_mended_stays_mended_whatever_is_tried_afterwards(piped, tmp_path: Path) -> None:
    kept = tmp_path / "data" / "learn.json"
    kept.parent.mkdir()
    mended = {"version": 1, "repairs": {"l01": {"path": str(tmp_path / "first.py"), "done": True}}}
    kept.write_text(json.dumps(mended), encoding="utf-8")
    (tmp_path / "second.py").write_text("def (\n", encoding="utf-8")
    assert piped("repair", "1", "second.py")[0] == 1
    assert piped("repair", "1", "third.py")[0] == 0  # handed out anew
    now = json.loads(kept.read_text(encoding="utf-8"))["repairs"]["l01"]
    assert now == {"path": str(tmp_path / "third.py"), "done": True}


@pytest.mark.parametrize("words", [["--help"], [], ["quiz", "1"], ["recall"], ["glossary"], ["repair", "2"]])
def test_torch_is_not_imported_for_what_needs_none(python: Started, words: list[str], tmp_path: Path) -> None:
    code = (
        "import sys\nfrom gradledger.cli.main import main\n"
        f"try: main(['learn', *{words!r}])\nexcept SystemExit: pass\n"
        "print('torch' in sys.modules, file=sys.stderr)"
    )
    done = python("-c", code, GRADLEDGER_DATA=str(tmp_path))
    assert done.stderr.split() == ["False"]
    assert done.stdout


def test_a_reader_who_leaves_early_is_no_error(command: Started, tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("pipes of a shell")
    import os
    import subprocess

    call = f"{sys.executable} -m gradledger learn quiz 1 | head -n 1; echo ${{PIPESTATUS[0]}}"
    env = {**os.environ, "GRADLEDGER_DATA": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", call], capture_output=True, text=True, env=env, check=False, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[0].startswith("Lesson 1, question 1")
