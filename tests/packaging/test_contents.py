"""What is in the distributions: all that the program and its tests need, and nothing else."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

import gradledger
from tests.packaging.environments import ROOT, Built

PACKAGE = ROOT / "src" / "gradledger"


def sources() -> set[str]:
    """The files of the package as they lie in the tree, without what Python leaves there."""
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(ROOT / "src").as_posix() for path in files}


def tracked() -> set[str]:
    """The files of the repository, as git knows them, new ones included."""
    call = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).exists()}


def names(archive: Path) -> set[str]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name for name in wheel.namelist() if not name.endswith("/")}
    with tarfile.open(archive) as sdist:
        return {member.name.partition("/")[2] for member in sdist.getmembers() if member.isfile()}


def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    inside = names(built.wheel)
    described = {name for name in inside if ".dist-info/" in name}
    assert inside - described == sources()
    folder = f"gradledger-{gradledger.__version__}.dist-info"
    wanted = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert described == {f"{folder}/{name}" for name in wanted}


def test_the_wheel_holds_what_is_not_python(built: Built) -> None:
    """Named one by one: a file that left the tree would be missed by nobody else."""
    inside = names(built.wheel)
    lesson = "gradledger/lessons/course/l07_once_per_window"
    assert {
        "gradledger/py.typed",
        f"{lesson}/lesson.md",
        f"{lesson}/quiz.toml",
        "gradledger/lessons/glossary.toml",
        "gradledger/lessons/myths/m03_only_sgd_needs_it/myth.md",
        "gradledger/lessons/playground/assets/playground.html",
        "gradledger/lessons/playground/assets/course.css",
        "gradledger/report/page/template.html",
        "gradledger/report/page/page.css",
        "gradledger/report/page/timeline.js",
    } <= inside


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only a clone knows what belongs to the project")
def test_the_sdist_is_the_repository(built: Built) -> None:
    assert names(built.sdist) - {"PKG-INFO"} == tracked()


def test_the_sdist_holds_what_its_tests_read(built: Built) -> None:
    needed = {"mkdocs.yml", "action.yml", ".pre-commit-hooks.yaml", ".ci/run", "Makefile", "constraints.txt"}
    needed |= {
        "README.md",
        "docs/build.py",
        "examples/tokens.py",
        "tests/conftest.py",
        "benchmarks/exactness.py",
    }
    assert needed <= names(built.sdist)


def test_the_wheel_of_the_sdist_is_the_same_to_the_byte(built: Built) -> None:
    assert built.wheel_of_sdist.read_bytes() == built.wheel.read_bytes()


def test_the_metadata_is_the_projects(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        metadata = HeaderParser().parsestr(wheel.read(name).decode())
    assert metadata["Version"] == gradledger.__version__
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload() == (ROOT / "README.md").read_text(encoding="utf-8")
    required = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert [line.split(">")[0] for line in required] == ["tomli"]
