"""A reader who does what a page says, in a folder of his own.

`gradledger` and `python` run in forked children of this process, in which torch is loaded already; everything
else is a process as the reader's shell would start it.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
import traceback
import urllib.request
from collections.abc import Callable
from pathlib import Path

from packaging.requirements import Requirement

from tests.docs.comparing import assert_shown
from tests.docs.settings import EXTRAS, check_settings
from tests.docs.walkthrough import (
    Again,
    Command,
    Edit,
    Nothing,
    Program,
    Settings,
    Step,
    Suite,
    Tree,
    Write,
)
from tests.forked import forked

ROOT = Path(__file__).resolve().parents[2]
SHAPING = ("COLUMNS", "FORCE_COLOR", "GRADLEDGER_ASCII", "NO_COLOR", "PYTHONIOENCODING", "RANK")
"""What would give a report another shape than the one a reader gets in a pipe."""


class Reader:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last = ""
        self._first: dict[str, str] = {}
        self._said: dict[str, str] = {}
        """What commands have printed; a page that shows a part of it means the same run."""
        for name in ("examples", "benchmarks"):
            (folder / name).symlink_to(ROOT / name)

    def do(self, step: Step) -> None:
        """Do one thing; what does not turn out as the page says is an AssertionError."""
        match step:
            case Again(name):
                self.do(Write(name, self._first[name]))
            case Write(name, text):
                self._first.setdefault(name, text)
                path = self._folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                self._said.clear()
            case Edit(name, text):
                path = self._folder / name
                path.write_text(edited(path.read_text(encoding="utf-8"), text), encoding="utf-8")
                self._said.clear()
            case Command():
                self._command(step)
            case Program(text, continues):
                self._remember(text, continues)
                self._in_child(lambda: _as_main("block.py"), 0)
            case Suite(text, continues):
                self._remember(text, continues, "test_block.py")
                self._in_child(lambda: _pytest("--gradledger", "test_block.py"), 0)
            case Settings(kind, text):
                check_settings(kind, text)
            case Tree(text):
                self._tree(text)
            case Nothing(_, "bash", text):
                subprocess.run(["bash", "-n"], input=text, text=True, check=True)
            case Nothing():
                pass

    def _remember(self, text: str, continues: bool, name: str = "block.py") -> None:
        self._last = f"{self._last}\n{text}" if continues else text
        (self._folder / name).write_text(self._last, encoding="utf-8")
        _load(self._last)

    def _command(self, step: Command) -> None:
        words = shlex.split(step.line, comments=True)
        if words[:2] == ["pip", "install"]:
            # It is installed, or this would not run; what it names must be ours to install.
            wanted = [Requirement(word) for word in words[2:]]
            assert all(r.name == "gradledger" and r.extras <= EXTRAS for r in wanted), step.line
            return
        if step.serves:
            self._served(words)
            return
        call = shlex.join(words)  # without what a comment tells about it
        if call not in self._said or not step.recalls:
            self._said[call] = self._run(step, words)
        if step.shown:
            assert_shown(step.shown, self._said[call], about=step.about)

    def _run(self, step: Command, words: list[str]) -> str:
        simple = not re.search(r"[|&;<>$]|^\w+=", step.line.partition("  #")[0])
        match words if simple else ["bash"]:
            case ["gradledger", *rest] if rest != ["trace"]:  # its example is ours, unless started afresh
                return self._in_child(lambda: _gradledger(rest), step.exit)
            case ["pytest", *rest]:
                return self._in_child(lambda: _pytest(*rest), step.exit)
            case ["python", "-c", code, *rest]:
                return self._in_child(lambda: _as_main(code, rest, text=True), step.exit)
            case ["python", script, *rest] if not script.startswith("-"):
                return self._in_child(lambda: _as_main(script, rest), step.exit)
            case ["make", *rest]:
                done = subprocess.run(["make", "-n", *rest], cwd=ROOT, capture_output=True, text=True)
            case _:
                done = subprocess.run(
                    ["bash", "-c", step.line],
                    cwd=self._folder,
                    env=self._environment(),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    encoding="utf-8",
                    timeout=240,
                )
        assert done.returncode == step.exit, f"{step.line} gave {done.returncode}\n{done.stdout}"
        return done.stdout

    def _in_child(self, run: Callable[[], int], status: int) -> str:
        def child(_: Path) -> int:
            signal.alarm(300)  # a page that hangs must not hang the tests
            os.dup2(1, 2)  # as on a terminal: one stream
            sys.stdout.reconfigure(line_buffering=True)
            sys.stderr.reconfigure(line_buffering=True)
            for name in set(os.environ) - set(self._environment()):
                del os.environ[name]
            os.chdir(self._folder)
            return run()

        done = forked(child, self._environment())
        assert done.status == status, f"gave {done.status}\n{done.stdout}"
        return done.stdout

    def _environment(self) -> dict[str, str]:
        beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if name not in SHAPING}
        own = {"GRADLEDGER_CACHE_DIR": ".cache", "GRADLEDGER_DATA": ".data"}
        own = {name: str(self._folder / folder) for name, folder in own.items()}
        return kept | own | {"PATH": beside, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1", "BROWSER": "true"}

    def _served(self, words: list[str]) -> None:
        """The page is there until Ctrl-C."""
        command = [sys.executable, "-m", *words]
        process = subprocess.Popen(
            command,
            cwd=self._folder,
            env=self._environment() | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            said = ""
            while not (address := re.search(r"http://127\.0\.0\.1:\d+/\S*", said)):
                line = process.stdout.readline()
                assert line, said
                said += line
            with urllib.request.urlopen(address[0], timeout=60) as answer:
                assert b"<html" in answer.read()[:4000]
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()

    def _tree(self, text: str) -> None:
        """Every first word of a line is a folder or a file; deeper lines are inside the last shallow one."""
        top = ROOT
        for line in text.splitlines():
            name = line.split()[0]
            path = (top if line.startswith(" ") else ROOT) / name
            assert path.exists(), line
            if not line.startswith(" "):
                top = path


def edited(text: str, lines: str) -> str:
    """The text with these lines in place of those with the same code; a new one goes before the next."""
    old, at, new = text.splitlines(), 0, []
    for line in lines.splitlines():
        code = line.partition("  #")[0].strip()
        place = next((i for i in range(at, len(old)) if old[i].strip() == code), None)
        if place is None:
            new.append(line.strip())
            continue
        indent = old[place][: len(old[place]) - len(old[place].lstrip())]
        old[place : place + 1] = [indent + line for line in [*new, line.strip()]]
        at, new = place + len(new) + 1, []
    assert not new, f"no line of the file is {new}"
    return "\n".join(old) + "\n"


def _load(program: str) -> None:
    """Import here, once, what the program imports: the child has it then."""
    for node in ast.walk(ast.parse(program)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        for name in names:
            importlib.import_module(name)


def _gradledger(words: list[str]) -> int:
    from gradledger.cli.main import main

    sys.argv = ["gradledger", *words]
    return main(words)


def _pytest(*words: str) -> int:
    """A process of its own: a pytest inside a child of pytest waits for a thread that was not forked."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    call = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(call, env=environ, timeout=240).returncode


def _as_main(script: str, rest: list[str] | None = None, *, text: bool = False) -> int:
    """Run a script, or the text of one, as Python would."""
    sys.argv = ["-c" if text else script, *(rest or [])]
    sys.path.insert(0, os.getcwd())
    try:
        if text:
            exec(compile(script, "<string>", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_path(script, run_name="__main__")
    except Exception:
        traceback.print_exc()
        return 1
    return 0
