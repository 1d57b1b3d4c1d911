"""A sign of life on a terminal, and nothing anywhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SOURCE

pty = pytest.importorskip("pty", reason="there are no such terminals here")

WORK = """\
import sys
{before}
import gradledger.cli.progress as module
module.PATIENCE = {patience}
with module.progress("counting", "things", 5) as shown:
    for _ in shown.counted(range(3)):
        pass
    while {until}:
        pass
print("done", *(name in sys.modules for name in ("rich", "gradledger.cli.progress_line", "threading")))
"""
SPY = """\
import gradledger.cli.progress_line as line
line.SEEN, told = [], line._words
def words(*args):
    line.SEEN.append(1)
    return told(*args)
line._words = words
"""
NO_RICH = "sys.modules['rich.console'] = None\n"


def on_terminal(code: str, folder: Path, **environ: str) -> tuple[str, str]:
    """What a program writes to stdout, a pipe, and to stderr, a terminal."""
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GRADLEDGER")}
    clean |= {"PYTHONPATH": str(SOURCE), "TERM": "xterm", "COLUMNS": "80", **environ}
    call = [sys.executable, "-c", code]
    with subprocess.Popen(
        call, cwd=folder, env=clean, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:  # so does Linux say that the other side is closed
            pass
        out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0, seen
    return out, seen.decode()


def test_a_plain_line_that_is_taken_away(tmp_path: Path) -> None:
    out, seen = on_terminal(WORK.format(before=NO_RICH + SPY, patience=0.01, until="not line.SEEN"), tmp_path)
    assert out.startswith("done")
    first, *lines = seen.split("\r\x1b[K")
    assert first == ""
    assert lines[-1] == ""  # nothing stands there at the end
    assert lines[0] == "counting: 3 of 5 things, 2 s"
    assert "\n" not in seen


def test_a_bar_by_rich_that_is_taken_away(tmp_path: Path) -> None:
    pytest.importorskip("rich")
    out, seen = on_terminal(WORK.format(before=SPY, patience=0.01, until="not line.SEEN"), tmp_path)
    assert out.startswith("done True")
    assert "counting: 3 of 5 things" in seen
    assert seen.rstrip().endswith(("\x1b[1A\x1b[2K", "\x1b[2K"))


def test_what_is_quick_shows_and_loads_nothing(tmp_path: Path) -> None:
    out, seen = on_terminal(WORK.format(before="", patience=600, until="False"), tmp_path)
    assert (out, seen) == ("done False False False\n", "")


@pytest.mark.parametrize("environ", [{"GRADLEDGER_NO_PROGRESS": "1"}, {"TERM": "dumb"}])
def test_nothing_where_it_is_not_wanted(tmp_path: Path, environ: dict[str, str]) -> None:
    code = WORK.format(before="", patience=0.0, until="False")
    out, seen = on_terminal(code, tmp_path, **environ)
    assert (out, seen) == ("done False False False\n", "")


def test_nothing_in_a_pipe(python) -> None:
    code = WORK.format(before="", patience=0.0, until="False")
    done = python("-c", code)
    assert (done.stdout, done.stderr) == ("done False False False\n", "")


def test_what_fails_is_still_what_is_seen(tmp_path: Path) -> None:
    code = (
        "import gradledger.cli.progress as module\nmodule.PATIENCE = 0.0\n"
        "try:\n    with module.progress('counting'):\n        raise ValueError('mine')\n"
        "except ValueError as error:\n    print(error)\n"
    )
    assert on_terminal(code, tmp_path)[0] == "mine\n"


def test_a_check_of_a_file_on_a_terminal_loads_no_more_than_in_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("x = 1\n")
    code = (
        "import sys\nfrom gradledger.cli.main import main\nmain(['check', 'train.py'])\n"
        "names = ('rich', 'threading', 'gradledger.cli.progress_line')\n"
        "print([name for name in names if name in sys.modules])\n"
    )
    assert on_terminal(code, tmp_path)[0].splitlines()[-1] == "[]"
