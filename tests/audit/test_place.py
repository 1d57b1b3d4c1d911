from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradledger.audit import place
from gradledger.audit.place import shown_path, shown_place, slashed
from gradledger.ledger.site import Site
from tests.audit.windows import WINDOWS


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/project/train.py", "train.py"),
        ("/project/a/b.py", os.path.join("a", "b.py")),
        ("/other/train.py", "/other/train.py"),
        ("/projector/train.py", "/projector/train.py"),
        ("/project/..train/x.py", os.path.join("..train", "x.py")),
        ("already/relative.py", "already/relative.py"),
        ("<string>", "<string>"),
    ],
)
def test_paths_below_the_working_directory_are_shortened(path: str, shown: str) -> None:
    assert shown_path(path, "/project") == shown


def test_a_path_on_another_drive_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "os", WINDOWS)
    assert shown_path(r"D:\train.py", r"C:\project") == r"D:\train.py"
    assert shown_path(r"C:\project\a\train.py", r"C:\project") == r"a\train.py"


def test_a_place_names_the_cell() -> None:
    assert shown_place(Site("/project/n.ipynb", 3, cell=2), "/project") == "n.ipynb:cell 2:3"
    assert shown_place(Site("/project/n.py", 3), "/project") == "n.py:3"


def test_slashes_are_the_same_everywhere() -> None:
    assert slashed(str(Path("a") / "b")) == "a/b"
