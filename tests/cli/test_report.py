from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.report.recorded import PROGRAM, right_run, saved, stale_run

SCRIPT = """\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    loss = model(torch.ones(4, 2)).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    train = tmp_path / "train.py"
    train.write_text(PROGRAM)
    os.utime(train, (1, 1))
    return saved(tmp_path / "run.jsonl", stale_run(train))


def test_the_page_lies_beside_the_recording(command, recording: Path) -> None:
    done = command("report", "run.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 error (report in run.html)" in done.stdout
    assert "GL101" in recording.with_suffix(".html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("form", "sign"), [("markdown", "## ❌ gradledger"), ("json", '"code": "GL101"'), ("text", "GL101 stale")]
)
def test_other_forms_on_stdout_or_in_a_file(command, recording: Path, form: str, sign: str) -> None:
    assert sign in command("report", "run.jsonl", "--format", form).stdout
    command("report", "run.jsonl", "--format", form, "--output", "out.txt")
    assert sign in (recording.parent / "out.txt").read_text(encoding="utf-8")


def test_selection(command, recording: Path) -> None:
    whole = json.loads(command("report", "run.jsonl", "--format", "json", "--ignore", "GL101").stdout)
    assert whole["findings"] == []
    assert command("report", "run.jsonl", "--select", "nonsense").returncode == 2


def test_a_recording_that_breaks_off(command, recording: Path) -> None:
    recording.write_text(recording.read_text()[:-30])
    done = command("report", "run.jsonl")
    assert done.returncode == 0
    assert "note: the recording breaks off" in done.stdout
    assert "breaks off" in recording.with_suffix(".html").read_text(encoding="utf-8")


def test_source_that_changed_or_went(command, recording: Path) -> None:
    train = recording.parent / "train.py"
    os.utime(train, (9e9, 9e9))
    assert "was changed after this run" in command("report", "run.jsonl").stdout
    train.unlink()
    done = command("report", "run.jsonl")
    assert done.returncode == 0
    assert "is not here" in done.stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello\n", "not a recording of gradledger"),
        (b"\x89PNG\r\n\xff\xfe", "not a recording of gradledger"),
        (b'{"recording": "gradledger", "schema": 3, "version": "9"}\n', "written by gradledger 9"),
        (b'{"recording": "gradledger", "schema": 1}\n77\n1\n', ":2: this line is damaged"),
        (b"", "not a recording of gradledger"),
    ],
)
def test_what_cannot_be_read_is_one_line(command, tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "run.jsonl").write_bytes(content)
    for args in (("report", "run.jsonl"), ("diff", "run.jsonl", "run.jsonl")):
        done = command(*args)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run.html").exists()


def test_no_such_file_and_no_such_folder(command, recording: Path) -> None:
    assert "No such file" in command("report", "nope.jsonl").stderr
    done = command("report", "run.jsonl", "--output", "no/such/folder.html")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_diff(command, recording: Path) -> None:
    saved(recording.parent / "better.jsonl", right_run(recording.parent / "train.py"))
    better = command("diff", "run.jsonl", "better.jsonl")
    assert better.returncode == 0
    assert "gone   GL101" in better.stdout
    worse = command("diff", "better.jsonl", "run.jsonl")
    assert worse.returncode == 1
    assert command("diff", "better.jsonl", "run.jsonl", "--exit-zero").returncode == 0


def test_report_and_diff_load_no_torch(python, recording: Path) -> None:
    code = (
        "import sys; from gradledger.cli.main import main; main(['report', 'run.jsonl']);"
        "main(['diff', 'run.jsonl', 'run.jsonl']); sys.exit('torch' in sys.modules)"
    )
    assert python("-c", code).returncode == 0


def test_a_run_with_a_page(command, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "tmp").mkdir()
    done = command("run", "--report", "run.html", "train.py", TMPDIR=str(tmp_path / "tmp"))
    assert done.returncode == 1
    assert "the run as a page:" in done.stderr
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "GL101" in text
    assert '<span class="added">' in text
    assert list((tmp_path / "tmp").glob("gradledger-page-*")) == []


def test_a_run_that_ends_at_once_leaves_nothing_behind(command, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{SCRIPT}import os; os._exit(3)\n")
    (tmp_path / "tmp").mkdir()
    done = command("run", "--report", "run.html", "train.py", TMPDIR=str(tmp_path / "tmp"))
    assert done.returncode == 3
    assert "GL101" in (tmp_path / "run.html").read_text(encoding="utf-8")
    assert list((tmp_path / "tmp").glob("gradledger-page-*")) == []


def test_a_run_without_torch(command, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('hi')")
    assert command("run", "--report", "run.html", "train.py").returncode == 0
    assert "Nothing was trained" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_a_recording_that_lay_there_before_is_not_this_run(command, recording: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('hi')")
    assert command("run", "--save", recording.name, "--report", "run.html", "train.py").returncode == 0
    assert "Nothing was trained" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_a_run_with_a_page_and_a_recording(command, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        SCRIPT.replace("    loss.backward()", "    loss.backward(); 1 / (_ - 3)")
    )
    done = command("run", "--save", "run.jsonl", "--report", "run.html", "train.py")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert (tmp_path / "run.jsonl").exists()
    assert "GL101" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_told_before_the_run(command, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('ran')")
    done = command("run", "--report", "no/folder/run.html", "train.py")
    assert done.returncode == 2
    assert "ran" not in done.stdout


def test_without_matplotlib_one_line_says_what_to_install(command, recording: Path) -> None:
    tmp_path = recording.parent
    (tmp_path / "matplotlib.py").write_text("raise ImportError('hidden')\n")
    done = command("report", "run.jsonl", "--format", "png")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gradledger report: a picture needs matplotlib: pip install 'gradledger[plots]'\n"
    assert not (tmp_path / "run.png").exists()


def test_the_command_writes_beside_the_recording_or_where_it_is_told(command, recording: Path) -> None:
    tmp_path = recording.parent
    done = command("report", "run.jsonl", "--format", "png")
    assert done.returncode == 0, done.stderr
    assert "1 error (report in run.png)" in done.stdout
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert command("report", "run.jsonl", "--format", "svg", "--output", "no/where.svg").returncode == 2
