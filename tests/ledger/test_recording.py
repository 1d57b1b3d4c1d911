from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.ledger import events as ev
from gradledger.ledger import recording
from gradledger.ledger.recording import RecordingError, read, read_lines
from tests.report.recorded import detailed_run, right_run, saved


def test_details_come_back_as_they_were(tmp_path: Path) -> None:
    told = list(detailed_run("train.py", 3))
    assert list(read(saved(tmp_path / "run.jsonl", told))) == told


def test_a_repeated_event_is_one_object_again(tmp_path: Path) -> None:
    events = list(read(saved(tmp_path / "run.jsonl", right_run("train.py", 3))))
    passes = [event for event in events if isinstance(event, ev.BackwardRan)]
    assert len(passes) == 3
    assert passes[0] is passes[2]


def test_lines_that_are_still_coming(tmp_path: Path) -> None:
    told = list(right_run("train.py", 3))
    with saved(tmp_path / "run.jsonl", told).open() as lines:
        events = read_lines(lines, "run.jsonl")
        assert next(events) == told[0]
        assert list(events) == told[1:]


def test_up_to_the_cut(tmp_path: Path) -> None:
    whole = saved(tmp_path / "run.jsonl", right_run("train.py", 3)).read_text()
    cut = tmp_path / "cut.jsonl"
    cut.write_text(whole[:-7])
    assert len(list(read(cut))) == len(list(right_run("train.py", 3))) - 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello\n", "not a recording"),
        ('{"recording": "gradledger", "schema": 99, "version": "7.0"}\n', "written by gradledger 7.0"),
        ('{"recording": "gradledger", "schema": 1}\n5\n', ":2: this line is damaged"),
        ('{"recording": "gradledger", "schema": 1}\n[1, "Nonsense", {}]\n', "damaged"),
        ('{"recording": "gradledger", "schema": 1}\n[1, "RunEn\n7\n', "damaged"),
        ('{"recording": "gradledger", "schema": 2}\n[1, "RunEnded", {}]\n[[1], -1]\n', ":3: this line is"),
        ('{"recording": "gradledger", "schema": 2}\n[1, "RunEnded", {}]\n[[1], true]\n', ":3: this line is"),
        ('{"recording": "gradledger", "schema": 2}\n["1", "RunEnded", {}]\n', ":2: this line is"),
    ],
)
def test_what_is_no_recording(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(RecordingError, match=said):
        list(read(path))


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(RecordingError, match="not a recording of gradledger"):
        list(read(path))
    path.write_bytes(b'{"recording": "gradledger", "schema": 2}\n[1, "RunEnded", {}]\n["\xff"]\n')
    with pytest.raises(RecordingError, match=":3: this line is damaged"):
        list(read(path))


def test_more_events_than_any_run_has_are_not_gone_through() -> None:
    ended = ev.RunEnded(None)
    items = recording.unfolded([ended, recording.Repeated((ended, ended), recording.MOST_TIMES)])
    assert next(items) is ended
    with pytest.raises(RecordingError, match="more events than any run has"):
        next(items)
