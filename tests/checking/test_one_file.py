from __future__ import annotations

import pytest

from gradledger.checking.one_file import check_file
from tests.checking.notebooks import notebook
from tests.checking.programs import CLEAN, STALE

with_stand_in = pytest.mark.usefixtures("stand_in")


@with_stand_in
@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"x\nSYNTAX\n", "a.py:2: cannot be parsed by Python 3."),
        (b"\xff", "a.py:1: is not utf-8: byte 0xff is no character; declare its encoding"),
        (b"DEEP", "a.py:1: is nested too deeply to be checked; exclude it"),
        (
            b"FAULT",
            "a.py:1: was not checked, by a fault of gradledger (KeyError: 'of our own\\nover two lines' at",
        ),
    ],
)
def test_every_trouble_is_one_line(raw: bytes, line: str) -> None:
    (problem,) = check_file("a.py", raw, None).problems
    assert str(problem).startswith(line)
    assert "\n" not in str(problem)


@with_stand_in
def test_findings_of_a_notebook_name_their_cells() -> None:
    raw = notebook("x\ny", "%time\nz\nMISTAKE").encode()
    (finding,) = check_file("a.ipynb", raw, None).findings
    assert (finding.site.cell, finding.site.line, finding.site.end_line) == (2, 3, 3)
    assert finding.message == "a mistake, after line 2 of cell 2"
    (related,) = finding.related
    assert (related.site.cell, related.site.line, related.message) == (2, 2, "see line 2 of cell 2")
    assert finding.fix is not None
    (edit,) = finding.fix.edits
    assert (edit.cell, edit.start, edit.end) == (2, (3, 1), (3, 8))


@with_stand_in
def test_a_syntax_error_in_a_notebook_names_its_cell() -> None:
    (problem,) = check_file("a.ipynb", notebook("x", "y\nSYNTAX").encode(), None).problems
    assert str(problem).startswith("a.ipynb:cell 2:2: cannot be parsed")


@with_stand_in
def test_notes_are_passed_on() -> None:
    assert check_file("a.py", b"NOTE", None).notes == ("cut short",)


def test_the_real_checker_finds_and_repairs() -> None:
    (finding,) = check_file("a.py", STALE.encode(), None).findings
    assert (finding.code, finding.site.line) == ("GL101", 7)
    assert finding.fix is not None
    assert check_file("a.py", CLEAN.encode(), None).findings == ()


def test_the_real_checker_reads_line_ends_of_every_kind() -> None:
    for end in (b"\r\n", b"\r"):
        (finding,) = check_file("a.py", STALE.encode().replace(b"\n", end), None).findings
        assert finding.site.line == 7


def test_the_real_checker_reads_a_notebook() -> None:
    before, after = STALE.split("for x", 1)
    raw = notebook("%matplotlib inline\n" + before, "!nvidia-smi", "for x" + after).encode()
    (finding,) = check_file("a.ipynb", raw, None).findings
    assert (finding.code, finding.site.cell, finding.site.line) == ("GL101", 3, 3)
