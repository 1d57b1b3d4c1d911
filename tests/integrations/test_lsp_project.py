"""The language server in a project: configuration, comments, and modules that import each other."""

from __future__ import annotations

import pytest

from tests.checking.programs import CLEAN, STALE
from tests.integrations.editor import Editor

HELPER = """\
def update(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
USER = """\
import torch
from helper import update

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = (model(x) - y).pow(2).mean()  # then comes the backward
    update(loss, optimizer)
"""


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('ignore = ["GL203"]', True),
        ('ignore = ["GL101"]', False),
        ('select = ["GL2"]', False),
        ('exclude = ["train.py"]', False),
        ('[tool.gradledger.per-file-ignores]\n"tr*.py" = ["stale-gradient"]', False),
        ('[tool.gradledger.per-file-ignores]\n"test_*.py" = ["GL1"]', True),
    ],
)
def test_the_nearest_configuration_counts(editor: Editor, settings: str, told: bool) -> None:
    (editor.folder / "pyproject.toml").write_text(f"[tool.gradledger]\n{settings}\n")
    assert bool(editor.diagnostics(editor.open("train.py", STALE))) is told


def test_a_changed_configuration_is_seen(editor: Editor) -> None:
    uri = editor.open("train.py", STALE)
    assert editor.diagnostics(uri) != []
    project = editor.folder / "pyproject.toml"
    project.write_text('[tool.gradledger]\nignore = ["GL1"]\n')
    changes = [{"uri": project.as_uri(), "type": 1}]
    editor.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    assert editor.diagnostics(uri) == []
    assert editor.actions(uri, 6) == []
    project.unlink()
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert editor.diagnostics(uri) != []


def test_a_broken_configuration_is_told_and_not_followed(editor: Editor) -> None:
    (editor.folder / "pyproject.toml").write_text('[tool.gradledger]\nignor = ["GL1"]\n')
    uri = editor.open("train.py", STALE)
    assert editor.diagnostics(uri) != []
    assert "ignor: unknown key" in editor.wait_for("window/logMessage")["message"]


def test_files_are_watched(connect) -> None:
    editor = connect()
    (registration,) = editor.wait_for("client/registerCapability")["registrations"]
    assert registration["method"] == "workspace/didChangeWatchedFiles"
    watched = [watcher["globPattern"] for watcher in registration["registerOptions"]["watchers"]]
    assert watched == ["**/pyproject.toml", "**/*.py"]


@pytest.mark.parametrize("comment", ["# gradledger: allow[stale-gradient]", "# noqa: GL101", "# noqa"])
def test_comments_in_the_text_of_the_editor(editor: Editor, comment: str) -> None:
    (editor.folder / "train.py").write_text(STALE)
    uri = editor.open("train.py", STALE.replace("backward()", f"backward()  {comment}"))
    assert editor.diagnostics(uri) == []
    (editor.folder / "other.py").write_text(STALE.replace("backward()", f"backward()  {comment}"))
    assert editor.diagnostics(editor.open("other.py", STALE)) != []


def test_a_comment_that_allows_nothing_is_told_once(editor: Editor) -> None:
    text = STALE.replace("backward()", "backward()  # gradledger: allow[stale-gradent]")
    uri = editor.open("train.py", text)
    assert editor.diagnostics(uri) != []
    assert "allow[stale-gradent] names no rule" in editor.wait_for("window/logMessage")["message"]


def test_a_baseline_is_known(editor: Editor) -> None:
    import json

    known = {"code": "GL101", "path": "train.py", "text": "loss.backward()", "count": 1}
    baseline = {"schema": 1, "tool": "gradledger", "findings": [known]}
    (editor.folder / "known.json").write_text(json.dumps(baseline))
    (editor.folder / "pyproject.toml").write_text('[tool.gradledger]\nbaseline = "known.json"\n')
    assert editor.diagnostics(editor.open("train.py", STALE)) == []
    (editor.folder / "known.json").write_text("{")
    assert editor.diagnostics(editor.open("again.py", STALE)) != []


def test_a_module_that_is_open_is_read_from_the_editor(editor: Editor) -> None:
    (editor.folder / "pyproject.toml").write_text("")
    (editor.folder / "helper.py").write_text(HELPER)
    user = editor.open("train.py", USER)
    assert editor.diagnostics(user) == []
    wrong = HELPER.replace("    optimizer.zero_grad()\n", "")
    helper = editor.open("helper.py", wrong)
    while not (found := editor.diagnostics(helper)):
        pass  # the helper alone is no mistake, the program that calls it tells
    assert [(d["code"], d["range"]["start"]["line"]) for d in found] == [("GL101", 1)]
    # the user of the helper is checked again as the helper changes
    editor.change(helper, HELPER)
    while editor.diagnostics(helper):
        pass
    editor.change(helper, wrong)
    while not editor.diagnostics(helper):
        pass
    # closed, it is what stands on the disk
    editor.close(helper)
    while editor.diagnostics(helper):
        pass


def test_a_finding_in_a_module_that_is_not_open_is_shown_there(editor: Editor) -> None:
    (editor.folder / "pyproject.toml").write_text("")
    (editor.folder / "helper.py").write_text(HELPER.replace("    optimizer.zero_grad()\n", ""))
    user = editor.open("train.py", USER)
    helper = editor.uri("helper.py")
    (found,) = editor.diagnostics(helper)
    assert found["code"] == "GL101"
    editor.close(user)
    assert editor.diagnostics(helper) == []


def test_many_files_at_a_time(editor: Editor) -> None:
    opened = [editor.open(f"file{number}.py", STALE if number % 2 else CLEAN) for number in range(12)]
    for number, uri in enumerate(opened):
        assert bool(editor.diagnostics(uri)) is bool(number % 2)
