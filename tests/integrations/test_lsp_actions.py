"""Code actions over the real protocol: what they offer, and that the result is clean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.checking.programs import CLEAN, STALE
from tests.integrations.editor import Editor, Json, applied

TWO = STALE + STALE.replace("import torch\n", "").replace("model", "other").replace("optimizer", "second")
"""Two loops with the same mistake, at lines 7 and 14."""


def edits_of(action: Json, uri: str, version: int) -> list[Json]:
    """The edits for one text, which must be of the version that was asked about."""
    (change,) = action["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": uri, "version": version}
    return change["edits"]


def named(actions: list[Json], part: str) -> Json:
    (action,) = [action for action in actions if part in action["title"]]
    return action


def test_a_quick_fix_makes_it_clean(editor: Editor) -> None:
    uri = editor.open("train.py", STALE)
    (found,) = editor.diagnostics(uri)
    action = editor.actions(uri, 6)[0]
    assert action["title"].startswith("GL101: clear before this backward()")
    assert (action["kind"], action["isPreferred"]) == ("quickfix", True)
    assert action["diagnostics"] == [found]
    after = applied(STALE, edits_of(action, uri, 1))
    assert after == CLEAN
    editor.change(uri, after)
    assert editor.diagnostics(uri) == []
    assert editor.actions(uri, 0, 9) == []


def test_actions_are_for_the_text_as_it_is_now(editor: Editor) -> None:
    uri = editor.open("train.py", CLEAN)
    editor.change(uri, "\n" + STALE)  # nobody waits for its diagnostics
    action = editor.actions(uri, 7)[0]
    assert applied("\n" + STALE, edits_of(action, uri, 2)) == "\n" + CLEAN


def test_only_findings_at_the_range(editor: Editor) -> None:
    uri = editor.open("train.py", TWO)
    lines = [found["range"]["start"]["line"] for found in editor.diagnostics(uri)]
    assert lines == [6, 13]
    assert editor.actions(uri, 0, 5, only=["quickfix"]) == []
    assert len(editor.actions(uri, 6, only=["quickfix"])) == 2  # the repair and the permission
    assert len(editor.actions(uri, 0, 20, only=["quickfix"])) == 4


def test_fix_all(editor: Editor) -> None:
    uri = editor.open("train.py", TWO)
    editor.diagnostics(uri)
    (action,) = editor.actions(uri, 0, only=["source.fixAll.gradledger"])
    assert (action["title"], action["kind"]) == ("Fix all gradledger problems", "source.fixAll.gradledger")
    after = applied(TWO, edits_of(action, uri, 1))
    assert after.count("zero_grad()") == 2
    editor.change(uri, after)
    assert editor.diagnostics(uri) == []
    assert editor.actions(uri, 0, only=["source.fixAll"]) == []


@pytest.mark.parametrize(
    ("context", "kinds"),
    [
        ({}, {"quickfix", "source.fixAll.gradledger"}),
        ({"triggerKind": 2}, {"quickfix"}),
        ({"only": ["quickfix"]}, {"quickfix"}),
        ({"only": ["source"]}, {"source.fixAll.gradledger"}),
        ({"only": ["source.fixAll"], "triggerKind": 2}, {"source.fixAll.gradledger"}),
        ({"only": ["source.fixAll.other"]}, set()),
        ({"only": ["refactor", "source.organizeImports"]}, set()),
    ],
    ids=["all", "light bulb", "quick", "source", "on saving", "another tool", "other kinds"],
)
def test_the_kinds_that_are_asked_for(editor: Editor, context: dict[str, Any], kinds: set[str]) -> None:
    uri = editor.open("train.py", STALE)
    assert {action["kind"] for action in editor.actions(uri, 6, **context)} == kinds


def test_allowing_it_here(editor: Editor) -> None:
    uri = editor.open("train.py", STALE)
    action = named(editor.actions(uri, 6), "allow stale-gradient here")
    assert "isPreferred" not in action
    after = applied(STALE, edits_of(action, uri, 1))
    assert "    loss.backward()  # gradledger: allow[stale-gradient]\n" in after
    editor.change(uri, after)
    assert editor.diagnostics(uri) == []


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("loss.backward()  # why", "loss.backward()  # why  # gradledger: allow[stale-gradient]"),
        ("loss.backward()   ", "loss.backward()  # gradledger: allow[stale-gradient]"),
        (
            "loss.backward()  # gradledger: allow[GL204]",
            "loss.backward()  # gradledger: allow[GL204, stale-gradient]",
        ),
        ("loss.backward(\n    )", "loss.backward(  # gradledger: allow[stale-gradient]\n    )"),
        ("loss \\\n    .backward()", "loss \\\n    .backward()  # gradledger: allow[stale-gradient]"),
    ],
    ids=["comment", "blanks", "other rule", "two lines", "backslash"],
)
def test_where_the_permission_is_written(editor: Editor, line: str, allowed: str) -> None:
    text = STALE.replace("loss.backward()", line)
    uri = editor.open("train.py", text)
    assert editor.diagnostics(uri) != []
    action = named(editor.actions(uri, 6, 7), "allow")
    after = applied(text, edits_of(action, uri, 1))
    assert after == STALE.replace("loss.backward()", allowed)
    editor.change(uri, after)
    assert editor.diagnostics(uri) == []


def test_line_ends_and_a_last_line_without_one(editor: Editor) -> None:
    for name, ending in (("windows.py", "\r\n"), ("unix.py", "\n")):
        text = STALE.rstrip("\n").replace("\n", ending)
        uri = editor.open(name, text)
        editor.diagnostics(uri)
        fix, allow = editor.actions(uri, 6, only=["quickfix"])
        after = applied(text, edits_of(fix, uri, 1))
        assert after == CLEAN.rstrip("\n").replace("\n", ending)
        assert applied(text, edits_of(allow, uri, 1)).count(ending) == text.count(ending)


def test_a_repair_behind_the_last_line(editor: Editor) -> None:
    from gradledger.rules.catalogue import find
    from gradledger.rules.example import PREAMBLE

    rule = find("GL303")
    assert rule is not None
    text = (PREAMBLE + rule.bad).rstrip()
    uri = editor.open("train.py", text)
    (found,) = editor.diagnostics(uri)
    action = editor.actions(uri, found["range"]["start"]["line"])[0]
    after = applied(text, edits_of(action, uri, 1))
    assert after.startswith(text + "\n")
    editor.change(uri, after)
    assert editor.diagnostics(uri) == []


def test_columns_before_an_edit_are_in_the_units_of_the_client(connect: Callable[..., Editor]) -> None:
    for encoding in ("utf-8", "utf-16"):
        editor = connect(general={"positionEncodings": [encoding]})
        text = STALE.replace("    loss.backward()", "    '😀 ü'; loss.backward()  # 😀 end  ")
        uri = editor.open("train.py", text)
        editor.diagnostics(uri)
        for action in editor.actions(uri, 6, only=["quickfix"]):
            after = applied(text, edits_of(action, uri, 1), encoding)
            assert after.count("😀") == 2
            editor.change(uri, after)
            assert editor.diagnostics(uri) == []
            uri = editor.open("train.py", text)


def test_a_client_that_knows_no_versions(connect: Callable[..., Editor]) -> None:
    editor = connect(workspace={})
    uri = editor.open("train.py", STALE)
    action = editor.actions(uri, 6)[0]
    assert "documentChanges" not in action["edit"]
    assert applied(STALE, action["edit"]["changes"][uri]) == CLEAN
