"""What somebody's recording names is read only inside the folders that the user has named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradledger.audit.reach import Confined, content, within


def test_everything_may_be_read_where_nothing_was_said(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    assert within("/etc/hostname")
    assert content(str(tmp_path / "a.py")) == b"x = 1\n"
    assert content(str(tmp_path / "missing.py")) is None


def test_only_what_lies_inside_and_what_links_lead_to_counts(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.py").write_bytes(folder.name.encode())
    (inside / "link.py").symlink_to(outside / "a.py")
    (outside / "link.py").symlink_to(inside / "a.py")
    with Confined(str(inside)):
        assert content(str(inside / "a.py")) == b"inside"
        assert content(str(outside / "a.py")) is None
        assert content(str(inside / "link.py")) is None
        assert content(str(outside / "link.py")) == b"inside"
        assert content(str(inside / ".." / "outside" / "a.py")) is None
        assert not within(str(tmp_path / "inside_not"))
        assert not within("a\0b")
    assert content(str(outside / "a.py")) == b"outside"


def test_the_inner_of_two_contexts_counts_until_it_ends(tmp_path: Path) -> None:
    with Confined(str(tmp_path)):
        with Confined():
            assert not within(str(tmp_path / "a.py"))
        assert within(str(tmp_path / "a.py"))


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "too large"])
def test_what_is_no_plain_file_of_a_fair_size_is_not_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "it"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path = Path("/dev/zero")
    else:
        path.write_bytes(b"12345")
    assert content(str(path), largest=4) is None
