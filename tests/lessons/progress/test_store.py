"""Progress survives other processes, corruption, other versions and folders that cannot be written to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradledger.ledger.record import replace
from gradledger.lessons.progress.lock import BusyError, locked
from gradledger.lessons.progress.state import Card, Exercise, Place, Progress, Score, as_json, from_json
from gradledger.lessons.progress.store import Store, usual_folder

FULL = Progress(
    last="l07",
    places={"l07": Place(3, 9), "l01": Place(0, 5, done=True)},
    quizzes={"l07": Score(4, 6)},
    predictions={"l02": Score(1, 2)},
    myths={"m01": Score(0, 1)},
    repairs={"l07": Exercise("/here/l07.py", done=True)},
    cards={"l07.tail": Card(2, 1234.5)},
)


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, notes: list[str]) -> Store:
    return Store(tmp_path / "data", notes.append)


def place(progress: Progress, name: str) -> Progress:
    return replace(progress, places={**progress.places, name: Place(1, 9)})


def test_everything_comes_back(store: Store, notes: list[str]) -> None:
    assert store.read() == Progress()
    store.change(lambda _: FULL)
    assert Store(store.path.parent, notes.append).read() == FULL
    assert from_json(json.loads(json.dumps(as_json(FULL)))) == FULL
    assert notes == []


def test_reading_alone_writes_nothing(store: Store) -> None:
    store.read()
    assert not store.path.parent.exists()


def test_a_change_is_made_to_what_another_has_written(store: Store, notes: list[str]) -> None:
    other = Store(store.path.parent, notes.append)
    store.change(lambda p: place(p, "l01"))
    other.change(lambda p: place(p, "l02"))
    store.change(lambda p: place(p, "l03"))
    assert set(other.read().places) == {"l01", "l02", "l03"}


def test_processes_at_once_lose_nothing(store: Store) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from gradledger.ledger.record import replace\n"
        "from gradledger.lessons.progress.state import Place\n"
        "from gradledger.lessons.progress.store import Store\n"
        "store = Store(Path(sys.argv[1]), print)\n"
        "for n in range(40):\n"
        "    name = sys.argv[2] + str(n)\n"
        "    store.change(lambda p: replace(p, places={**p.places, name: Place(1, 9)}))\n"
    )
    calls = [[sys.executable, "-c", script, str(store.path.parent), name] for name in "abc"]
    running = [subprocess.Popen(call, stdout=subprocess.PIPE, text=True) for call in calls]
    assert [process.communicate(timeout=60)[0] for process in running] == ["", "", ""]
    assert len(store.read().places) == 120


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "\xff\xfe",
        '{"last": "l07"}',
        '{"version": 1, "cards": {"x": {"box": "one", "due": 1}}}',
        '{"version": 1, "places": {"l07": {"part": 1}}}',
        '{"version": 1, "places": []}',
        '{"version": 1, "last": 7}',
        "[" * 100_000,
    ],
    ids=["cut off", "a list", "no utf-8", "no version", "a word for a number", "a field missing",
         "a list inside", "a number for a name", "endlessly deep"],
)  # fmt: skip
def test_a_corrupt_file_is_set_aside_with_a_note(store: Store, notes: list[str], text: str) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(text.encode("latin-1"))
    assert store.read() == Progress()
    aside = store.path.with_name("learn.unreadable-1.json")
    assert aside.read_bytes() == text.encode("latin-1")
    assert len(notes) == 1
    assert str(aside) in notes[0]
    store.change(lambda p: place(p, "l01"))
    assert set(store.read().places) == {"l01"}


def test_two_corrupt_files_are_both_kept(store: Store) -> None:
    store.path.parent.mkdir()
    for _ in range(2):
        store.path.write_text("{", encoding="utf-8")
        store.read()
    assert {path.name for path in store.path.parent.glob("*.json")} == {
        "learn.unreadable-1.json",
        "learn.unreadable-2.json",
    }


def test_fields_of_a_later_day_are_no_corruption() -> None:
    text = {"version": 1, "more": 1, "cards": {"x": {"box": 1, "due": 2, "colour": "red"}}}
    assert from_json(text).cards == {"x": Card(1, 2)}


def test_a_file_of_a_newer_version_is_left_alone(store: Store, notes: list[str]) -> None:
    store.path.parent.mkdir()
    store.path.write_text('{"version": 99}', encoding="utf-8")
    store.change(lambda p: place(p, "l01"))
    assert set(store.change(lambda p: place(p, "l02")).places) == {"l01", "l02"}
    assert store.path.read_text(encoding="utf-8") == '{"version": 99}'
    assert len(notes) == 1
    assert "version 99" in notes[0]


def test_a_folder_that_cannot_be_made_costs_one_note_and_nothing_else(
    tmp_path: Path, notes: list[str]
) -> None:
    (tmp_path / "data").write_text("a file", encoding="utf-8")
    store = Store(tmp_path / "data", notes.append)
    store.change(lambda p: place(p, "l01"))
    assert set(store.change(lambda p: place(p, "l02")).places) == {"l01", "l02"}
    assert set(store.read().places) == {"l01", "l02"}
    assert len(notes) == 1
    assert "not kept" in notes[0]


def test_a_full_disk_costs_one_note_and_leaves_the_old_file(store: Store, notes: list[str]) -> None:
    store.change(lambda p: place(p, "l01"))
    before = store.path.read_bytes()
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from gradledger.lessons.progress.state import Place\n"
        "from gradledger.ledger.record import replace\n"
        "from gradledger.lessons.progress.store import Store\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))\n"
        "store = Store(Path(sys.argv[1]), print)\n"
        "for n in range(3):\n"
        "    p = store.change(lambda p: replace(p, places={**p.places, str(n): Place(1, 9)}))\n"
        "print(len(p.places))\n"
    )
    call = [sys.executable, "-c", script, str(store.path.parent)]
    done = subprocess.run(call, capture_output=True, text=True, check=True, timeout=60)
    note, count = done.stdout.splitlines()
    assert "progress is not kept this time" in note
    assert count == "4"
    assert store.path.read_bytes() == before
    assert [path.name for path in store.path.parent.iterdir() if path.name.endswith(".new")] == []


def test_who_waits_too_long_for_the_lock_is_told(tmp_path: Path) -> None:
    with locked(tmp_path / "lock"), pytest.raises(BusyError), locked(tmp_path / "lock", patience=0):
        pass
    with locked(tmp_path / "lock", patience=0):
        pass


def test_forgetting(store: Store) -> None:
    assert store.forget() is False
    store.change(lambda p: place(p, "l01"))
    assert store.forget() is True
    assert store.read() == Progress()


def test_the_folder_is_the_users_or_the_one_that_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GRADLEDGER_DATA", str(tmp_path))
    assert usual_folder() == tmp_path
    monkeypatch.delenv("GRADLEDGER_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    if sys.platform == "linux":
        assert usual_folder() == tmp_path / "xdg" / "gradledger"
    assert os.fspath(usual_folder()).endswith("gradledger")
