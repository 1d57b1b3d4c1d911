from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gradledger.cli.check import add_arguments
from gradledger.report.forms import form_names
from tests.checking.notebooks import save
from tests.checking.programs import CLEAN, STALE


def piped(text: bytes, *args: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    call = [sys.executable, "-m", "gradledger", "check", *args]
    return subprocess.run(call, input=text, cwd=cwd, capture_output=True, check=False, timeout=60)


@pytest.fixture
def stale(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(STALE)
    return path


def test_the_flags_are_there(command) -> None:
    shown = command("check", "--help").stdout
    for flag in (
        "--fix",
        "--diff",
        "--select",
        "--ignore",
        "--format",
        "--output",
        "--strict",
        "--exit-zero",
        "--no-cache",
        "--baseline",
        "--write-baseline",
    ):
        assert flag in shown


def test_every_form_can_be_asked_for() -> None:
    import argparse

    parser = argparse.ArgumentParser()
    add_arguments(parser)
    (choices,) = [action.choices for action in parser._actions if action.dest == "format"]
    assert set(choices) == set(form_names())


def test_a_finding_is_shown_and_fails(command, stale: Path) -> None:
    done = command("check")
    assert done.returncode == 1
    assert "GL101 stale-gradient" in done.stdout
    assert "train.py:7" in done.stdout
    assert "checked 1 file: 1 error" in done.stdout
    assert "1 finding can be repaired" in done.stdout
    assert done.stderr == ""


def test_a_clean_tree_passes(command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CLEAN)
    (tmp_path / "b.py").write_text("x = 1\n")
    done = command("check", ".")
    assert (done.returncode, done.stdout, done.stderr) == (0, "checked 2 files: no findings\n", "")


def test_the_contract_for_programs(command, stale: Path) -> None:
    done = command("check", "--format", "json", str(stale))
    whole = json.loads(done.stdout)
    assert (whole["source"], whole["checked"]) == ("static", {"files": 1})
    (found,) = whole["findings"]
    assert (found["code"], found["path"], found["line"], found["column"]) == ("GL101", "train.py", 7, 5)
    assert (found["count"], found["first_step"], found["cell"]) == (None, None, None)
    assert set(found["fix"]) == {"description", "edits"}
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--exit-zero"], 0),
        (["--ignore", "GL101"], 0),
        (["--select", "GL3"], 0),
        (["--select", "stale-gradient"], 1),
        (["--select", "GL1,GL2", "--strict"], 1),
        (["--select", "nonsense"], 2),
        (["--select", ","], 2),
        (["--baseline", "missing.json"], 2),
        (["--format", "nonsense"], 2),
    ],
)
def test_exit_codes(command, stale: Path, args: list[str], code: int) -> None:
    done = command("check", *args)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("broken", [False, True])
def test_sarif_tells_whether_all_was_read(command, stale: Path, broken: bool) -> None:
    if broken:
        (stale.parent / "broken.py").write_text("def f(:\n    loss.backward()\n")
    done = command("check", "--format", "sarif", "--exit-zero")
    (invocation,) = json.loads(done.stdout)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is not broken
    assert [note["level"] for note in invocation["toolExecutionNotifications"]] == ["error"] * broken
    # --exit-zero forgives findings, not what could not be read
    assert done.returncode == (2 if broken else 0)


@pytest.mark.parametrize(
    "comment",
    ["# noqa", "# noqa: GL101", "# noqa:E501,GL101", "# noqa: E501 GL1", "# gradledger: allow[GL101]"],
)
def test_a_comment_allows_it(command, tmp_path: Path, comment: str) -> None:
    (tmp_path / "a.py").write_text(STALE.replace("backward()", f"backward()  {comment}"))
    assert command("check").returncode == 0


