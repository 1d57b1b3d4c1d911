from __future__ import annotations

import json

import pytest

from gradledger.audit.notebook_cells import NotebookError, notebook_cells
from tests.checking.notebooks import notebook


def code(text: str, **fields: object) -> dict[str, object]:
    return {"cell_type": "code", "source": text, **fields}


def whole(*cells: object, **fields: object) -> str:
    return json.dumps({"cells": cells, "nbformat": 4, **fields})


def texts(text: str) -> list[tuple[int, str]]:
    return [(cell.number, cell.text) for cell in notebook_cells(text).code]


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_each_piece_stands_where_it_is_said_to(indent: int | None) -> None:
    text = notebook("a = 'é'\nb\n", "c", indent=indent)
    cells = notebook_cells(text)
    assert cells.python
    assert [cell.text for cell in cells.code] == ["a = 'é'\nb\n", "c"]
    for cell in cells.code:
        assert cell.listed
        assert [json.loads(text[piece.start : piece.end]) for piece in cell.pieces] == [
            piece.text for piece in cell.pieces
        ]


def test_a_source_may_be_one_string_or_nothing() -> None:
    text = whole(code("a\nb"), code("c", source=[]))
    one, empty = notebook_cells(text).code
    (piece,) = one.pieces
    assert (one.listed, json.loads(text[piece.start : piece.end])) == (False, "a\nb")
    assert (empty.listed, empty.pieces, empty.text) == (True, (), "")


def test_only_code_counts_but_every_cell_has_a_number() -> None:
    assert texts(whole({"cell_type": "markdown", "source": "x"}, code("a"), 3, code("b"))) == [
        (2, "a"),
        (4, "b"),
    ]


def test_a_notebook_without_cells() -> None:
    assert texts('{"nbformat": 4, "cells": []}') == []
    assert texts('{"nbformat": 4}') == []


@pytest.mark.parametrize(
    "metadata",
    [
        {"language_info": {"name": "R"}},
        {"kernelspec": {"language": "julia"}},
        {"language_info": {}, "kernelspec": {"language": "scala"}},
    ],
)
def test_a_kernel_of_another_language(metadata: dict[str, object]) -> None:
    cells = notebook_cells(whole(code("a"), metadata=metadata))
    assert (cells.python, cells.code) == (False, ())


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        3,
        {},
        {"language_info": 3},
        {"language_info": {"name": 3}},
        {"language_info": {"name": "IPython"}},
        {"kernelspec": {"language": "PySpark"}},
        {"language_info": {"name": "python"}, "kernelspec": {"language": "R"}},
    ],
)
def test_python_or_no_word_of_it(metadata: object) -> None:
    assert texts(whole(code("a"), metadata=metadata)) == [(1, "a")]


def test_cells_in_another_language_are_left_out() -> None:
    sql, julia = {"vscode": {"languageId": "sql"}}, {"vscode": {"languageId": "python"}}
    text = whole(
        code("a", metadata=sql), code("b", language="julia"), code("c", metadata=julia, language="R")
    )
    assert texts(text) == [(3, "c")]


def test_sheets_of_the_time_before_format_4() -> None:
    cells = [{"cell_type": "code", "input": ["a"]}]
    sheets = [{"cells": cells}, {"metadata": {}}, {"cells": cells}]
    assert texts(json.dumps({"nbformat": 3, "worksheets": sheets})) == [(1, "a"), (2, "a")]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "is not valid JSON (Expecting an object)"),
        ("[]", 1, "is not valid JSON (Expecting an object)"),
        ("{", 1, "is not valid JSON (Expecting value)"),
        ('{"cells": []} x', 1, "is not valid JSON (Extra data)"),
        ('{"cells": [],\n 3: 4}', 2, "is not valid JSON (Expecting a name and ':')"),
        ('{"cells" []}', 1, "is not valid JSON (Expecting a name and ':')"),
        ('{"cells": []\n\n "nbformat": 4}', 3, "is not valid JSON (Expecting ',')"),
        ('{"cells": [],}', 1, "is not valid JSON (Expecting value)"),
        ('{"nbformat": 3, "worksheets": [\n3]}', 2, "is not valid JSON (Expecting an object)"),
        ('{"nbformat": 3, "worksheets": [{"cells": 3}]}', 1, "has no list of cells, so it is no notebook"),
        ('{"worksheets": 3}', 1, "has no list of cells, so it is no notebook"),
        ("{}", 1, "has no list of cells, so it is no notebook"),
        ('{"cells": {}}', 1, "has no list of cells, so it is no notebook"),
        ('{"cells": [\n{"cell_type": "code"}]}', 2, "has no source in cell 1"),
        ('{"cells": [{"cell_type": "code",\n "source": 3}]}', 2, "has no source in cell 1"),
        ('{"cells": [{"cell_type": "code",\n\n "source": ["a", 3]}]}', 3, "has no source in cell 1"),
        ('{"cells": ' + "[" * 100_000, 1, "is nested too deeply to be a notebook"),
    ],
)
def test_what_is_no_notebook_is_told_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(NotebookError) as caught:
        notebook_cells(text)
    assert (caught.value.line, caught.value.reason, str(caught.value)) == (line, reason, reason)
