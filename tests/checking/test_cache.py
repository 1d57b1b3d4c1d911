from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradledger.checking.cache import FOLDER, Cache, cache_folder
from gradledger.checking.outcome import Outcomes
from gradledger.checking.tree import check_paths
from tests.checking import programs

pytestmark = pytest.mark.usefixtures("stand_in")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GRADLEDGER_CACHE_DIR", raising=False)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text("import helper\n# backward()\n")
    (tmp_path / "helper.py").write_text("fine\n")
    return tmp_path


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were really judged, one after the other."""
    seen: list[str] = []

    def watched(text: str, path: str, find_module):
        seen.append(text)
        return programs.check_program(text, path, find_module)

    monkeypatch.setattr("gradledger.checking.program.check_program", watched)
    return seen


def check(project: Path) -> Outcomes:
    return check_paths(["."], str(project), cached=True)


def test_an_unchanged_file_is_judged_once(project: Path, judged: list[str]) -> None:
    (project / "train.py").write_text("MISTAKE # backward()\n")
    first, second = check(project), check(project)
    assert len(judged) == 1
    assert first == second
    assert len(first.findings) == 1
    assert (project / FOLDER / ".gitignore").read_text() == "*\n"


def test_a_changed_file_is_judged_anew(project: Path, judged: list[str]) -> None:
    check(project)
    (project / "train.py").write_text("MISTAKE # backward()\n")
    assert len(check(project).findings) == 1


def test_a_changed_neighbour_counts(project: Path, judged: list[str]) -> None:
    assert check(project).findings == ()
    (project / "helper.py").write_text("MISTAKE\n")
    assert len(check(project).findings) == 1
    (project / "helper.py").unlink()
    assert check(project).findings == ()
    assert len(judged) == 3


def test_a_new_neighbour_counts(project: Path, judged: list[str]) -> None:
    (project / "helper.py").unlink()
    assert check(project).findings == ()
    (project / "helper.py").write_text("MISTAKE\n")
    assert len(check(project).findings) == 1


def test_another_gradledger_judges_anew(
    project: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check(project)
    monkeypatch.setattr("gradledger.checking.cache.__version__", "99")
    check(project)
    assert len(judged) == 2


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\xff", b"[1]", b'{"maker": 1, "content": 2}'])
def test_a_damaged_entry_is_as_good_as_none(project: Path, judged: list[str], damage: bytes) -> None:
    check(project)
    for entry in (project / FOLDER).glob("*.json"):
        entry.write_bytes(damage)
    check(project)
    assert len(judged) == 2


def test_what_was_cut_short_is_not_kept(project: Path, judged: list[str]) -> None:
    (project / "train.py").write_text("NOTE backward()\n")
    assert [o.notes for o in check(project).each] == [("cut short",)]
    assert [o.notes for o in check(project).each] == [("cut short",)]
    assert len(judged) == 2


def test_a_folder_that_cannot_be_made_does_no_harm(project: Path, judged: list[str]) -> None:
    (project / FOLDER).write_text("a file")
    check(project)
    assert check(project).files == 2


def test_where_it_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = project / "a" / "b"
    below.mkdir(parents=True)
    assert cache_folder(str(below)) == str(project / FOLDER)
    (project / "pyproject.toml").unlink()
    if cache_folder(str(project)) != str(project / FOLDER):
        pytest.skip("a folder above has a pyproject.toml")
    assert cache_folder(str(below)) == str(below / FOLDER)
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(project / "elsewhere"))
    assert cache_folder(str(below)) == str(project / "elsewhere")


def test_it_survives_being_handed_to_a_process(project: Path) -> None:
    import pickle

    cache = Cache(str(project / FOLDER), os.fspath(project))
    assert pickle.loads(pickle.dumps(cache)).__dict__ == cache.__dict__
