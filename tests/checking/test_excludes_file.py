from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gradledger.checking.excludes_file import excludes_file
from gradledger.checking.walking import source_files


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / ".config" / "git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "repository"
    top.mkdir()
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    for name in ("kept.py", "scratch_1.py"):
        (top / name).touch()
    return top


def names(top: Path) -> list[str]:
    return [os.path.basename(str(path)) for path in source_files(str(top))]


def test_the_usual_place_counts(home: Path, repository: Path) -> None:
    assert names(repository) == ["kept.py", "scratch_1.py"]
    (home / ".config" / "git" / "ignore").write_text("scratch_*\n")
    assert names(repository) == ["kept.py"]
    (repository / ".gitignore").write_text("!scratch_1.py\n")
    assert names(repository) == ["kept.py", "scratch_1.py"]


@pytest.mark.parametrize(
    "said",
    [
        "[core]\n\texcludesFile = ~/mine\n",
        '[user]\n\tname = x\n[Core]\n\teditor = vi\n\tEXCLUDESFILE="~/mine" # for all\n',
        "[core] excludesfile = ~/mine\n",
    ],
)
def test_the_configuration_names_another(home: Path, repository: Path, said: str) -> None:
    (home / ".gitconfig").write_text(said)
    asked = subprocess.run(
        ["git", "-C", str(repository), "config", "--type=path", "core.excludesFile"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert excludes_file(str(repository)) == asked.stdout.strip() == str(home / "mine")
    (home / "mine").write_text("scratch_*\n")
    assert names(repository) == ["kept.py"]


def test_the_repository_has_the_last_word(home: Path, repository: Path) -> None:
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    subprocess.run(["git", "-C", str(repository), "config", "core.excludesFile", "/elsewhere"], check=True)
    assert excludes_file(str(repository)) == "/elsewhere"
    (repository / ".git" / "config").write_text(
        '[other "core"]\n\texcludesFile = a\n[core]\n\texcludesFile =\n'
    )
    assert excludes_file(str(repository)) is None
