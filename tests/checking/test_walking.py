from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gradledger.checking.problem import Problem
from gradledger.checking.walking import source_files


def made(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def found(root: Path, **more) -> list[str]:
    paths = list(source_files(str(root), **more))
    return [os.path.relpath(path, root) if isinstance(path, str) else str(path) for path in paths]


def test_sources_in_order(tmp_path: Path) -> None:
    made(tmp_path, "b.py", "a.ipynb", "a/z.py", "a/b/c.pyw", "z.txt", "c.pyi", "Makefile")
    assert found(tmp_path) == ["a.ipynb", "b.py", "a/z.py", "a/b/c.pyw"]


def test_what_nobody_wrote_is_passed_over(tmp_path: Path) -> None:
    made(tmp_path, ".git/hooks/x.py", ".venv/a.py", "env/pyvenv.cfg", "env/lib/a.py", "node_modules/a.py")
    made(tmp_path, "a/__pycache__/a.py", "conda/conda-meta/x", "conda/a.py", "x.egg-info/a.py")
    made(tmp_path, "build/lib/a.py", "dist/a-1.whl", "dist/a.py", "lib/python/site-packages/a.py", "kept.py")
    assert found(tmp_path) == ["kept.py"]


def test_names_alone_do_not_make_an_artefact(tmp_path: Path) -> None:
    made(tmp_path, "build/train.py", "dist/train.py", "env/train.py")
    assert found(tmp_path) == ["build/train.py", "dist/train.py", "env/train.py"]


def test_a_folder_that_is_named_is_walked_whatever_it_is(tmp_path: Path) -> None:
    made(tmp_path, ".venv/pyvenv.cfg", ".venv/lib/site-packages/torch/a.py")
    assert found(tmp_path / ".venv" / "lib" / "site-packages") == ["torch/a.py"]


def test_git_has_its_say(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    made(tmp_path, "a.py", "out/a.py", "p/a.py", "p/keep.py", "p/q/a.py", "secret.py", "p/data/x.py")
    (tmp_path / ".gitignore").write_text("out/\n/p/data\n")
    (tmp_path / "p" / ".gitignore").write_text("*.py\n!keep.py\n")
    (tmp_path / ".git" / "info").mkdir(exist_ok=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("secret.py\n")
    assert found(tmp_path) == ["a.py", "p/keep.py"]
    assert found(tmp_path / "p") == ["keep.py"]
    assert found(tmp_path / "out") == ["a.py"], "whoever names an ignored folder wants it"


def test_ignore_files_count_without_a_repository(tmp_path: Path) -> None:
    made(tmp_path, "a.py", "x/b.py")
    (tmp_path / ".gitignore").write_text("x\n")
    assert found(tmp_path) == ["a.py"]


def test_the_user_leaves_something_out(tmp_path: Path) -> None:
    made(tmp_path, "a.py", "old/b.py")
    assert found(tmp_path, excluded=lambda path: path.endswith("old")) == ["a.py"]


def test_loops_of_links_catch_nobody(tmp_path: Path) -> None:
    made(tmp_path, "a/b.py")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "link.py").symlink_to(tmp_path / "a" / "b.py")
    lines = found(tmp_path)
    assert [line for line in lines if ": " not in line] == ["link.py", "a/b.py"]
    assert len([line for line in lines if "self.py:1: " in line]) == 1
    assert len([line for line in lines if "gone.py:1: is a link to nothing" in line]) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is closed to root")
def test_a_closed_folder_is_one_line(tmp_path: Path) -> None:
    made(tmp_path, "closed/a.py", "open.py")
    (tmp_path / "closed").chmod(0)
    first, second = source_files(str(tmp_path))
    (tmp_path / "closed").chmod(0o755)
    assert isinstance(second, Problem)
    assert str(first).endswith("open.py")
