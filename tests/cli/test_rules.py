from __future__ import annotations

import json

from gradledger.rules.catalogue import catalogue


def test_the_table(command) -> None:
    done = command("rules")
    assert done.returncode == 0
    assert all(rule.code in done.stdout and rule.name in done.stdout for rule in catalogue())


def test_the_width_of_the_terminal(command) -> None:
    for columns in (60, 120):
        lines = command("rules", COLUMNS=str(columns)).stdout.splitlines()
        assert max(map(len, lines)) <= columns


def test_json(command) -> None:
    whole = json.loads(command("rules", "--format", "json").stdout)
    assert whole["schema"] == 1
    assert [rule["code"] for rule in whole["rules"]] == [rule.code for rule in catalogue()]
    assert set(whole["rules"][0]) == {"code", "name", "severity", "static", "runtime", "summary"}


def test_other_forms_are_errors(command) -> None:
    assert command("rules", "--format", "xml").returncode == 2
