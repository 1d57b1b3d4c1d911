"""What the rules say, word for word: the message, the numbers, the advice, and the lines that belong to it.

The words stand in told.txt. After a wanted change, `python -m tests.rules.test_told` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.rules.finding import Finding
from tests.ledger_script import Script
from tests.rules import mistakes_around_it, mistakes_in_the_cycle
from tests.rules.company import company
from tests.rules.told import PROGRAMS, said

assert mistakes_in_the_cycle, mistakes_around_it  # they fill PROGRAMS

WORDS = Path(__file__).with_name("told.txt")


def _told() -> dict[str, str]:
    parts = f"\n{WORDS.read_text(encoding='utf-8')}".split("\n== ")[1:]
    return {name: text.strip() for name, _, text in (part.partition("\n") for part in parts)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_one_file(name: str) -> None:
    assert said(PROGRAMS[name]()) == _told()[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_several_files(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Script, "apart", True)
    assert said(PROGRAMS[name]()) == _told()[f"{name}, in several files"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_company_that_does_everything_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = PROGRAMS[name]().end().findings
    monkeypatch.setattr(Script, "before", company)
    together = PROGRAMS[name]().end().findings
    assert [_essence(finding) for finding in together] == [_essence(finding) for finding in alone]


def _essence(finding: Finding) -> tuple[object, ...]:
    """What does not depend on how many steps others have made."""
    return finding.code, finding.certainty, finding.site, finding.message, finding.related, finding.count


def test_others_who_do_everything_right_are_not_spoken_of() -> None:
    script = Script()
    company(script)
    assert script.end().findings == ()


def test_nothing_is_told_of_programs_that_are_gone() -> None:
    assert set(_told()) == {*PROGRAMS, *(f"{name}, in several files" for name in PROGRAMS)}


if __name__ == "__main__":
    pages = []
    for Script.apart, end in ((False, ""), (True, ", in several files")):
        pages += [f"== {name}{end}\n{said(write())}\n" for name, write in PROGRAMS.items()]
    WORDS.write_text("\n".join(pages), encoding="utf-8")
