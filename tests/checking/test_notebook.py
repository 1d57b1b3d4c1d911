from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.checking.document import open_document
from gradledger.checking.problem import Unreadable
from gradledger.rules.finding import Edit
from tests.checking.notebooks import notebook
from tests.samples import steady


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> Edit:
    return Edit("a.ipynb", start, end, text)


def sources(raw: bytes | str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(raw)["cells"]]


def test_cells_are_one_program_with_their_own_lines() -> None:
    document = open_document("a.ipynb", notebook("a\nb", "", "%%bash\nls", "c\n").encode())
    assert document.program == "a\nb\n\n\n\n\nc\n\n"
    places = [document.place(line) for line in range(1, 8)]
    assert places == [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2), (4, 1)]


def test_markdown_counts_among_the_cells() -> None:
    whole = json.loads(notebook("a", "b"))
    whole["cells"].insert(1, {"cell_type": "markdown", "metadata": {}, "source": ["loss.backward()"]})
    document = open_document("a.ipynb", json.dumps(whole).encode())
    assert document.program == "a\n\nb\n\n"
    assert document.place(3) == (3, 1)


@pytest.mark.parametrize("language", ["R", "julia", "scala"])
def test_other_languages_are_no_programs_of_ours(language: str) -> None:
    assert open_document("a.ipynb", notebook("loss.backward(", language=language).encode()).program == ""


def test_a_cell_in_another_language_is_left_out() -> None:
    whole = json.loads(notebook("a", "SELECT 1"))
    whole["cells"][1]["metadata"] = {"vscode": {"languageId": "sql"}}
    assert open_document("a.ipynb", json.dumps(whole).encode()).program == "a\n\n"


def test_the_old_format_is_read() -> None:
    cells = [{"cell_type": "code", "language": "python", "input": ["a\n", "b"], "outputs": []}]
    raw = json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]})
    document = open_document("a.ipynb", raw.encode())
    assert document.program == "a\nb\n\n"
    assert json.loads(document.rewritten([edit((2, 1), (2, 2), "c")]))["worksheets"][0]["cells"][0][
        "input"
    ] == [
        "a\n",
        "c",
    ]


@pytest.mark.parametrize(
    ("raw", "line", "words"),
    [
        (b"{", 1, "not valid JSON"),
        (b'{\n "cells": [\n  {,}\n ]\n}', 3, "not valid JSON"),
        (b"[]", 1, "not valid JSON"),
        (b"{} x", 1, "not valid JSON"),
        (b'{"a": 1}', 1, "no list of cells"),
        (b'{"cells": 1}', 1, "no list of cells"),
        (b'{"cells": [{"cell_type": "code", "source": 3}]}', 1, "no source in cell 1"),
        (b'{"cells": [{"cell_type": "code", "source": [3]}]}', 1, "no source in cell 1"),
        (b'{"cells": ' + b"[" * 100_000, 1, ""),
        (b'{"cells": [{"cell_type": "code", "source": ["a\\u0000"]}]}', 1, "null byte"),
    ],
)
def test_what_is_no_notebook_is_said_in_one_line(raw: bytes, line: int, words: str) -> None:
    with pytest.raises(Unreadable) as caught:
        open_document("a.ipynb", raw)
    assert caught.value.line == line
    assert words in caught.value.reason


def test_a_new_line_is_a_new_string_and_nothing_else_moves() -> None:
    raw = notebook("a\nb\n", "c = 'é'\nd").encode()
    after = open_document("a.ipynb", raw).rewritten([edit((5, 1), (5, 1), "new\n")])
    assert after == raw.replace(b'    "d"\n', b'    "new\\n",\n    "d"\n')


def test_behind_the_last_line_of_a_cell() -> None:
    raw = notebook("a\nb", "c").encode()
    after = open_document("a.ipynb", raw).rewritten([edit((3, 1), (3, 1), "  new\n")])
    assert sources(after) == ["a\nb\n  new", "c"]
    assert after == raw.replace(b'    "b"\n', b'    "b\\n",\n    "  new"\n')


