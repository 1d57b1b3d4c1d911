from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

import gradledger.cli
from gradledger import __version__
from gradledger.cli import quiet
from gradledger.cli.commands import commands, load
from gradledger.cli.main import main


def test_version(command) -> None:
    done = command("--version")
    assert (done.returncode, done.stdout) == (0, f"gradledger {__version__}\n")


def test_help_lists_every_command(command) -> None:
    done = command("--help")
    assert done.returncode == 0
    for name, entry in commands().items():
        assert name in done.stdout
        assert entry.summary in done.stdout


def test_no_command_shows_help_on_stderr(command) -> None:
    done = command()
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: gradledger" in done.stderr


@pytest.mark.parametrize("name", ["frobnicate", "main", "conclude", "__init__", "\x1b[2J", "../run"])
def test_an_unknown_command_is_one_line(command, name: str) -> None:
    done = command(name)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "no command" in done.stderr
    assert "\x1b" not in done.stderr


def test_an_unknown_option_is_an_error(command) -> None:
    assert command("--frobnicate").returncode == 2
    assert command("rules", "--form", "json").returncode == 2, "abbreviations would become contracts"


@pytest.mark.parametrize("name", commands())
def test_what_is_read_from_the_text_is_what_the_file_says(name: str) -> None:
    module = load(commands()[name])
    assert name == module.NAME
    assert commands()[name].summary == module.HELP
    module.add_arguments(argparse.ArgumentParser())


@pytest.mark.parametrize("name", commands())
def test_every_command_has_help(command, name: str) -> None:
    done = command(name, "--help")
    assert done.returncode == 0
    assert f"usage: gradledger {name}" in done.stdout


NEW = """
NAME = "new"
HELP = "does something new"

def add_arguments(parser):
    parser.add_argument("--fail", action="store_true")

def run(args):
    if args.fail:
        raise KeyboardInterrupt
    return 7
"""


@pytest.fixture
def new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "new.py").write_text(NEW)
    monkeypatch.setattr(gradledger.cli, "__path__", [*gradledger.cli.__path__, str(tmp_path)])


@pytest.mark.usefixtures("new")
def test_a_new_file_is_a_new_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new"]) == 7
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "does something new" in capsys.readouterr().out


@pytest.mark.usefixtures("new")
def test_an_interrupt_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "--fail"]) == quiet.INTERRUPTED
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("line", ["rules --format json", "explain all", "--help"])
def test_a_reader_that_goes_away_is_no_error(python, line: str) -> None:
    program = (
        "import os, subprocess, sys\n"
        "read, write = os.pipe()\n"
        "os.close(read)\n"
        f"done = subprocess.run([sys.executable, '-m', 'gradledger', *{line.split()!r}],"
        " stdout=write, stderr=subprocess.PIPE)\n"
        "print(done.returncode, done.stderr)\n"
    )
    code, said = python("-c", program).stdout.split()
    assert said == "b''"
    # argparse keeps silent about an unbuffered stream that cannot be written
    assert int(code) in ((0, quiet.PIPE_BROKEN) if line == "--help" else (quiet.PIPE_BROKEN,))


@pytest.mark.skipif(sys.platform == "win32", reason="closing by the shell")
def test_closed_streams_do_no_harm(python) -> None:
    line = f"{sys.executable} -m gradledger rules >&- 2>&-"
    program = f"import subprocess; print(subprocess.call({line!r}, shell=True))"
    assert python("-c", program).stdout.strip() == "0"
