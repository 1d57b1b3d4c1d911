from __future__ import annotations

from gradledger.checking.difference import difference
from tests.checking.notebooks import notebook


def test_lines_are_those_of_patch() -> None:
    before, after = b"a\x0cb\nc", b"a\x0cb\nd\n"
    assert difference("/x/a.py", "a.py", before, after) == (
        "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n a\x0cb\n-c\n\\ No newline at end of file\n+d\n"
    )
    assert difference("/x/a.py", "a.py", before, before) == ""


def test_a_notebook_is_shown_cell_by_cell() -> None:
    before, after = notebook("a", "b\n", "c").encode(), notebook("a", "B\n", "c").encode()
    assert difference("/x/a.ipynb", "a.ipynb", before, after) == (
        "--- a.ipynb:cell 2\n+++ a.ipynb:cell 2\n@@ -1 +1 @@\n-b\n+B\n"
    )
