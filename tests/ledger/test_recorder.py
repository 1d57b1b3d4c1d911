"""What a program leaves on disk: repeated turns in one line, whole lines, little lost when it is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradledger.ledger import events as ev
from gradledger.ledger import recorder as recorder_module
from gradledger.ledger import recording as recording_module
from gradledger.ledger.recorder import Recorder
from gradledger.ledger.recording import Repeated, read, read_folded
from gradledger.report.replay.retelling import retold
from tests.report.recorded import opening, right_run, saved, site

CYCLE = [
    ev.GradientCleared(site("train.py", 5), (1,), owner=1),
    ev.BackwardRan(site("train.py", 7), (1,), loader=1),
    ev.OptimizerStepped(site("train.py", 8), (1,), 1),
]


def turned(path: Path, times: int) -> list[ev.Event]:
    """Write a run of so many equal turns, and say what it holds."""
    recorder = Recorder(path)
    for event in opening("train.py"):
        recorder.write(event)
    recorder.repeat(CYCLE, times)
    recorder.write(ev.RunEnded(None))
    assert recorder.close() == []
    return [*opening("train.py"), *CYCLE * times, ev.RunEnded(None)]


@pytest.mark.parametrize("times", [0, 1, 2, 3, 5000])
def test_a_cycle_is_read_as_often_as_it_came(tmp_path: Path, times: int) -> None:
    told = turned(tmp_path / "run.jsonl", times)
    assert list(read(tmp_path / "run.jsonl")) == told
    assert len((tmp_path / "run.jsonl").read_text().splitlines()) < 12


def test_what_repeats_itself_can_be_had_together(tmp_path: Path) -> None:
    turned(tmp_path / "run.jsonl", 64)
    (folded,) = [item for item in read_folded(tmp_path / "run.jsonl") if isinstance(item, Repeated)]
    assert (list(folded.events), folded.times) == (CYCLE, 63)


def test_numbers_are_forgotten_on_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that never repeats itself fills neither memory."""
    monkeypatch.setattr(recorder_module, "REMEMBERED", 4)
    monkeypatch.setattr(recording_module, "REMEMBERED", 4)
    others = [ev.GradientCleared(site("train.py", line), (1,), owner=1) for line in range(100, 107)]
    recorder = Recorder(tmp_path / "run.jsonl")
    told = [*opening("train.py"), *CYCLE, *others, *CYCLE, *others[:2]]
    for event in told:
        recorder.write(event)
    recorder.repeat(CYCLE, 9)
    assert recorder.close() == []
    assert list(read(tmp_path / "run.jsonl")) == [*told, *CYCLE * 9]


def test_a_recording_of_the_first_schema_is_still_read(tmp_path: Path) -> None:
    told = list(right_run("train.py", 3))
    path = saved(tmp_path / "run.jsonl", told)
    path.write_text(path.read_text().replace('"schema": 2', '"schema": 1'))
    assert list(read(path)) == told


def test_cut_off_at_any_byte(tmp_path: Path) -> None:
    """Half a number is no number, and half a line no event: what is read is always a beginning of the run."""
    told = turned(tmp_path / "run.jsonl", 40)
    data = (tmp_path / "run.jsonl").read_bytes()
    cut = tmp_path / "cut.jsonl"
    before = -1
    for length in range(data.index(b"\n"), len(data) + 1):
        cut.write_bytes(data[:length])
        events = list(read(cut))
        assert events == told[: len(events)]
        assert len(events) >= before
        before = len(events)
        if length % 97 == 0 or length == len(data):
            again = retold(str(cut), str(tmp_path))
            assert again.books.backwards == events.count(CYCLE[1])
            assert again.cut is (length < len(data))
    assert before == len(told)


KILLED = """
import os, signal, sys
from tests.ledger.test_recorder import CYCLE, opening
from gradledger.ledger.recorder import Recorder
recorder = Recorder(sys.argv[1])
for event in opening("train.py"):
    recorder.write(event)
for _ in range(5000):
    for event in CYCLE:
        recorder.write(event)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_loses_a_bounded_tail(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=Path.cwd(), check=False)
    assert done.returncode == -9
    events = list(read(path))
    assert 15_000 + 2 - recorder_module.MOST_LINES < len(events) <= 15_000 + 2
    again = retold(str(path), str(tmp_path))
    assert again.cut
    assert all(balance.balanced for balance in again.books.balances.values())


def test_an_event_after_a_quiet_second_is_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(recorder_module, "monotonic", lambda: now[0])
    recorder = Recorder(tmp_path / "run.jsonl")
    for event in opening("train.py"):
        recorder.write(event)
    assert list(read(tmp_path / "run.jsonl")) == []
    now[0] += 1.5
    recorder.write(CYCLE[0])
    assert list(read(tmp_path / "run.jsonl")) == [*opening("train.py"), CYCLE[0]]
    recorder.close()


def test_a_recording_that_cannot_begin_is_told_at_the_end(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "run.jsonl"
    recorder = Recorder(missing)
    recorder.write(CYCLE[0])
    assert recorder.close() == [f"the recording {missing} ends early: No such file or directory"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no disk here is always full")
def test_a_full_disk_ends_the_recording_and_nothing_else() -> None:
    recorder = Recorder("/dev/full")
    recorder.repeat(CYCLE, 1000)
    assert recorder.close() == ["the recording /dev/full ends early: No space left on device"]


def descriptor(path: Path) -> int:
    """The number under which this process has the file open."""
    wanted = os.stat(path)
    (found,) = [number for number in range(3, 200) if _is_open(number, wanted)]
    return found


def _is_open(number: int, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(number), wanted)
    except OSError:
        return False


@pytest.mark.parametrize("waiting", [CYCLE, []], ids=["with lines to write", "with none"])
def test_a_program_that_closes_all_its_files_is_told_of(tmp_path: Path, waiting: list[ev.Event]) -> None:
    """As one does that becomes a daemon."""
    path = tmp_path / "run.jsonl"
    recorder = Recorder(path)
    os.close(descriptor(path))
    for event in waiting:
        recorder.write(event)
    assert recorder.close() == [f"the recording {path} ends early: Bad file descriptor"]
    assert list(read(path)) == []


def test_who_has_left_the_file_to_another_writes_nothing_more(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.jsonl")
    recorder.disown()
    recorder.repeat(CYCLE, 5)
    recorder.disown()
    assert recorder.close() == []
    assert list(read(tmp_path / "run.jsonl")) == []


def test_a_value_that_equals_its_default_need_not_be_written(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.jsonl")
    recorder.write(ev.OptimizerStepped(None, (1,), 1, nonfinite=0))  # type: ignore[arg-type]
    recorder.close()
    assert "nonfinite" not in (tmp_path / "run.jsonl").read_text()
    assert list(read(tmp_path / "run.jsonl")) == [ev.OptimizerStepped(None, (1,), 1)]


def test_a_fork_leaves_the_file_to_its_parent(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.jsonl")
    told = opening("train.py")
    for event in told:
        recorder.write(event)
    child = os.fork()
    if not child:
        recorder.disown()
        recorder.repeat(CYCLE, 5)
        recorder.close()
        os._exit(0)
    os.waitpid(child, 0)
    recorder.close()
    assert list(read(tmp_path / "run.jsonl")) == told
