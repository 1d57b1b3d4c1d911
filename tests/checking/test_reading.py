from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradledger.checking.document import LONGEST
from gradledger.checking.problem import Problem
from gradledger.checking.reading import read, trains


def reason(path: Path, *, named: bool = False) -> str:
    answer = read(str(path), named=named)
    assert isinstance(answer, Problem), answer
    return str(answer).removeprefix(str(path))


def test_only_what_trains_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"x = 1\n")
    assert read(str(path), named=False) is None
    assert read(str(path), named=True) == b"x = 1\n"
    path.write_bytes(b"loss.backward()\n")
    assert read(str(path), named=False) == b"loss.backward()\n"


@pytest.mark.parametrize(
    ("text", "trained"),
    [
        (b"loss.backward()", True),
        (b"accelerator.backward (loss)", True),
        (b"step(loss.backward)", True),
        (b"from torch.autograd import grad, backward as run", True),
        (b'{"source": ["loss.backward()\\n"]}', True),
        (b"optimizer.zero_grad()\nloss = f(x)\noptimizer.step()", True),
        (b"optimizer.zero_grad()\n", False),
        (b"# kept for backward compatibility", False),
        (b"backwards = 1", False),
        (b"import os\nbackward = 1", False),
    ],
)
def test_the_word_alone_is_no_training(text: bytes, trained: bool) -> None:
    assert trains(text) is trained


def test_an_empty_file_is_no_problem(tmp_path: Path) -> None:
    for name in ("a.py", "a.ipynb"):
        (tmp_path / name).touch()
        assert read(str(tmp_path / name), named=False) is None
        assert read(str(tmp_path / name), named=True) == b""


def test_a_huge_file_is_said_only_if_it_trains(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"x = 1\n" * (LONGEST // 6 + 1))
    assert read(str(path), named=False) is None
    assert "MB of source" in reason(path, named=True)
    with path.open("ab") as file:
        file.write(b"loss.backward()\n")
    assert "MB of source" in reason(path)


def test_damage_that_shows_at_a_glance(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x\n\0\n")
    assert reason(tmp_path / "a.py").startswith(":2: contains a null byte")
    (tmp_path / "b.py").write_bytes(b"\x89PNG\xff")
    assert reason(tmp_path / "b.py").startswith(":1: is not utf-8")
    (tmp_path / "c.py").write_bytes(b"# coding: latin-1\n# \xe9\n")
    assert read(str(tmp_path / "c.py"), named=False) is None
    (tmp_path / "a.ipynb").write_bytes(b'{"cells": [')
    assert "not valid JSON" in reason(tmp_path / "a.ipynb")
    (tmp_path / "b.ipynb").write_bytes(b' \xef\xbb\xbf{"cells": []}\n'.strip())
    assert read(str(tmp_path / "b.ipynb"), named=False) is None


def test_what_is_no_file(tmp_path: Path) -> None:
    assert "is no file" in reason(tmp_path, named=True) or "directory" in reason(tmp_path, named=True)
    assert "cannot be read" in reason(tmp_path / "missing.py")
    assert isinstance(read("a\0b.py", named=True), Problem)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert "is no file" in reason(tmp_path / "pipe.py", named=True)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users here")
def test_a_closed_file(tmp_path: Path) -> None:
    path = tmp_path / "closed.py"
    path.write_bytes(b"loss.backward()\n")
    path.chmod(0)
    code = (
        "import os, sys\n"
        "from gradledger.checking.reading import read, trains\n"
        "os.geteuid() or os.seteuid(65534)\n"
        "print(read(sys.argv[1], named=False))"
    )
    for folder in (tmp_path, *tmp_path.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert "closed.py:1: cannot be read: Permission denied" in done.stdout, done.stderr
