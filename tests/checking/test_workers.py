from __future__ import annotations

import concurrent.futures
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradledger.checking.tree import check_paths
from gradledger.checking.workers import check_all
from tests.checking.programs import STALE

MANY = 40


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for number in range(MANY):
        text = "x = (  # backward()\n" if number % 10 == 3 else "\n" * number + STALE
        (tmp_path / f"f{number:02}.py").write_text(text)
    return tmp_path


def test_many_processes_say_what_one_says(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradledger.checking.workers._processors", lambda: 1)
    alone = check_paths(["."], str(tree))
    monkeypatch.setattr("gradledger.checking.workers._processors", lambda: 3)
    together = check_paths(["."], str(tree))
    assert alone.findings == together.findings
    assert [str(p) for p in alone.problems] == [str(p) for p in together.problems]
    assert len(alone.findings) == MANY - len(alone.problems) == MANY - 4
    assert [finding.site.line for finding in together.findings[:3]] == [7, 8, 9]


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("error", [OSError, NotImplementedError, ImportError])
def test_without_processes_it_is_done_here(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def refuse(*args: object, **more: object) -> None:
        raise error

    monkeypatch.setattr("gradledger.checking.workers._processors", lambda: 4)
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", refuse)
    outcomes = check_all([(f"{n}.py", b"MISTAKE") for n in range(MANY)], "/", None)
    assert [outcome.path for outcome in outcomes] == [f"{n}.py" for n in range(MANY)]
    assert all(len(outcome.findings) == 1 for outcome in outcomes)


KILLED = """
import os, sys
from gradledger.checking import one_file, workers
from gradledger.checking.outcome import Outcome
parent = os.getpid()
def check(path, raw, find_module):
    if raw == b"kill" and os.getpid() != parent:
        os._exit(9)
    return Outcome(path)
one_file.check_file = check
workers._processors = lambda: 2
jobs = [(str(n), b"kill" if n == 25 else b"") for n in range(40)]
print(*[outcome.path for outcome in workers.check_all(jobs, "/", None)])
"""


def test_a_killed_process_costs_nothing_but_time() -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split() == [str(n) for n in range(40)], done.stderr


INTERRUPTED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have switched interrupts off
from gradledger.checking import one_file, workers
def check(path, raw, find_module):
    open(sys.argv[1] + "/" + path, "w").close()
    time.sleep(60)
one_file.check_file = check
workers._processors = lambda: 2
from gradledger.cli.quiet import quietly
sys.exit(quietly(lambda: workers.check_all([(str(n), b"") for n in range(40)], "/", None)))
"""


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_parent_leaves_nobody_behind(tmp_path: Path) -> None:
    call = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    deadline = time.monotonic() + 60
    with subprocess.Popen(call, start_new_session=True) as process:
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
            os.sched_yield()
        process.kill()
    while alive(process.pid) and time.monotonic() < deadline:
        os.sched_yield()
    assert not alive(process.pid)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_ends_everything_at_once(tmp_path: Path) -> None:
    call = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    with subprocess.Popen(call, start_new_session=True, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
            os.sched_yield()
        os.killpg(process.pid, signal.SIGINT)
        _, complaints = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in complaints
    assert not alive(process.pid)
