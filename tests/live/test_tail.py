"""Lines of a file that another process writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gradledger.ledger.recording import RecordingError
from gradledger.live.tail import LONGEST, BegunAnewError, Tail, identity


class NothingNew(Exception):
    pass


def nothing() -> None:
    raise NothingNew


def then(*acts: Callable[[], object]) -> Callable[[], None]:
    """What happens each time there is nothing new."""
    left = list(acts)

    def wait() -> None:
        if not left:
            raise NothingNew
        left.pop(0)()

    return wait


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_lines_come_whole_and_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("one\ntw")
    tail = Tail(str(path), then(lambda: append(path, "o\nthr"), lambda: append(path, "ee\n")))
    assert [next(tail) for _ in range(3)] == ["one\n", "two\n", "three\n"]
    with pytest.raises(NothingNew):
        next(tail)


def test_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    tail = Tail(str(path), then(lambda: None, lambda: path.write_text("one\n")))
    assert not tail.there
    assert next(tail) == "one\n"
    assert tail.there


def test_a_known_file_is_not_the_one_that_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("old\n")
    tail = Tail(str(path), then(lambda: None, lambda: path.write_text("newer\n")), identity(str(path)))
    assert next(tail) == "newer\n"


def test_an_emptied_file_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("one\ntwo\n")
    tail = Tail(str(path), then(lambda: path.write_text("new\n")))
    assert [next(tail), next(tail)] == ["one\n", "two\n"]
    with pytest.raises(BegunAnewError):
        next(tail)


def test_a_file_written_over_with_a_longer_one_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("one\n")
    tail = Tail(str(path), then(lambda: path.write_text("another\nand longer\n")))
    next(tail)
    with pytest.raises(BegunAnewError):
        next(tail)


def test_a_file_that_was_replaced_begins_anew(tmp_path: Path) -> None:
    path, other = tmp_path / "run.jsonl", tmp_path / "other"
    path.write_text("one\n")
    other.write_text("one\ntwo\n")
    tail = Tail(str(path), then(lambda: os.replace(other, path)))
    next(tail)
    with pytest.raises(BegunAnewError):
        next(tail)


def test_a_file_that_was_removed_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("one\ntwo\n")
    tail = Tail(str(path), nothing)
    next(tail)
    path.unlink()
    assert next(tail) == "two\n"
    with pytest.raises(NothingNew):
        next(tail)


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b"x" * (LONGEST + 2)], ids=["bytes", "no lines"])
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match="not a recording"):
        next(Tail(str(path), nothing))


def test_it_only_reads(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("one\n")
    path.chmod(0o444)
    before = identity(str(path))
    next(Tail(str(path), nothing))
    assert identity(str(path)) == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.jsonl"]
