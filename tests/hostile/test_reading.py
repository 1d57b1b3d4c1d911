"""Which files are read and written: those that were named, and nothing that somebody's data names besides."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

import pytest

from gradledger.audit.globs import matches
from gradledger.audit.wildcards import expression
from gradledger.checking.gitignore import IgnoreFile, is_ignored, read_rules
from tests.hostile.commands import civil, ended, within
from tests.report.recorded import PROGRAM, saved, stale_run

SECRET = "password = 'correct horse'  # gradledger: allow[stale-gradient]\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere" / "secret.py"
    path.parent.mkdir()
    path.write_text(SECRET * 20)
    return path


@pytest.mark.parametrize("form", ["html", "markdown", "json", "text"])
@pytest.mark.parametrize("way", ["straight", "dots", "link"])
def test_a_recording_shows_no_lines_of_files_elsewhere(
    form: str, way: str, project: Path, secret: Path
) -> None:
    named = {"straight": str(secret), "dots": "../elsewhere/secret.py", "link": str(project / "link.py")}[way]
    (project / "link.py").symlink_to(secret)
    saved(project / "run.jsonl", stale_run(named))
    told = civil("report", "run.jsonl", "--format", form, "--output", "out")
    assert told.code == 0
    assert "lies elsewhere; --sources FOLDER" in told.out
    assert "correct horse" not in (project / "out").read_text()
    assert "GL101" in (project / "out").read_text()  # nor does a comment there allow anything
    told = civil("report", "run.jsonl", "--format", "text", "--sources", str(secret.parent))
    assert "GL101" not in told.out  # now it does


def test_the_programs_own_lines_are_shown(project: Path, tmp_path: Path, monkeypatch) -> None:
    saved(project / "run.jsonl", stale_run(project / "train.py"))
    assert "optimizer.step()" in civil("report", "run.jsonl", "--format", "text").out
    monkeypatch.chdir(tmp_path / "..")
    assert "optimizer.step()" in civil("report", str(project / "run.jsonl"), "--format", "text").out


@pytest.mark.parametrize("kind", ["pipe", "zero", "folder", "loop", "missing"])
def test_what_is_no_file_has_no_lines(kind: str, project: Path) -> None:
    odd = project / "odd.py"
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "zero":
        odd.symlink_to("/dev/zero")
    elif kind == "folder":
        odd.mkdir()
    elif kind == "loop":
        odd.symlink_to(odd)
    saved(project / "run.jsonl", stale_run(odd))
    told = civil("report", "run.jsonl", "--format", "text", "--sources", "/dev")
    assert "GL101" in told.out


def test_a_repository_brings_links(project: Path, secret: Path, tmp_path: Path) -> None:
    """Those to files elsewhere are not followed, so that --fix changes nothing there; those inside are."""
    secret.write_text(PROGRAM)
    (project / "away.py").symlink_to(secret)
    (project / "inside.py").symlink_to(project / "train.py")
    (project / ".gradledger_cache").symlink_to(secret.parent)
    (project / "pyproject.toml").write_text("")
    told = ended("check", "--format", "json", ".")
    assert json.loads(told.out)["checked"] == {"files": 2}
    assert [path.name for path in secret.parent.iterdir()] == ["secret.py"]
    assert ended("check", "--fix", ".").code in (0, 1)
    assert secret.read_text() == PROGRAM
    assert (project / "train.py").read_text() != PROGRAM
    assert ended("check", "--format", "json", "away.py").out.count('"GL101"') == 1  # what is named is read


@pytest.mark.parametrize("name", [".gitignore", ".git/config", ".git/info/exclude"])
def test_devices_and_pipes_in_place_of_gits_files_are_left_alone(name: str, project: Path) -> None:
    place = project / name
    place.parent.mkdir(parents=True, exist_ok=True)
    (project / ".git").mkdir(exist_ok=True)
    place.symlink_to("/dev/zero")
    assert civil("check", ".").code == 1
    place.unlink()
    os.mkfifo(place)
    assert civil("check", ".").code == 1


@pytest.mark.parametrize("target", ["/dev/zero", "pipe"])
def test_a_baseline_is_a_file(target: str, project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.gradledger]\nbaseline = "known.json"\n')
    if target == "pipe":
        os.mkfifo(project / "known.json")
    else:
        (project / "known.json").symlink_to(target)
    told = civil("check", ".")
    assert (told.code, told.err.endswith("known.json: is no file\n")) == (2, True)


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*a*a*a*b", "**/*a*a*a*a*a*a*a*b", "**/a/**/a/**/a/**/a/**/b"])
def test_no_pattern_of_a_repository_takes_for_ever(pattern: str) -> None:
    for path in ("a" * 250, "a/" * 1000):
        with within(60):
            assert not matches(pattern, f"/r/{path}", "/r")
            assert not is_ignored(f"/r/{path}", (IgnoreFile("/r/", read_rules(pattern)),), folder=False)


def test_quick_patterns_mean_what_slow_ones_mean() -> None:
    plain = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    chance = random.Random(3)
    hits = 0
    for _ in range(4000):
        tokens: list[tuple[str, bool]] = []
        for _ in range(chance.randrange(1, 8)):
            choices = ["*", "*", "**", "a", "a", "b", "/", "/", "[^/]"]
            choices += ["**/"] * 3 * (not tokens or tokens[-1][0] in ("/", "**/"))
            piece = chance.choice(choices)
            tokens.append((piece, piece in plain))
        slow = re.compile("".join(plain[text] if wild else text for text, wild in tokens), re.DOTALL)
        quick = re.compile(expression(tokens), re.DOTALL)
        for _ in range(4):
            path = "".join(chance.choice("aab/") for _ in range(chance.randrange(9)))
            found = slow.fullmatch(path) is not None
            hits += found
            assert (quick.fullmatch(path) is not None) == found, (tokens, path)
    assert hits > 1000
