from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given

from gradledger.audit.answer import Answer, Checked
from gradledger.report.github_form import render
from gradledger.report.style import StreamFacts
from gradledger.rules.finding import Certainty, Severity
from tests.samples import answers, finding, steady

FACTS = StreamFacts(cwd="/repo")


def shown(found, **more) -> list[str]:
    return render(Answer("static", (found,), Checked(files=1), **more), FACTS).splitlines()


def test_a_command_for_the_line() -> None:
    found = finding("/repo/a/train.py", 5, remedy="clear, then go: 100%")
    found = replace(found, site=replace(found.site, end_line=5, end_column=24))
    command, last = shown(found)
    assert command == (
        "::error file=a/train.py,line=5,col=9,endLine=5,endColumn=24,title=GL101 stale-gradient"
        "::adds to gradients that the step at line 6 already applied%0Afix: clear, then go: 100%25"
    )
    assert last == "checked 1 file: 1 error"


def test_properties_are_escaped() -> None:
    command = shown(finding("/repo/a,b:c%.py"))[0]
    assert "file=a%2Cb%3Ac%25.py," in command


def test_levels() -> None:
    assert shown(finding(severity=Severity.WARNING))[0].startswith("::warning ")
    assert shown(finding(severity=Severity.PERFORMANCE))[0].startswith("::notice ")
    possible = shown(finding(certainty=Certainty.POSSIBLE))[0]
    assert possible.startswith("::notice ")
    assert "title=GL101 stale-gradient (possible)" in possible


def test_notes_are_seen_too() -> None:
    assert (
        shown(finding(), notes=("a.py:1: odd\nindeed",))[1]
        == "::warning title=gradledger::a.py:1: odd%0Aindeed"
    )


@steady
@given(answers)
def test_every_finding_is_one_command(answer: Answer) -> None:
    lines = re.split(r"\r\n|\r|\n", render(answer, FACTS))
    commands = [line for line in lines if line.startswith("::")]
    assert len(commands) == len(answer.findings) + len(answer.notes)
