"""Recordings that somebody damaged or wrote by hand: told as far as they hold, or refused in one line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import httpx
import pytest

from gradledger.integrations.scalars import answer_of, points
from gradledger.ledger.recording import RecordingError
from gradledger.live import follower as following
from gradledger.live.app import live_app
from gradledger.live.follower import Follower
from gradledger.serving.server import LoopbackServer
from tests.hostile import damage
from tests.hostile.budget import chances
from tests.hostile.commands import civil
from tests.report.recorded import PROGRAM, detailed_run, right_run, saved, stale_run

FORMS = ["html", "html", "markdown", "json", "text"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def bases(tmp_path: Path) -> list[bytes]:
    train = tmp_path / "train.py"
    runs = [stale_run(train), right_run(train, every=2), detailed_run(train)]
    found = [saved(tmp_path / f"{number}.jsonl", run).read_bytes() for number, run in enumerate(runs)]
    loop = saved(tmp_path / "loop.jsonl", right_run(train, 2)).read_bytes().splitlines(keepends=True)
    return [*found, b"".join([*loop[:-1], b"[[3,4,5],20]\n", loop[-1]])]


def test_damaged_recordings_are_told_or_refused(tmp_path: Path, bases: list[bytes]) -> None:
    other = saved(tmp_path / "other.jsonl", stale_run(tmp_path / "train.py"))
    there = {path.name for path in tmp_path.iterdir()} | {"m.jsonl", "o.html"}
    ends: Counter[int] = Counter()
    for chance in chances(300):
        Path("m.jsonl").write_bytes(damage.recording(chance.choice(bases), chance))
        form = chance.choice([*FORMS, "diff"])
        argv = ["report", "m.jsonl", "--format", form]
        argv = ["diff", "m.jsonl", other.name] if form == "diff" else argv
        told = civil(*argv, *(["--output", "o.html"] if form == "html" else []))
        ends[told.code] += 1
        if form == "json" and told.code == 0:
            json.loads(told.out)
        assert {path.name for path in tmp_path.iterdir()} <= there, chance.name
    assert ends[0] + ends[1] > sum(ends.values()) / 8, ends
    assert ends[2] > sum(ends.values()) / 8, ends


def test_damaged_recordings_go_to_no_tracker_half_understood(tmp_path: Path, bases: list[bytes]) -> None:
    path = tmp_path / "m.jsonl"
    refused = 0
    for chance in chances(120):
        path.write_bytes(damage.recording(chance.choice(bases), chance))
        for read in (lambda: list(points(path)), lambda: answer_of(path)):
            try:
                read()
            except RecordingError:
                refused += 1
    assert refused


def test_the_live_page_of_damaged_recordings_says_so(
    tmp_path: Path, bases: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "PAUSE", 0.01)
    path = tmp_path / "m.jsonl"
    states: Counter[str] = Counter()
    for chance in chances(12):
        path.write_bytes(damage.recording(chance.choice(bases), chance))
        with Follower(str(path), str(tmp_path), lambda answer: answer) as follower:
            with LoopbackServer(live_app(follower.feed)) as server, httpx.Client(trust_env=False) as client:
                page = client.get(server.url, timeout=60)
                assert page.status_code == 200, chance.name
                assert "<script>alert" not in page.text
                assert client.get(server.url + "data", timeout=60).json()["verdict"]
            states[follower.state] += 1
    assert states["broken"], states


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        "1" * 10_000,
        '[3, "BackwardRan", {"accounts": "ab"}]',
        '[3, "BackwardRan", {"accounts": [1.5]}]',
        '[3, "BackwardRan", {"accounts": [1], "site": {"site": ["a\\u0000b", 1]}}]',
        '[3, "BackwardRan", {"accounts": [1], "site": {"site": ["a", "1"]}}]',
        '[3, "BackwardRan", {"accounts": [1], "site": {"site": [7, 1]}}]',
        f'[3, "AccountOpened", {{"account": 9, "size": {10**40}}}]',
        '[3, "LossSeen", {"value": "0.1"}]',
        '[3, "GradientCleared", {"accounts": [1], "to": "moon"}]',
        '[3, "__init__", {}]',
        '["3", "RunEnded", {}]',
        "true",
    ],
)
def test_a_line_of_another_kind_is_named(line: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "run.jsonl", stale_run(tmp_path / "train.py", 2))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], line, *lines[3:]]) + "\n")
    told = civil("report", "run.jsonl", "--format", "text")
    assert (told.code, told.err) == (2, "gradledger report: run.jsonl:4: this line is damaged\n")


def test_no_recording_keeps_a_reader_busy_for_ever(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.jsonl", right_run(tmp_path / "train.py", 2))
    with path.open("a") as file:
        file.write(f"[[3,4,5],{10**15}]\n")
    assert "more events than any run has" in civil("report", "run.jsonl", "--format", "text").err


def test_a_place_over_a_thousand_million_lines_costs_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.jsonl", stale_run(tmp_path / "train.py", 3))
    path.write_text(path.read_text().replace(", 7, 5, 7, 20", f", 7, 5, {10**12}, 20"))
    assert f"{10**12}" in path.read_text()
    assert "GL101" in civil("report", "run.jsonl", "--format", "text").out


def test_a_recording_is_read_up_to_any_cut_in_its_last_kilobyte(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.jsonl", detailed_run(tmp_path / "train.py", 12))
    whole = path.read_bytes()
    before = b""
    for cut in range(len(whole) - 1024, len(whole)):
        kept = whole[:cut]
        path.write_bytes(kept)
        lines = kept[: kept.rfind(b"\n") + 1]
        told = civil("report", "run.jsonl", "--format", "json")
        answer = json.loads(told.out)
        assert told.code == 0
        assert answer["checked"]["backwards"] == _passes(lines), cut
        assert any("breaks off" in note for note in answer["notes"]), cut
        if lines != before:
            also = civil("diff", "run.jsonl", "run.jsonl")
            assert also.code == 0
            assert f"backward passes     {_passes(lines)}\n" in also.out
            assert "breaks off" in also.err
        before = lines
    path.write_bytes(whole)
    assert json.loads(civil("report", "run.jsonl", "--format", "json").out)["notes"] == []


def _passes(lines: bytes) -> int:
    """How many backward passes whole lines tell of."""
    numbers: dict[str, str] = {}
    count = 0
    for line in lines.decode().splitlines()[1:]:
        item = json.loads(line)
        if isinstance(item, list):
            numbers[str(item[0])] = item[1]
            kind = item[1]
        else:
            kind = numbers[line]
        count += kind == "BackwardRan"
    return count


def test_a_header_is_no_way_in_either(tmp_path: Path) -> None:
    for text in ("", "[" * 5000, '{"recording": "gradledger", "schema": "\x1b[2J"}', "\0" * 100, "{}"):
        (tmp_path / "run.jsonl").write_text(text + "\n")
        assert civil("report", "run.jsonl").code == 2
    (tmp_path / "folder").mkdir()
    assert civil("report", "folder").code == 2
