"""Notebooks over the real protocol: the cells are one program."""

from __future__ import annotations

from tests.checking.programs import STALE
from tests.integrations.editor import Editor, Json, applied

HEAD, LOOP = STALE.split("for x, y", 1)
LOOP = "for x, y" + LOOP.rstrip("\n")


def cell_uri(editor: Editor, number: int) -> str:
    return f"vscode-notebook-cell:{editor.folder}/nb.ipynb#W{number}"


def item(editor: Editor, number: int, text: str, language: str = "python", version: int = 1) -> Json:
    uri = cell_uri(editor, number)
    return {"uri": uri, "languageId": language, "version": version, "text": text}


def open_notebook(editor: Editor, *texts: str) -> str:
    """The cells; a text that begins with # is prose."""
    uri = editor.uri("nb.ipynb")
    cells = [
        {"kind": 1 if text.startswith("# ") else 2, "document": cell_uri(editor, number)}
        for number, text in enumerate(texts)
    ]
    # a client sends the texts of Python cells only, as it was asked to
    items = [item(editor, n, text) for n, text in enumerate(texts) if not text.startswith("# ")]
    notebook = {"uri": uri, "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
    editor.notify("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": items})
    return uri


def change(editor: Editor, uri: str, **cells: object) -> None:
    identifier = {"uri": uri, "version": 2}
    params = {"notebookDocument": identifier, "change": {"cells": cells}}
    editor.notify("notebookDocument/didChange", params)


def content(editor: Editor, number: int, version: int, *changes: Json) -> Json:
    identifier = {"uri": cell_uri(editor, number), "version": version}
    return {"document": identifier, "changes": list(changes)}


def close(editor: Editor, uri: str, *numbers: int) -> None:
    cells = [{"uri": cell_uri(editor, number)} for number in numbers]
    params = {"notebookDocument": {"uri": uri}, "cellTextDocuments": cells}
    editor.notify("notebookDocument/didClose", params)


def test_the_greeting_asks_for_cells(connect) -> None:
    editor = connect()
    greeting = editor.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert "notebookDocumentSync" not in greeting["capabilities"]
    capabilities = {"notebookDocument": {"synchronization": {}}}
    greeting = editor.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
    (selector,) = greeting["capabilities"]["notebookDocumentSync"]["notebookSelector"]
    assert selector["cells"] == [{"language": "python"}]


def test_the_cells_are_one_program(editor: Editor) -> None:
    uri = open_notebook(editor, "# Training", "%matplotlib inline\n" + HEAD, LOOP)
    head, loop = cell_uri(editor, 1), cell_uri(editor, 2)
    assert editor.diagnostics(head, 1) == []
    (found,) = editor.diagnostics(loop, 1)
    assert found["code"] == "GL101"
    assert found["range"]["start"] == {"line": 2, "character": 4}
    assert "line 4 of cell 3" in found["message"]
    assert found["relatedInformation"][0]["location"]["uri"] == loop
    close(editor, uri, 1, 2)
    assert editor.diagnostics(loop) == []


def test_a_repair_of_a_cell(editor: Editor) -> None:
    uri = open_notebook(editor, HEAD, LOOP)
    loop = cell_uri(editor, 1)
    editor.diagnostics(loop, 1)
    for action in editor.actions(loop, 2):
        (edited,) = action["edit"]["documentChanges"]
        assert edited["textDocument"] == {"uri": loop, "version": 1}
        after = applied(LOOP, edited["edits"])
        assert after != LOOP
        change(editor, uri, textContent=[content(editor, 1, 2, {"text": after})])
        assert editor.diagnostics(loop, 2) == []
        change(editor, uri, textContent=[content(editor, 1, 1, {"text": LOOP})])
        assert editor.diagnostics(loop, 1) != []
    assert editor.actions(cell_uri(editor, 0), 0, 9, only=["quickfix"]) == []
    close(editor, uri, 0, 1)


def test_changes_inside_a_cell(editor: Editor) -> None:
    uri = open_notebook(editor, HEAD, LOOP)
    loop = cell_uri(editor, 1)
    assert editor.diagnostics(loop, 1) != []
    place = {"line": 2, "character": 0}
    insert = {"range": {"start": place, "end": place}, "text": "    optimizer.zero_grad()\n"}
    change(editor, uri, textContent=[content(editor, 1, 2, insert)])
    assert editor.diagnostics(loop, 2) == []
    close(editor, uri, 0, 1)


def test_cells_come_and_go(editor: Editor) -> None:
    uri = open_notebook(editor, HEAD)
    assert editor.diagnostics(cell_uri(editor, 0), 1) == []
    fresh = {"kind": 2, "document": cell_uri(editor, 7)}
    array = {"start": 1, "deleteCount": 0, "cells": [fresh]}
    change(editor, uri, structure={"array": array, "didOpen": [item(editor, 7, LOOP)]})
    assert [d["code"] for d in editor.diagnostics(cell_uri(editor, 7), 1)] == ["GL101"]
    removed = {"array": {"start": 1, "deleteCount": 1}, "didClose": [{"uri": cell_uri(editor, 7)}]}
    change(editor, uri, structure=removed)
    assert editor.diagnostics(cell_uri(editor, 7)) == []
    close(editor, uri, 0)


def test_a_syntax_error_is_told_in_its_cell(editor: Editor) -> None:
    uri = open_notebook(editor, HEAD, "x = 1\n" + LOOP.replace("backward()", "backward("))
    (found,) = editor.diagnostics(cell_uri(editor, 1), 1)
    assert found["message"].startswith("not checked: ")
    assert found["range"]["start"]["line"] == 3
    close(editor, uri, 0, 1)


def test_the_order_of_the_cells_counts(editor: Editor) -> None:
    """Moved up, the loop comes before what it needs; nothing is certain then, and nothing breaks."""
    uri = open_notebook(editor, HEAD, LOOP)
    assert editor.diagnostics(cell_uri(editor, 1), 1) != []
    cells = [{"kind": 2, "document": cell_uri(editor, number)} for number in (1, 0)]
    change(editor, uri, structure={"array": {"start": 0, "deleteCount": 2, "cells": cells}})
    editor.diagnostics(cell_uri(editor, 0), 1)
    editor.notify("notebookDocument/didSave", {"notebookDocument": {"uri": uri}})
    editor.diagnostics(cell_uri(editor, 0), 1)
    close(editor, uri, 0, 1)
