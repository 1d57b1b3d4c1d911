from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.checking.neighbours import Neighbours


@pytest.fixture
def project(tmp_path: Path) -> Path:
    texts = {
        "pyproject.toml": "",
        "scripts/train.py": "",
        "scripts/helper.py": "# helper",
        "shared/losses.py": "# losses",
        "src/pkg/__init__.py": "# pkg",
        "src/pkg/train.py": "",
        "src/pkg/steps.py": "# steps",
        "src/pkg/sub/__init__.py": "# sub",
        "src/pkg/sub/deep.py": "",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "importer", "level", "text"),
    [
        ("helper", "scripts/train.py", 0, "# helper"),
        ("shared.losses", "scripts/train.py", 0, "# losses"),
        ("pkg", "scripts/train.py", 0, "# pkg"),
        ("pkg.steps", "scripts/train.py", 0, "# steps"),
        ("steps", "src/pkg/train.py", 1, "# steps"),
        ("", "src/pkg/train.py", 1, "# pkg"),
        ("steps", "src/pkg/sub/deep.py", 2, "# steps"),
        ("", "src/pkg/sub/deep.py", 2, "# pkg"),
        ("sub", "src/pkg/train.py", 1, "# sub"),
        ("torch", "scripts/train.py", 0, None),
        ("", "scripts/train.py", 0, None),
        ("nothing", "src/pkg/train.py", 1, None),
    ],
)
def test_modules_are_found_by_path(
    project: Path, name: str, importer: str, level: int, text: str | None
) -> None:
    for cwd, path in (
        (project, importer),
        (project, str(project / importer)),
        (Path("/"), str(project / importer)),
    ):
        found = Neighbours(str(cwd))(name, path, level)
        assert (None if found is None else found[1]) == text


def test_nothing_outside_the_project_is_looked_at(project: Path) -> None:
    (project.parent / "outside.py").write_text("")
    assert Neighbours(str(project))("outside", str(project / "scripts" / "train.py"), 0) is None
    assert Neighbours("/")("outside", str(project / "scripts" / "train.py"), 0) is None


def test_without_a_project_the_package_is_the_border(tmp_path: Path) -> None:
    for name in ("x/pkg/__init__.py", "x/pkg/a.py", "x/near.py", "far.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    neighbours = Neighbours("/")
    importer = str(tmp_path / "x" / "pkg" / "a.py")
    assert neighbours("pkg.a", importer, 0) is not None
    assert neighbours("near", importer, 0) is not None
    assert neighbours("far", importer, 0) is None


def test_questions_and_answers_are_remembered(project: Path) -> None:
    neighbours = Neighbours(str(project))
    importer = str(project / "scripts" / "train.py")
    neighbours("helper", importer, 0)
    neighbours("torch", importer, 0)
    helper = str(project / "scripts" / "helper.py")
    assert neighbours.asked == {("helper", importer, 0): helper, ("torch", importer, 0): None}
    assert neighbours.raw(helper) == b"# helper"


def test_what_cannot_be_read_is_no_neighbour(project: Path) -> None:
    (project / "scripts" / "broken.py").write_bytes(b"\xff\0")
    assert Neighbours(str(project))("broken", str(project / "scripts" / "train.py"), 0) is None
