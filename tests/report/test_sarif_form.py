from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from hypothesis import given

from gradledger import __version__
from gradledger.audit.answer import Answer, Checked
from gradledger.ledger.site import Site
from gradledger.report.sarif_form import render
from gradledger.report.style import StreamFacts
from gradledger.rules.catalogue import catalogue
from gradledger.rules.finding import Certainty, Edit, Fix, Related, Severity
from tests.checking.notebooks import save
from tests.report.sarif_shape import complaints
from tests.samples import answers, finding, steady

FACTS = StreamFacts(cwd="/repo")


def run_of(*findings, notes: tuple[str, ...] = ()) -> dict:
    log = json.loads(render(Answer("static", findings, Checked(files=1), notes), FACTS))
    assert complaints(log) == []
    (run,) = log["runs"]
    return run


def test_every_rule_is_described() -> None:
    driver = run_of()["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("gradledger", __version__)
    assert [rule["id"] for rule in driver["rules"]] == [rule.code for rule in catalogue()]
    for rule in driver["rules"]:
        assert rule["help"]["markdown"].count("```") == 4
        assert "What is wrong" in rule["help"]["text"]
        assert rule["fullDescription"]["text"].endswith(".")


def test_a_result() -> None:
    fix = Fix("clear them", (Edit("/repo/a b.py", (5, 1), (5, 1), "zero\n"),))
    related = (Related(Site("/else/c.py", 2), "the step"),)
    found = replace(finding("/repo/a b.py", related=related, remedy="clear"), fix=fix)
    (result,) = run_of(found)["results"]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("GL101", 0, "error")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 5, "startColumn": 9}
    other = result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]
    assert other == {"uri": "file:///else/c.py"}
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 5, "startColumn": 1, "endLine": 5, "endColumn": 1},
            "insertedContent": {"text": "zero\n"},
        }
    ]


def test_levels_and_ranks() -> None:
    def level(**more) -> str:
        (result,) = run_of(finding(**more))["results"]
        return result["level"]

    assert level(severity=Severity.WARNING) == "warning"
    assert level(severity=Severity.PERFORMANCE) == "note"
    assert level(certainty=Certainty.POSSIBLE) == "note"


def test_a_fingerprint_outlives_moved_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("loss.backward()\nloss.backward()\n\nloss.backward(x)\n")
    marks = [
        result["partialFingerprints"]["gradledger/v1"]
        for result in run_of(finding(path, 1), finding(path, 2), finding(path, 4))["results"]
    ]
    assert len(set(marks)) == 3
    assert marks[0].partition(":")[0] == marks[1].partition(":")[0]


def test_a_notebook_is_shown_by_the_lines_of_its_file(tmp_path: Path) -> None:
    path = save(tmp_path / "a.ipynb", "x\ny", "z\nloss.backward()")
    found = finding(path, 2)
    fix = Fix("clear", (Edit(str(path), (2, 1), (2, 1), "zero\n", cell=2),))
    found = replace(found, site=replace(found.site, cell=2), fix=fix)
    (result,) = run_of(found)["results"]
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "loss.backward()" in text)
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": line}
    assert result["locations"][0]["logicalLocations"][0]["name"] == "cell 2, line 2"
    assert "fixes" not in result


def test_notes_are_notifications() -> None:
    (invocation,) = run_of(notes=("a.py:1: odd",))["invocations"]
    assert invocation["toolExecutionNotifications"] == [
        {"level": "warning", "message": {"text": "a.py:1: odd"}}
    ]


@steady
@given(answers)
def test_every_answer_has_the_shape(answer: Answer) -> None:
    text = render(answer, FACTS)
    assert text.isascii()
    assert complaints(json.loads(text)) == []
