from __future__ import annotations

from pathlib import Path

import pytest

import gradledger.report
from gradledger.report import json_form, text_form
from gradledger.report.forms import form_names, renderer


def test_forms_are_the_files() -> None:
    assert {"json", "text"} <= set(form_names())
    assert renderer("json") is json_form.render
    assert renderer("text") is text_form.render


def test_a_new_file_is_a_new_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "count_form.py").write_text(
        "def render(answer, facts):\n    return str(len(answer.findings))\n"
    )
    monkeypatch.setattr(gradledger.report, "__path__", [*gradledger.report.__path__, str(tmp_path)])
    assert "count" in form_names()
    assert renderer("count").__module__ == "gradledger.report.count_form"


def test_an_unknown_form_is_an_error() -> None:
    with pytest.raises(ValueError, match="no output form"):
        renderer("forms")