def test_before_the_first_line_of_the_next_cell() -> None:
    raw = notebook("a\nb", "c").encode()
    assert sources(open_document("a.ipynb", raw).rewritten([edit((4, 1), (4, 1), "new\n")])) == [
        "a\nb",
        "new\nc",
    ]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [((1, 1), (2, 1), "b\nc"), ((2, 1), (3, 1), "a\nc"), ((2, 2), (3, 2), "a\nb"), ((1, 1), (3, 2), "")],
)
def test_lines_that_go_leave_no_empty_strings(start, end, expected) -> None:
    after = open_document("a.ipynb", notebook("a\nb\nc").encode()).rewritten([edit(start, end, "")])
    assert sources(after) == [expected]
    assert "" not in json.loads(after)["cells"][0]["source"]


def test_moving_a_line_between_cells() -> None:
    raw = notebook("a\nb\nc", "d").encode()
    after = open_document("a.ipynb", raw).rewritten([edit((2, 1), (3, 1), ""), edit((5, 1), (5, 1), "b\n")])
    assert sources(after) == ["a\nc", "b\nd"]


def test_an_edit_across_cells_is_refused() -> None:
    with pytest.raises(ValueError, match="one cell into another"):
        open_document("a.ipynb", notebook("a", "b").encode()).rewritten([edit((1, 1), (3, 1), "")])


def test_one_string_for_the_whole_cell_stays_one_string() -> None:
    raw = b'{"cells":[{"source":"a\\nb = \\"\\u00e9\\/\\"\\n","cell_type":"code"}],"nbformat":4}'
    after = open_document("a.ipynb", raw).rewritten([edit((2, 1), (2, 2), "ß")])
    assert after == raw.replace(b"\\nb = ", b"\\n\\u00df = ")


def test_escapes_of_a_changed_line_stay_as_they_are() -> None:
    raw = notebook(["x = 1\n"]).encode().replace(b'"x = 1\\n"', b'"x = \\"\\ud83d\\ude00\\u003c\\"\\n"')
    after = open_document("a.ipynb", raw).rewritten([edit((1, 9), (1, 9), "  # new")])
    assert after == raw.replace(b'\\u003c\\"', b'\\u003c\\"  # new')


lines = st.text(alphabet='ab =#é\t"\\😀', max_size=8)
cells = st.lists(st.lists(lines, max_size=5).map("\n".join), min_size=1, max_size=4)


@steady
@given(cells, st.sampled_from([None, 1, 4]), st.data())
def test_only_the_edited_cell_changes(texts: list[str], indent: int | None, data: st.DataObject) -> None:
    raw = notebook(*texts, indent=indent).encode()
    document = open_document("a.ipynb", raw)
    assert document.rewritten([]) == raw
    targets = [
        (document.place(n + 1), n + 1, line) for n, line in enumerate(document.program.split("\n")[:-1])
    ]
    targets = [t for t in targets if t[0][1] <= len(texts[t[0][0] - 1].split("\n")) and texts[t[0][0] - 1]]
    if not targets:
        return
    (cell, line), number, _ = data.draw(st.sampled_from(targets))
    after = document.rewritten([edit((number, 1), (number, 1), "new\n")])
    found = sources(after)
    before = texts[cell - 1].split("\n")
    assert found[cell - 1].split("\n") == [*before[: line - 1], "new", *before[line - 1 :]]
    assert found[: cell - 1] + found[cell:] == texts[: cell - 1] + texts[cell:]
    # all that is new is one string: the rest of the bytes is there as it was
    position = next(i for i, (x, y) in enumerate(zip(raw, after, strict=False)) if x != y)
    added = len(after) - len(raw)
    assert any(raw == after[:at] + after[at + added :] for at in range(max(0, position - 40), position + 1))
