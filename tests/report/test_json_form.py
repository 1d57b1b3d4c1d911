from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given

from gradledger import __version__
from gradledger.audit.answer import Answer, Checked
from gradledger.ledger.site import Site
from gradledger.report.json_form import render
from gradledger.report.style import StreamFacts
from gradledger.rules.finding import Edit, Fix, Related
from tests.samples import answer, answers, finding, steady

FACTS = StreamFacts(cwd="/repo")


def test_the_whole_contract() -> None:
    found = finding(
        "/repo/a/train.py", related=(Related(Site("/else/b.py", 2), "the step"),), detail="d", remedy="r"
    )
    fix = Fix("clear them", (Edit("/repo/a/train.py", (5, 1), (5, 9), "x"),))
    site = replace(found.site, end_line=5, end_column=24)
    found = replace(found, site=site, count=124, first_step=2, ranks=(0, 1), fix=fix)
    assert json.loads(render(answer(found, notes=("n",)), FACTS)) == {
        "schema": 1,
        "tool": {"name": "gradledger", "version": __version__},
        "source": "runtime",
        "findings": [
            {
                "code": "GL101",
                "name": "stale-gradient",
                "severity": "error",
                "certainty": "certain",
                "path": "a/train.py",
                "line": 5,
                "column": 9,
                "end_line": 5,
                "end_column": 24,
                "cell": None,
                "message": "adds to gradients that the step at line 6 already applied",
                "detail": "d",
                "remedy": "r",
                "related": [{"path": "/else/b.py", "line": 2, "message": "the step"}],
                "count": 124,
                "first_step": 2,
                "ranks": [0, 1],
                "fix": {
                    "description": "clear them",
                    "edits": [{"path": "a/train.py", "start": [5, 1], "end": [5, 9], "text": "x"}],
                },
            }
        ],
        "checked": {"backwards": 125, "steps": 125, "parameters": 8},
        "notes": ["n"],
    }


def test_an_unknown_end_is_the_beginning() -> None:
    (found,) = json.loads(render(answer(finding()), FACTS))["findings"]
    assert (found["end_line"], found["end_column"]) == (found["line"], found["column"])
    assert found["fix"] is None
    assert found["count"] is None


def test_the_static_front_end_counts_files() -> None:
    assert json.loads(render(Answer("static", (), Checked(files=3)), FACTS))["checked"] == {"files": 3}


@steady
@given(answers)
def test_every_answer_becomes_ascii_json(given_answer: Answer) -> None:
    text = render(given_answer, FACTS)
    assert text.replace("\n", "").isprintable()
    assert text.isascii()
    whole = json.loads(text)
    assert [found["message"] for found in whole["findings"]] == [f.message for f in given_answer.findings]
