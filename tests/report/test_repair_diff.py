from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.report.repair_diff import diff
from gradledger.rules.finding import Edit, Fix


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_line_after_the_last(tmp_path: Path, end: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"for x in y:\n    a()\n    step(){end}")
    where = (4, 1) if end else (3, 11)
    text = "    clear()\n" if end else "\n    clear()"
    lines = diff(Fix("", (Edit(str(path), where, where, text),)), str(tmp_path))
    assert lines[:2] == ["--- train.py", "+++ train.py"]
    assert lines[2:] == ["@@ -2,2 +2,3 @@", "     a()", "     step()", "+    clear()"]


def test_a_file_read_without_its_last_line_end(tmp_path: Path) -> None:
    import linecache

    path = tmp_path / "train.py"
    path.write_text("a()\nstep()\n")
    linecache.getlines(str(path))
    fix = Fix("", (Edit(str(path), (3, 1), (3, 1), "clear()\n"), Edit(str(path), (1, 1), (2, 1), "")))
    assert diff(fix, str(tmp_path))[2:] == ["@@ -1,2 +1,2 @@", "-a()", " step()", "+clear()"]


def test_an_edit_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("a()\n")
    assert diff(Fix("", (Edit(str(path), (9, 1), (9, 1), "b"),)), str(tmp_path)) == []
    assert diff(Fix("", (Edit(str(tmp_path / "gone.py"), (3, 1), (3, 1), "b"),)), str(tmp_path)) == []