def test_other_comments_do_not(command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(STALE.replace("backward()", "backward()  # noqa: E501"))
    assert command("check").returncode == 1


def test_settings_hold(command, stale: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.gradledger]\nexclude = ["train.py"]\n')
    assert command("check").stdout == "checked 0 files: no findings\n"
    assert command("check", "train.py").returncode == 1, "a file that is named is checked"
    (tmp_path / "pyproject.toml").write_text('[tool.gradledger.per-file-ignores]\n"train.py" = ["GL101"]\n')
    assert command("check").returncode == 0


def test_known_findings_are_not_shown_again(command, stale: Path) -> None:
    assert command("check", "--write-baseline", "known.json").returncode == 0
    done = command("check", "--baseline", "known.json")
    assert done.returncode == 0
    assert "1 finding is known from the baseline" in done.stdout
    stale.write_text("import os\n" + STALE)
    assert command("check", "--baseline", "known.json").returncode == 0
    stale.write_text(STALE + STALE)
    assert command("check", "--baseline", "known.json").returncode == 1


def test_a_diff_that_patch_understands(command, stale: Path, tmp_path: Path) -> None:
    stale.write_bytes(STALE.rstrip("\n").replace("\n", "\r\n").encode())
    before = stale.read_bytes()
    done = piped(b"", "--diff", cwd=tmp_path)
    assert done.returncode == 1
    assert stale.read_bytes() == before
    assert done.stderr.decode() == "--fix would repair 1 finding in 1 file\n"
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "-p0", "-"], cwd=tmp_path, input=done.stdout, check=True)
    assert stale.read_bytes() == CLEAN.rstrip("\n").replace("\n", "\r\n").encode()


def test_a_repair_keeps_mode_and_link(command, stale: Path, tmp_path: Path) -> None:
    stale.chmod(0o755)
    (tmp_path / "link.py").symlink_to(stale)
    done = command("check", "--fix", "link.py")
    assert done.returncode == 0
    assert "repaired 1 finding in 1 file" in done.stdout
    assert stale.read_text() == CLEAN
    assert stat.S_IMODE(stale.stat().st_mode) == 0o755
    assert (tmp_path / "link.py").is_symlink()
    assert command("check", "--fix").returncode == 0
    assert stale.read_text() == CLEAN
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith(".grad")) == [
        "link.py",
        "train.py",
    ]


def test_only_what_is_wanted_is_repaired(command, stale: Path) -> None:
    assert command("check", "--fix", "--ignore", "GL101").returncode == 0
    assert stale.read_text() == STALE


def test_repairs_and_programs(command, stale: Path) -> None:
    done = command("check", "--fix", "--format", "json")
    assert json.loads(done.stdout)["findings"] == []
    assert done.stderr == "repaired 1 finding in 1 file\n"


def test_standard_input(tmp_path: Path) -> None:
    done = piped(STALE.encode(), "-", cwd=tmp_path)
    assert done.returncode == 1
    assert b"<stdin>:7" in done.stdout
    assert "◄".encode() in done.stdout, "the lines are shown"
    allowed = STALE.replace("backward()", "backward()  # noqa: GL101")
    assert piped(allowed.encode(), "-", cwd=tmp_path).returncode == 0
    named = piped(STALE.encode(), "-", "--stdin-filename", "a/train.py", cwd=tmp_path)
    assert b"a/train.py:7" in named.stdout


def test_standard_input_is_repaired_to_standard_output(tmp_path: Path) -> None:
    raw = STALE.replace("\n", "\r\n").encode()
    done = piped(raw, "-", "--fix", cwd=tmp_path)
    assert done.stdout == CLEAN.replace("\n", "\r\n").encode()
    assert b"repaired 1 finding" in done.stderr
    assert done.returncode == 0
    assert piped(b"x = 1\n", "-", "--fix", cwd=tmp_path).stdout == b"x = 1\n"


