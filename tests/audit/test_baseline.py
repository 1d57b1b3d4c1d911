from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gradledger.audit import baseline as module
from gradledger.audit import place
from gradledger.audit.baseline import BaselineError, baseline_of, read_baseline, without_known, write_baseline
from gradledger.audit.source import forget
from tests.audit.windows import WINDOWS
from tests.samples import TRAIN, answer, finding


@pytest.fixture
def train(tmp_path: Path) -> Path:
    path = tmp_path / "sub" / "train.py"
    path.parent.mkdir()
    path.write_text(TRAIN)
    return path


def test_what_is_written_is_known_when_read(tmp_path: Path, train: Path) -> None:
    known = answer(finding(train, 5), finding(train, 6, code="GL105"))
    baseline = baseline_of(known, tmp_path / "known.json")
    write_baseline(baseline)
    assert read_baseline(tmp_path / "known.json") == baseline
    assert baseline.size == 2
    result = without_known(known, baseline)
    assert result.findings == ()
    assert result.notes == ("2 findings are known from the baseline known.json and not shown",)


def test_the_file_is_stable_and_says_what_it_is(tmp_path: Path, train: Path) -> None:
    path = tmp_path / "known.json"
    write_baseline(baseline_of(answer(finding(train, 5)), path))
    assert json.loads(path.read_text()) == {
        "schema": 1,
        "tool": "gradledger",
        "findings": [{"code": "GL101", "path": "sub/train.py", "text": "loss.backward()", "count": 1}],
    }


def test_moving_lines_changes_nothing(tmp_path: Path, train: Path) -> None:
    baseline = baseline_of(answer(finding(train, 5)), tmp_path / "known.json")
    train.write_text("import torch\n\n\n" + TRAIN.replace("        loss.b", "    loss.b"))
    forget()
    assert without_known(answer(finding(train, 8)), baseline).findings == ()


def test_other_text_code_or_file_is_new(tmp_path: Path, train: Path) -> None:
    baseline = baseline_of(answer(finding(train, 5)), tmp_path / "known.json")
    copy = tmp_path / "copy.py"
    copy.write_text(TRAIN)
    new = answer(finding(train, 6), finding(train, 5, code="GL105"), finding(copy, 5))
    assert without_known(new, baseline) == new


def test_standard_input_keeps_its_name(tmp_path: Path) -> None:
    known = baseline_of(answer(finding("<stdin>", 5)), tmp_path / "known.json")
    assert [key for key, _ in known.known] == [("GL101", "<stdin>", "")]


def test_a_file_on_another_drive_is_known_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "os", WINDOWS)
    monkeypatch.setattr(place, "os", WINDOWS)
    known = baseline_of(answer(finding(r"D:\data\train.py", 5)), tmp_path / "known.json")
    assert [key for key, _ in known.known] == [("GL101", "D:/data/train.py", "")]


def test_a_second_one_is_new(tmp_path: Path, train: Path) -> None:
    baseline = baseline_of(answer(finding(train, 5)), tmp_path / "known.json")
    train.write_text(TRAIN + "        loss.backward()\n")
    forget()
    result = without_known(answer(finding(train, 5), finding(train, 7)), baseline)
    assert [f.site.line for f in result.findings] == [7]
    assert result.notes == ("1 finding is known from the baseline known.json and not shown",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": 1}',
        '{"schema": 2, "findings": []}',
        '{"schema": 1, "findings": [1]}',
        '{"schema": 1, "findings": [{"code": "GL101", "path": "a", "text": "b"}]}',
        '{"schema": 1, "findings": [{"code": "GL101", "path": "a", "text": "b", "count": 0}]}',
        '{"schema": 1, "findings": [{"code": 1, "path": "a", "text": "b", "count": 1}]}',
        "[" * 100_000,
    ],
)
def test_a_damaged_baseline_is_an_error_of_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(text)
    with pytest.raises(BaselineError) as caught:
        read_baseline(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_baseline_is_an_error_that_tells_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="does not exist; --write-baseline"):
        read_baseline(tmp_path / "gone.json")


def test_a_baseline_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot be read"):
        read_baseline(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BaselineError, match="is no file"):
        read_baseline(tmp_path / "pipe")
