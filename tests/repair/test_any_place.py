"""Whatever lines a finding names, asking for repairs never fails, and what is offered is a program."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gradledger.ledger.site import Site
from gradledger.repair.apply import applied
from gradledger.repair.program import read
from gradledger.repair.propose import proposals, repairers
from gradledger.rules.catalogue import catalogue
from gradledger.rules.finding import Certainty, Finding, Related

CORPUS = Path(__file__).parent.parent / "corpus"
CODES = [rule for rule in catalogue() if repairers(rule.code)]


@pytest.mark.parametrize("rule", CODES, ids=lambda rule: rule.code)
def test_findings_at_any_lines_do_no_harm(rule) -> None:
    chance = random.Random(rule.code)
    for script in chance.sample(sorted(CORPUS.glob("*/*.py")), 60):
        text = script.read_text(encoding="utf-8")
        count = text.count("\n")
        calls = [n for n, line in enumerate(text.splitlines(), 1) if "(" in line] or [1]
        for _ in range(5):
            lines = [chance.choice(calls), chance.choice(calls), chance.randint(1, count + 2)]
            chance.shuffle(lines)
            here, *others = (Site("f.py", line, chance.choice([1, 5])) for line in lines)
            given = Finding(
                rule.code,
                rule.name,
                rule.severity,
                Certainty.CERTAIN,
                here,
                "clips after the step",
                tuple(Related(site, "") for site in others),
            )
            for fix in proposals(given, text):
                after = applied(text, fix.edits)
                assert read(after) is not None
                assert after != text
