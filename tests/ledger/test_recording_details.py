"""What is written to a recording is read back, details included."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradledger.ledger import details as d
from gradledger.ledger import events as ev
from gradledger.ledger.recorder import Recorder
from gradledger.ledger.recording import RecordingError, read
from gradledger.ledger.site import Site

SITE = Site("train.py", 7, 5, 7, 20, "train")
SEEN = d.TensorSeen("x", (4, 2), "float32", (0.5, -1.0, float("inf")))
DETAILS = [
    d.StepsWanted(None, (1, 2)),
    d.ParametersNamed(None, 1, ("0.weight", "0.bias")),
    d.BatchTaken(SITE, 1, (SEEN, d.TensorSeen("y", (4,), "int64"))),
    d.ForwardSeen(SITE, "Net", (SEEN,), (SEEN,)),
    d.LayerSeen(None, "0", "Linear", (SEEN,), ()),
    d.LayerGradientSeen(None, "0", 0.25),
    d.LossSeen(SITE, 0.5, 2.0, 4),
    d.CriterionCalled(SITE, "cross_entropy", 2.0, (SEEN,)),
    d.AccuracySeen(SITE, 0.75, 4),
    d.NormSeen(SITE, (1, 2), 1.0, 3.0),
    d.NormSeen(SITE, (1,), 1.0),
    d.RateSeen(None, 1, 0.1),
    d.ScaleSeen(None, 3, 65536.0),
    d.MemorySeen(None, 1024),
    d.ParameterSeen(None, (SEEN,), (SEEN,)),
    d.ParameterSeen(None, (), (SEEN,)),
    d.MetricSeen(None, "acc", 0.5),
    d.LoopTurned(SITE),
]


def written(path: Path, events: list[ev.Event]) -> Path:
    recorder = Recorder(path)
    for event in events:
        recorder.write(event)
    assert recorder.close() == []
    return path


def test_every_detail_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert list(read(written(tmp_path / "run.jsonl", DETAILS))) == DETAILS
    kinds = {k for k in vars(d).values() if isinstance(k, type) and issubclass(k, d.Detail)} - {d.Detail}
    assert {type(detail) for detail in DETAILS} == kinds  # a new kind has to be added here


def test_events_are_numbered_and_details_are_not_remembered(tmp_path: Path) -> None:
    event = ev.BackwardRan(SITE, (1,), loader=1)
    path = written(tmp_path / "run.jsonl", [event, DETAILS[6], event, DETAILS[6]])
    lines = path.read_text().splitlines()
    assert [line[0] for line in lines[1:]] == ["[", "[", "1", "["]
    assert list(read(path)) == [event, DETAILS[6], event, DETAILS[6]]


def test_a_recording_of_details_that_was_cut_off_is_read_up_to_the_cut(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", DETAILS)
    text = path.read_text()
    path.write_text(text[: text.rindex('"LoopTurned"')])
    assert list(read(path)) == DETAILS[:-1]


def test_a_damaged_tensor_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", DETAILS[2:3])
    path.write_text(path.read_text().replace('"float32", ', ""))
    with pytest.raises(RecordingError, match=r"run\.jsonl:2"):
        list(read(path))


@pytest.mark.parametrize("line", [7.0, True, "7", None, [7]])
def test_a_place_is_looked_at_also_when_one_like_it_was_good(line: object, tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", [d.LoopTurned(SITE)])
    good = path.read_text().splitlines(keepends=True)[-1]
    assert '"train.py", 7, ' in good
    bad = good.replace('"train.py", 7, ', f'"train.py", {json.dumps(line)}, ')
    path.write_text(path.read_text() + bad)
    with pytest.raises(RecordingError, match="damaged"):
        list(read(path))
