from __future__ import annotations

import linecache
from pathlib import Path

import pytest

from gradledger.audit.source import comments, forget, hold, line_in_file, release, source_line, source_lines
from tests.checking.notebooks import save


def test_lines_are_counted_as_python_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"a = '\x0c'\r\nb = 2\rc = '\xe2\x80\xa8'\n")
    assert source_lines(str(path))[:3] == ("a = '\x0c'", "b = 2", "c = '\u2028'")
    assert source_line(str(path), 2) == "b = 2"
    assert source_line(str(path), 99) == ""
    assert source_line(str(path), 0) == ""


def test_declared_encoding_is_used_and_wrong_bytes_do_no_harm(tmp_path: Path) -> None:
    latin, broken = tmp_path / "latin.py", tmp_path / "broken.py"
    latin.write_bytes(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n")
    broken.write_bytes(b"x = '\xe9'\n")
    assert source_line(str(latin), 2) == "x = 'é'"
    assert source_line(str(broken), 1) == "x = '\ufffd'"


def test_an_encoding_that_nobody_knows_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: klingon\nx = 'caf\xc3\xa9'\n")
    assert source_line(str(path), 2) == "x = 'café'"


def test_a_codec_that_makes_no_text_of_bytes_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: rot13\nx = 'caf\xc3\xa9'\n")
    assert source_line(str(path), 2) == "x = 'café'"


def test_a_notebook_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert source_lines(str(tmp_path / "missing.ipynb"), 1) == ()


def test_a_program_that_stands_only_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """As IPython keeps its cells."""
    monkeypatch.setitem(linecache.cache, "<ipython-7>", (11, None, ["x = 1\r\n", "y = 2"], "<ipython-7>"))
    assert source_lines("<ipython-7>") == ("x = 1", "y = 2")


def test_a_plain_file_has_no_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("one")
    assert source_lines(str(path), 1) == ()


def test_what_cannot_be_read_has_no_lines(tmp_path: Path) -> None:
    assert source_lines(str(tmp_path / "missing.py")) == ()
    assert source_lines(str(tmp_path)) == ()
    assert source_lines("<string>") == ()
    assert source_lines("a\x00b") == ()


def test_text_is_read_once_until_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("one")
    assert source_line(str(path), 1) == "one"
    path.write_text("two")
    assert source_line(str(path), 1) == "one"
    forget()
    assert source_line(str(path), 1) == "two"


def test_only_real_comments_are_comments(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = '# no'\ny = 1  # yes\n")
    assert comments(str(path)) == {2: "# yes"}


def test_comments_of_text_that_is_no_python(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = (  # open\n%magic?  # here\n'''")
    assert comments(str(path)) == {1: "# open", 2: "# here"}


def test_a_cell_has_its_own_lines_and_comments(tmp_path: Path) -> None:
    path = str(save(tmp_path / "a.ipynb", "x = 1\n", "%who\ny = 2  # two"))
    assert source_lines(path) == ()
    assert source_lines(path, 2) == ("%who", "y = 2  # two")
    assert source_line(path, 1, 1) == "x = 1"
    assert source_lines(path, 9) == ()
    assert comments(path, 2) == {2: "# two"}
    (tmp_path / "broken.ipynb").write_text("{")
    assert source_lines(str(tmp_path / "broken.ipynb"), 1) == ()


def test_a_cells_line_in_the_file(tmp_path: Path) -> None:
    path = save(tmp_path / "a.ipynb", "a\nb", "c\n\nd = 'x'")
    lines = path.read_text().splitlines()
    for cell, line, text in ((1, 1, '"a\\n"'), (1, 2, '"b"'), (2, 2, '"\\n"'), (2, 3, '''"d = 'x'"''')):
        assert text in lines[line_in_file(str(path), line, cell) - 1]
    assert line_in_file(str(path), 7) == 7
    assert line_in_file(str(path), 7, 7) == 1


def test_a_cell_of_what_is_no_notebook_is_looked_for_at_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "broken.ipynb").write_text("{")
    assert line_in_file(str(tmp_path / "broken.ipynb"), 3, 1) == 1
    assert line_in_file(str(tmp_path / "missing.ipynb"), 3, 1) == 1


def test_a_text_that_stands_in_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("on disk  # one")
    assert source_line(str(path), 1) == "on disk  # one"
    hold(str(path), None, "in hand  # two")
    assert source_line(str(path), 1) == "in hand  # two"
    assert comments(str(path)) == {1: "# two"}
    release(str(path))
    assert comments(str(path)) == {1: "# one"}
