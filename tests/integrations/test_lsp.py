"""The language server over its real protocol: a session, and what is told in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checking.programs import CLEAN, STALE
from tests.integrations.editor import PATIENCE, Editor, start

BROKEN = STALE.replace("loss.backward()", "loss.backward(")


def test_a_whole_session(tmp_path: Path) -> None:
    server = start(tmp_path)
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stderr is not None
    editor = Editor(tmp_path, server.stdout, server.stdin)
    greeting = editor.initialize()
    assert greeting["serverInfo"]["name"] == "gradledger"
    assert greeting["capabilities"]["codeActionProvider"]["codeActionKinds"] == [
        "quickfix",
        "source.fixAll.gradledger",
    ]
    assert greeting["capabilities"]["textDocumentSync"]["openClose"] is True
    assert greeting["capabilities"]["textDocumentSync"]["save"] is True
    uri = editor.open("train.py", STALE)
    (found,) = editor.diagnostics(uri)
    assert found["code"] == "GL101"
    editor.change(uri, CLEAN)
    assert editor.diagnostics(uri) == []
    editor.leave()
    assert server.wait(PATIENCE) == 0
    assert server.stderr.read() == b""


def test_what_a_diagnostic_says(editor: Editor) -> None:
    uri = editor.open("train.py", STALE)
    (found,) = editor.diagnostics(uri)
    assert found["range"] == {"start": {"line": 6, "character": 4}, "end": {"line": 6, "character": 19}}
    assert (found["severity"], found["code"], found["source"]) == (1, "GL101", "gradledger")
    assert found["message"].startswith("stale-gradient: adds to gradients")
    assert "zero_grad()" in found["message"]
    assert found["message"].endswith("\nmore: gradledger explain GL101")
    assert "codeDescription" not in found
    (related,) = found["relatedInformation"]
    assert related["location"]["uri"] == uri
    assert related["location"]["range"]["start"] == {"line": 7, "character": 4}


def test_possible_findings_are_hints_and_wasteful_ones_information(editor: Editor) -> None:
    from gradledger.rules.catalogue import find
    from gradledger.rules.example import PREAMBLE

    wasteful = find("GL501")
    assert wasteful is not None
    uri = editor.open("a.py", PREAMBLE + wasteful.bad)
    assert [(d["code"], d["severity"]) for d in editor.diagnostics(uri)] == [("GL501", 3)]
    perhaps = CLEAN.replace("    optimizer.zero_grad()", "    if flag:\n        optimizer.zero_grad()")
    uri = editor.open("b.py", perhaps)
    (found,) = editor.diagnostics(uri)
    assert (found["code"], found["severity"]) == ("GL101", 4)
    assert found["message"].startswith("possible stale-gradient: ")


def test_the_text_of_the_editor_counts_not_the_disk(editor: Editor) -> None:
    (editor.folder / "train.py").write_text(CLEAN)
    uri = editor.open("train.py", STALE)
    assert editor.diagnostics(uri) != []


def test_incremental_changes(editor: Editor) -> None:
    uri = editor.open("train.py", STALE)
    editor.diagnostics(uri)
    place = {"line": 6, "character": 0}
    editor.change(
        uri,
        {"range": {"start": place, "end": place}, "text": "    optimizer.zero_grad()\n"},
        {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "\n"},
    )
    assert editor.diagnostics(uri) == []
    editor.change(
        uri, {"range": {"start": {"line": 7, "character": 0}, "end": {"line": 8, "character": 0}}, "text": ""}
    )
    (found,) = editor.diagnostics(uri)
    assert found["range"]["start"]["line"] == 7


def test_a_form_feed_or_a_separator_ends_no_line(editor: Editor) -> None:
    text = "\f\nnote = '\u2028 \x1c \x85'\n" + STALE
    uri = editor.open("train.py", text)
    (found,) = editor.diagnostics(uri)
    assert found["range"]["start"]["line"] == 8
    call = "    optimizer.zero_grad()\n    loss.backward()"
    editor.change(uri, {"range": {**found["range"], "start": {"line": 8, "character": 0}}, "text": call})
    assert editor.diagnostics(uri) == []


def test_a_syntax_error_while_typing(editor: Editor) -> None:
    uri = editor.open("train.py", STALE)
    editor.diagnostics(uri)
    editor.change(uri, BROKEN)
    (found,) = editor.diagnostics(uri)
    assert found["severity"] == 3
    assert found["message"].startswith("not checked: ")
    assert found["range"]["start"]["line"] == 6
    assert "code" not in found
    assert editor.actions(uri, 0, 9) == []
    editor.change(uri, STALE)
    assert [d["code"] for d in editor.diagnostics(uri)] == ["GL101"]


def test_only_the_last_of_many_changes_is_told(editor: Editor) -> None:
    uri = editor.open("train.py", STALE)
    for number in range(20):
        editor.change(uri, STALE if number % 2 else BROKEN)
    editor.change(uri, CLEAN)
    assert editor.diagnostics(uri) == []
    assert editor.actions(uri, 0, 9) == []
    assert not editor.has_more("textDocument/publishDiagnostics", after=uri)


def test_a_long_check_blocks_nobody_and_its_late_result_is_dropped(
    connect: Callable[..., Editor], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "go")
    editor = connect(
        "import sys\n"
        "from gradledger.checking import program\n"
        "from gradledger.cli.main import main\n"
        "real = program.check_program\n"
        "def slow(text, *rest):\n"
        "    if 'SLOW' in text: open('go').read()\n"
        "    return real(text, *rest)\n"
        "program.check_program = slow\n"
        "sys.exit(main(['lsp']))"
    )
    uri = editor.open("train.py", STALE + "# SLOW\n")
    with (tmp_path / "go").open("w"):  # opens when the check has begun, and lets it end when closed
        editor.change(uri, CLEAN)
        assert editor.actions(editor.uri("other.py"), 0) == []
        assert not editor.has_more("textDocument/publishDiagnostics")
    assert editor.diagnostics(uri) == []
    assert not editor.has_more("textDocument/publishDiagnostics")


@pytest.mark.parametrize("size", ["deep", "long"])
def test_texts_that_no_one_can_have_written(editor: Editor, size: str) -> None:
    rest = "x = " + "-" * 100_000 + "1\n" if size == "deep" else "x = 1\n" * 1_000_000
    uri = editor.open("train.py", STALE + rest)
    (found,) = editor.diagnostics(uri)
    assert found["severity"] == 3
    assert found["message"].startswith("not checked: ")
    editor.change(uri, STALE)
    assert [d["code"] for d in editor.diagnostics(uri)] == ["GL101"]


@pytest.mark.parametrize(
    ("encoding", "column"), [("utf-8", 27), ("utf-16", 18), ("utf-32", 14), (None, 18)], ids=str
)
def test_columns_in_the_units_of_the_client(
    connect: Callable[..., Editor], encoding: str | None, column: int
) -> None:
    general = {} if encoding is None else {"positionEncodings": [encoding]}
    editor = connect(general=general)
    text = STALE.replace("    loss.backward()", "    '😀😀😀😀 ü'; loss.backward()")
    assert "'; loss" in text
    uri = editor.open("train.py", text)
    (found,) = editor.diagnostics(uri)
    assert found["range"]["start"] == {"line": 6, "character": column}
    assert found["range"]["end"] == {"line": 6, "character": column + len("loss.backward()")}
    # and the other way: the call is replaced by one that does not differentiate
    editor.change(uri, {"range": found["range"], "text": "loss.detach()"})
    editor.diagnostics(uri)
    editor.change(uri, {"range": {**found["range"], "end": {"line": 6, "character": 99}}, "text": "x.y()"})
    assert "GL101" not in [d.get("code") for d in editor.diagnostics(uri)]


def test_closing_takes_the_diagnostics_back(editor: Editor) -> None:
    uri = editor.open("train.py", STALE)
    assert editor.diagnostics(uri) != []
    editor.close(uri)
    assert editor.diagnostics(uri) == []
    editor.open("train.py", STALE)
    assert editor.diagnostics(uri) != []


def test_other_languages_and_unsaved_texts(editor: Editor) -> None:
    editor.open("notes.md", STALE, "markdown")
    uri = editor.open("untitled:Untitled-1", STALE)
    assert [d["code"] for d in editor.diagnostics(uri)] == ["GL101"]
    assert editor.actions(editor.uri("notes.md"), 6) == []
    assert editor.actions(editor.uri("unknown.py"), 6) == []


def test_a_fault_of_ours_is_logged_and_the_server_lives(connect: Callable[..., Editor]) -> None:
    editor = connect(
        "import sys\n"
        "from gradledger.checking import program\n"
        "from gradledger.cli.main import main\n"
        "real = program.check_program\n"
        "def faulty(text, *rest):\n"
        "    if 'FAULT' in text: raise KeyError('of our own')\n"
        "    return real(text, *rest)\n"
        "program.check_program = faulty\n"
        "sys.exit(main(['lsp']))"
    )
    uri = editor.open("train.py", STALE)
    assert editor.diagnostics(uri) != []
    editor.change(uri, STALE + "# FAULT\n")
    said = editor.wait_for("window/logMessage")
    assert said["type"] == 1
    assert "a fault of gradledger" in said["message"]
    assert "KeyError" in said["message"]
    assert editor.diagnostics(uri) == []
    assert editor.actions(uri, 6) == []
    other = editor.open("other.py", STALE)
    assert editor.diagnostics(other) != []


def test_a_message_that_makes_no_sense_is_survived(editor: Editor) -> None:
    editor.notify("textDocument/didChange", {"textDocument": {"uri": "file:///x.py", "version": 2}})
    editor.notify("gradledger/unknown")
    nowhere = {"uri": editor.uri("never_opened.py"), "version": 2}
    editor.notify("textDocument/didChange", {"textDocument": nowhere, "contentChanges": [{"text": ""}]})
    uri = editor.open("train.py", STALE)
    assert editor.diagnostics(uri) != []