def test_a_notebook(command, tmp_path: Path) -> None:
    before, after = STALE.split("for x", 1)
    path = save(tmp_path / "nb.ipynb", "%matplotlib inline\n" + before, "!nvidia-smi", "for x" + after)
    raw = path.read_bytes()
    done = command("check")
    assert done.returncode == 1
    assert "nb.ipynb:cell 3:3" in done.stdout
    assert "3 │     loss.backward()" in done.stdout
    (found,) = json.loads(command("check", "--format", "json").stdout)["findings"]
    assert (found["cell"], found["line"], found["fix"]["edits"][0]["cell"]) == (3, 3, 3)
    assert "--- nb.ipynb:cell 3" in command("check", "--diff").stdout
    line = next(n for n, text in enumerate(raw.splitlines(), 1) if b"loss.backward" in text)
    assert f"::error file=nb.ipynb,line={line},title=" in command("check", "--format", "github").stdout
    assert command("check", "--fix").returncode == 0
    new = b'    "    optimizer.zero_grad()\\n",\n'
    place = raw.index(b'    "    loss.backward()')
    assert path.read_bytes() == raw[:place] + new + raw[place:]


def test_bad_input_is_one_line_each_and_the_rest_is_checked(command, stale: Path, tmp_path: Path) -> None:
    bad = {
        "syntax.py": b"loss.backward()\ndef f(:\n",
        "two.py": b"loss.backward()\nprint 'hello'\n",
        "null.py": b"loss.backward()\n\0",
        "binary.py": b"\x89PNG\xff\xfe backward(",
        "huge.py": b"x = 1  # backward()\n" * 300_000,
        "deep.py": b"x.backward = " + b"(" * 3000 + b")" * 3000,
        "broken.ipynb": b'{"cells": [{"backward(',
        "list.ipynb": b'["backward()"]',
    }
    for name, raw in bad.items():
        (tmp_path / name).write_bytes(raw)
    (tmp_path / "empty.py").touch()
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    done = command("check", ".", "missing.py")
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert sorted(line.split(":")[0] for line in lines) == sorted([*bad, "loop.py", "missing.py"])
    assert all(line.split(":")[1].isdigit() for line in lines)
    assert "GL101" in done.stdout
    assert "Traceback" not in done.stderr
    assert "syntax.py:2: cannot be parsed" in done.stderr
    assert "two.py:2: looks like Python 2" in done.stderr
    whole = json.loads(command("check", ".", "--format", "json").stdout)
    assert len(whole["notes"]) == len(lines) - 1


def test_a_report_in_a_file(command, stale: Path, tmp_path: Path) -> None:
    done = command("check", "--format", "sarif", "--output", "out.sarif")
    assert done.stdout == "checked 1 file: 1 error (report in out.sarif)\n"
    assert json.loads((tmp_path / "out.sarif").read_text())["version"] == "2.1.0"
    done = command("check", "--output", "no/such/folder.txt")
    assert done.returncode == 2
    assert done.stderr.startswith("gradledger check: cannot write the report")


def test_the_cache_is_beside_the_project_or_not_at_all(command, stale: Path, tmp_path: Path) -> None:
    command("check", "--no-cache")
    assert not (tmp_path / ".gradledger_cache").exists()
    assert command("check", GRADLEDGER_CACHE_DIR=str(tmp_path / "kept")).returncode == 1
    assert len(list((tmp_path / "kept").glob("*.json"))) == 1
    again = command("check", GRADLEDGER_CACHE_DIR=str(tmp_path / "kept"))
    assert "GL101 stale-gradient" in again.stdout


def test_starting_costs_little(python, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    code = (
        "from gradledger.cli.main import main\n"
        "main(['check', 'a.py'])\n"
        "import sys\n"
        "print('loaded:', *sys.modules)"
    )
    done = python("-c", code)
    loaded = set(done.stdout.rpartition("loaded:")[2].split())
    assert "checked 1 file: no findings" in done.stdout
    heavy = {
        "torch",
        "multiprocessing",
        "concurrent.futures",
        "asyncio",
        "gradledger.rules.gl101_stale_gradient",
    }
    assert not heavy & loaded
    assert not {name for name in loaded if name.startswith(("gradledger.static", "gradledger.runtime"))}


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_a_file_that_cannot_be_written(command, stale: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is closed to root")
    tmp_path.chmod(0o555)
    done = command("check", "--fix", "--no-cache")
    tmp_path.chmod(0o755)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert stale.read_text() == STALE
