"""`gradledger watch` and `gradledger run --live` as processes, with and without a terminal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import SOURCE
from tests.report.recorded import PROGRAM, saved, stale_run

posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and terminals of Unix")
URL = re.compile(r"http://127\.0\.0\.1:\d+/[\w-]{32}/")

TRAINS = """\
import os, sys, torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    loss = model(torch.randn(8, 4)).square().mean()
    loss.backward()
    optimizer.step()
try:
    os.wait()  # whatever serves the page is no child of this program
except ChildProcessError:
    print("no children")
print("half", flush=True)
sys.stdin.readline()
print(b"".join(p.detach().numpy().tobytes() for p in model.parameters()).hex())
"""
WAITS = "import sys\nprint('ready', flush=True)\nsys.stdin.readline()\nsys.exit(3)\n"


@contextmanager
def started(folder: Path, *arguments: str, **streams: object) -> Iterator[subprocess.Popen[str]]:
    """The process; if the test fails, nobody waits for it."""
    call = [sys.executable, "-m", "gradledger", *arguments]
    environ = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "TMPDIR": str(folder)}
    environ.pop("RANK", None)
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | streams
    with subprocess.Popen(call, cwd=folder, env=environ, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def address(line: str) -> str:
    found = URL.search(line)
    assert found, line
    return found[0]


def serving(recording_part: str) -> list[int]:
    """The processes that serve a page of this run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"live_process" in line and recording_part.encode() in line:
                found.append(int(entry.name))
    return found


def until_shown(url: str, text: str) -> None:
    """Ask until the page's process has read the end of the run."""
    end = time.monotonic() + 30
    while text not in httpx.get(url, trust_env=False, timeout=60).text:
        assert time.monotonic() < end, text


def until_gone(*paths: Path) -> None:
    end = time.monotonic() + 30
    while any(path.exists() for path in paths):
        assert time.monotonic() < end, paths


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    train = tmp_path / "train.py"
    train.write_text(PROGRAM)
    return saved(tmp_path / "run.jsonl", stale_run(train))


@posix
def test_watch_serves_until_ctrl_c_and_writes_nothing(recording: Path) -> None:
    recording.chmod(0o444)
    before = {path.name: path.read_bytes() for path in recording.parent.iterdir()}
    with started(recording.parent, "watch", "run.jsonl") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("watching run.jsonl at http://127.0.0.1:")
        answer = httpx.get(address(line) + "data", trust_env=False, timeout=60).json()
        assert [key.split()[0] for key, _ in answer["findings"]] == ["GL101"]
        assert "diff" in answer["findings"][0][1]  # with its repair, as in a report
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")
    assert {path.name: path.read_bytes() for path in recording.parent.iterdir()} == before


def test_watch_refuses_what_is_no_recording_and_a_port_that_is_taken(command, recording: Path) -> None:
    done = command("watch", "train.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"gradledger watch: .*train\.py: not a recording of gradledger\n", done.stderr)
    assert command("watch", ".").returncode == 2
    done = command("watch", "run.jsonl", "--port", "70000")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "cannot serve on port 70000" in done.stderr
    assert command("watch", "run.jsonl", "--select", "nonsense").returncode == 2


def test_without_the_extra_one_line_says_what_to_install(command, recording: Path) -> None:
    hidden = recording.parent / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'uvicorn' else find(name, package)\n"
    )
    for words in (("watch", "run.jsonl"), ("run", "--live", "train.py")):
        done = command(*words, PYTHONPATH=f"{hidden}{os.pathsep}{SOURCE}")
        assert (done.returncode, done.stdout) == (2, "")
        expected = f"gradledger {words[0]}: serving a page needs starlette and uvicorn: pip install "
        assert done.stderr == expected + "'gradledger[live]'\n"


@posix
def test_a_live_run_is_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINS)
    plain = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, input="\n", check=True
    )
    with started(tmp_path, "run", "--live", "--save", "run.jsonl", "train.py") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = address(process.stderr.readline())
        said = [process.stdout.readline(), process.stdout.readline()]
        assert httpx.get(url, trust_env=False, timeout=60).status_code == 200
        for page in serving(str(tmp_path)):
            os.kill(page, signal.SIGKILL)  # the page is gone, the run does not mind
        out, err = process.communicate("\n", timeout=120)
    assert "".join(said) + out == plain.stdout
    assert process.returncode == 1
    assert err.startswith("GL101 stale-gradient  error")
    header = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[0])
    assert header["recording"] == "gradledger"


@posix
def test_the_page_ends_with_a_run_that_was_killed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WAITS)
    with started(tmp_path, "run", "--live", "train.py") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = address(process.stderr.readline())
        assert process.stdout.readline() == "ready\n"
        (folder,) = tmp_path.glob("gradledger-live-*")
        with httpx.stream("GET", url + "events", trust_env=False, timeout=60) as stream:
            process.kill()
            words = [json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: ")]
        assert words[-1]["state"] == "ended"
        process.communicate(timeout=60)
    until_gone(folder)


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    import pty

    ours, theirs = pty.openpty()
    try:
        yield ours, theirs
    finally:
        os.close(ours)


def read_until(terminal: int, text: str) -> str:
    seen = ""
    while text not in seen:
        seen += os.read(terminal, 4096).decode(errors="replace")
    return seen


@posix
def test_with_a_terminal_the_page_stays_until_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WAITS)
    with terminal() as (ours, theirs):
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "start_new_session": True}
        with started(tmp_path, "run", "--live", "train.py", **streams) as process:
            os.close(theirs)
            url = address(read_until(ours, "ready"))
            os.write(ours, b"\n")
            seen = read_until(ours, "until Ctrl-C")
            assert f"the page stays at {url}" in seen
            until_shown(url, "Nothing was trained")
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 3  # the script's own
    assert list(tmp_path.glob("gradledger-live-*")) == []


def test_without_a_terminal_it_ends(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WAITS)
    with started(tmp_path, "run", "--live", "train.py") as process:
        out, err = process.communicate("\n", timeout=120)
    assert (process.returncode, out) == (3, "ready\n")
    assert "until Ctrl-C" not in err
    until_gone(*tmp_path.glob("gradledger-live-*"))
