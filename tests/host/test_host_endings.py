"""However the program ends, it ends as under plain Python, and the report comes once."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.harness import (
    audited,
    audited_command,
    environment,
    plain,
    same,
    script,
    taken_apart,
)

_TEXT = (Path(__file__).parent / "endings.txt").read_text(encoding="utf-8")
ENDINGS = dict(section.split("\n", 1) for section in _TEXT.removeprefix("### ").split("\n### "))


@pytest.mark.parametrize("source", ENDINGS.values(), ids=ENDINGS)
def test_ending(tmp_path, source):
    same(tmp_path, source)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups came with 3.11")
def test_exception_group(tmp_path):
    source = """
        def f():
            raise ValueError(1)
        try:
            f()
        except ValueError as error:
            raise ExceptionGroup("group", [error])
    """
    same(tmp_path, source)


@pytest.mark.parametrize("module", ["package", "package.module", "nothing_here", "package.missing", "empty"])
def test_errors_of_modules(tmp_path, module):
    script(tmp_path, "", "package/__init__.py")
    script(tmp_path, "from . import nothing", "package/__main__.py")
    script(tmp_path, "def f():\n    raise ValueError(2)\nf()", "package/module.py")
    script(tmp_path, "", "empty/__init__.py")
    expected, got = plain(tmp_path, "-m", module), audited(tmp_path, "-m", module)
    assert (got.out, got.err, got.status) == (expected.out, expected.err, expected.status)
    assert got.status == 1


def test_recursion_without_end_is_survived(tmp_path):
    script(tmp_path, "import torch\ntorch.backward()\ndef f():\n    f()\nf()\n")
    got = audited(tmp_path, "train.py")
    assert got.status == 1
    assert b"RecursionError: maximum recursion depth exceeded" in got.err
    assert b"gradledger" not in got.err
    assert got.answer.notes == ("ended by RecursionError",)


def test_what_ended_the_script_is_known_to_the_session(tmp_path):
    script(tmp_path, "import torch\ntorch.backward()\n1 / 0\n")
    got = audited(tmp_path, "train.py")
    assert (got.status, got.concluded_with) == (1, 1)
    assert got.answer.notes == ("ended by ZeroDivisionError",)
    script(tmp_path, "import torch\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    raise SystemExit(3)\n")
    assert audited(tmp_path, "train.py").answer.notes == ("ended by ZeroDivisionError",)
    script(tmp_path, "import torch\ntorch.backward()\nimport sys; sys.exit()\n")
    assert audited(tmp_path, "train.py").answer.notes == ()


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("os._exit(0)", 1),
        ("os._exit(5)", 5),
        ("sys.exit(5)", 5),
        ("sys.exit(256)", 1),
        ("os.kill(os.getpid(), 15); signal.pause()", -signal.SIGTERM),
        ("os.kill(os.getpid(), 2); signal.pause()", -signal.SIGINT),
        ("pass", 1),
    ],
)
def test_findings_up_to_the_end_are_reported(tmp_path, ending, status):
    script(tmp_path, f"import os, signal, sys, torch\ntorch.backward()\n{ending}\n")
    got = audited(tmp_path, "train.py")
    assert got.status == status
    assert got.answer.checked.backwards == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_from_outside(tmp_path, number):
    script(tmp_path, "import signal, torch\ntorch.backward()\nprint('ready', flush=True)\nsignal.pause()\n")
    with subprocess.Popen(
        audited_command("train.py"), cwd=tmp_path, env=environment(), stdout=-1, stderr=-1
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    got = taken_apart(process.returncode, out, err)
    assert got.status == -number
    assert got.answer.checked.backwards == 1
    assert (b"KeyboardInterrupt" in got.err) is (number == signal.SIGINT)


def test_a_signal_while_waiting_in_a_thread_join(tmp_path):
    source = """
        import threading, torch
        torch.backward()
        stop = threading.Event()
        thread = threading.Thread(target=stop.wait)
        thread.start()
        print('ready', flush=True)
        thread.join()
    """
    script(tmp_path, source)
    with subprocess.Popen(
        audited_command("train.py"), cwd=tmp_path, env=environment(), stdout=-1, stderr=-1
    ) as process:
        process.stdout.readline()
        process.terminate()
        out, err = process.communicate(timeout=60)
    assert taken_apart(process.returncode, out, err).answer.checked.backwards == 1
    assert process.returncode == -signal.SIGTERM


def test_threads_that_go_on_are_audited(tmp_path):
    source = """
        import threading, torch
        main_is_over = threading.Event()

        def train():
            threading.main_thread().join()
            torch.backward()
            print("trained")

        threading.Thread(target=train).start()
        print("main ends")
    """
    script(tmp_path, source)
    got = audited(tmp_path, "train.py")
    assert got.out == plain(tmp_path, "train.py").out == b"main ends\ntrained\n"
    assert got.answer.checked.backwards == 1


def test_an_idle_thread_pool_is_not_waited_for_forever(tmp_path):
    source = """
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor(2)
        print(pool.submit(pow, 2, 3).result())
    """
    same(tmp_path, source)


MISSING = "gradledger: can't open file 'nope.py': No such file or directory\n"


def test_programs_that_cannot_be_begun(tmp_path):
    got = audited(tmp_path, "nope.py")
    assert (got.err.decode(), got.status, got.reports) == (MISSING, 2, ())
    (tmp_path / "folder").mkdir()
    got = audited(tmp_path, "folder")
    assert (got.err, got.status) == (b"gradledger: can't find '__main__' module in 'folder'\n", 1)
    (tmp_path / "null.py").write_bytes(b"x = 1\n\0\n")
    got = audited(tmp_path, "null.py")
    message = b"gradledger: can't run 'null.py': null bytes in it, this is not Python source\n"
    assert (got.err, got.status) == (message, 2)
    (tmp_path / "bad.pyc").write_bytes(b"nonsense")
    got = audited(tmp_path, "bad.pyc")
    assert got.err.startswith(b"gradledger: can't run 'bad.pyc': ")
    assert (got.err.count(b"\n"), got.status) == (1, 2)
    got = audited(tmp_path, "train.py/below")
    assert got.status == 2


def test_an_unreadable_script(tmp_path):
    path = script(tmp_path, "x = 1")
    path.chmod(0)
    try:
        path.read_bytes()
    except PermissionError:
        got = audited(tmp_path, "train.py")
        assert got.err == b"gradledger: can't open file 'train.py': Permission denied\n"
        assert got.status == 2
    else:
        pytest.skip("this user may read everything")


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (
            "FAKE_FINISH_FAILS",
            b"gradledger: internal error: ValueError: the books are gone (fake_session.py:",
        ),
        ("FAKE_CONCLUDE_FAILS", b"gradledger: internal error: ValueError: no paper (driver.py:"),
        ("FAKE_START_FAILS", b"gradledger: internal error: ValueError: no probes today (fake_session.py:"),
    ],
)
@pytest.mark.parametrize("status", [0, 3])
def test_our_own_failures_do_not_touch_the_result(tmp_path, setting, text, status):
    script(tmp_path, f"import sys, torch\ntorch.backward()\nprint('done')\nsys.exit({status})\n")
    got = audited(tmp_path, "train.py", env=environment(**{setting: "1"}))
    assert (got.out, got.status) == (b"done\n", status)
    assert got.err.startswith(text)
    assert got.err.endswith(b"; the script's own result is kept\n")
    assert got.err.count(b"\n") == 1


@pytest.mark.parametrize(
    "deed",
    [
        "sys.stderr.close()",
        "sys.stdout.close(); sys.stderr.close()",
        "sys.stderr = None",
        "sys.stderr = io.StringIO()",
        "sys.setrecursionlimit(40)",
        "warnings.simplefilter('error')",
        "os.chdir('/')",
        "os.rmdir(os.getcwd()) if os.path.basename(os.getcwd()) == 'gone' else None",
        "os.environ.clear()",
        "sys.meta_path.clear()",
        "sys.modules.pop('torch')",
        "del sys.modules['__main__']",
        "gc.disable(); sys.argv.clear(); sys.path.clear()",
    ],
)
@pytest.mark.parametrize("ending", ["pass", "os._exit(0)"])
def test_whatever_the_program_does_to_the_process_the_report_comes(tmp_path, deed, ending):
    script(tmp_path, f"import gc, io, os, sys, torch, warnings\ntorch.backward()\n{deed}\n{ending}\n")
    (tmp_path / "gone").mkdir()
    got = audited(tmp_path / "gone", "../train.py", env=environment(FAKE_DIRECTORY="1"))
    assert (got.err.count(b"\n"), got.status) == (0, 1)
    assert got.answer.checked.backwards == 1
    expected = ("gone",) if "rmdir" not in deed else ()
    assert got.answer.notes[:1] == expected


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-", "> /dev/full"])
def test_closed_standard_streams(tmp_path, closed):
    script(tmp_path, "import torch\nprint('out')\ntorch.backward()\nraise SystemExit(3)\n")
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh"]
    results = [
        subprocess.run([*shell, *command], cwd=tmp_path, env=environment(), capture_output=True, check=False)
        for command in ([sys.executable, "train.py"], audited_command("train.py"))
    ]
    expected, got = (taken_apart(one.returncode, one.stdout, one.stderr) for one in results)
    assert (got.out, got.err, got.status) == (expected.out, expected.err, expected.status)
    assert len(got.reports) == (0 if "2>" in closed else 1)
