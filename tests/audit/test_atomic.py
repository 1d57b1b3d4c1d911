from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradledger.audit.atomic import write_atomically


def test_new_and_existing_files(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_atomically(path, "one")
    path.chmod(0o640)
    write_atomically(path, "zwei ✓\n")
    assert path.read_bytes() == "zwei ✓\n".encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "real", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_device_is_written_not_replaced() -> None:
    write_atomically(Path(os.devnull), "gone")
    assert not Path(os.devnull).is_file()


def test_failures_leave_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError):
        write_atomically(tmp_path / "missing" / "out", "x")
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, "x")
    path = tmp_path / "out"
    path.write_text("old")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
