"""The first lines of a broken script name its codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.lessons.fault import CourseError
from gradledger.lessons.repairing.stated import stated


@pytest.mark.parametrize(
    ("head", "check", "run", "lines"),
    [
        ("# codes: GL103\n", {"GL103"}, {"GL103"}, 1),
        ("# codes: GL103, GL101\nimport torch\n", {"GL101", "GL103"}, {"GL101", "GL103"}, 1),
        ("# codes check: GL202\n# codes run: GL203\n", {"GL202"}, {"GL203"}, 2),
        ("# codes check:\n# codes run: GL306\nx = 1\n# codes: GL101\n", set(), {"GL306"}, 2),
    ],
)
def test_codes(tmp_path: Path, head: str, check: set[str], run: set[str], lines: int) -> None:
    script = tmp_path / "broken.py"
    script.write_text(head, encoding="utf-8")
    found = stated(script)
    assert (found.check, found.run, found.lines) == (check, run, lines)


@pytest.mark.parametrize("head", ["", "import torch\n", "# codes run: GL306\n", "# codes: 103\n"])
def test_a_script_that_does_not_say_is_told_so(tmp_path: Path, head: str) -> None:
    script = tmp_path / "broken.py"
    script.write_text(head, encoding="utf-8")
    with pytest.raises(CourseError, match=r"broken\.py:1: the first line must say"):
        stated(script)
