from __future__ import annotations

from pathlib import Path

from gradledger.report.forms import form_names
from gradledger.report.markdown_form import render
from gradledger.report.style import StreamFacts
from gradledger.rules.finding import Certainty
from tests.samples import TRAIN, answer, finding


def test_it_is_a_form() -> None:
    assert "markdown" in form_names()


def test_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    found = finding(path, detail="124 of 125 steps", remedy="call `zero_grad()` first")
    text = render(answer(found, notes=("cut *short*",)), StreamFacts(cwd=str(tmp_path)))
    assert text.startswith("## ❌ gradledger: audited 125 backward passes")
    assert "### ❌ GL101 stale-gradient (error)" in text
    assert "`train.py:5`: a step applies gradients" in text
    assert "```text\n" in text
    assert "loss.backward()" in text
    assert "**Fix:** call `zero_grad()` first" in text
    assert "> cut \\*short\\*" in text


def test_possible_ones_are_folded_away() -> None:
    text = render(answer(finding(certainty=Certainty.POSSIBLE)), StreamFacts())
    assert "<details><summary>1 possible</summary>" in text


def test_nothing_found() -> None:
    assert render(answer(), StreamFacts()).startswith("## ✅")


def test_names_and_source_are_no_markup(tmp_path: Path) -> None:
    path = tmp_path / "a`b<img>.py"
    path.write_text(TRAIN.replace("loss.backward()", "loss.backward()  # ```\n# <script>"))
    text = render(answer(finding(path, message="<b> [x](y) @someone")), StreamFacts(cwd=str(tmp_path)))
    assert "``a`b<img>.py:5``" in text
    assert "````text\n" in text
