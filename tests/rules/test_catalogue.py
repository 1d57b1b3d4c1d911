"""The catalogue is complete, and no rule can be added that a user could not look up."""

from __future__ import annotations

import ast
import gc
import inspect
import re

import pytest

from gradledger.ledger.account import Account
from gradledger.ledger.books import Books
from gradledger.ledger.events import OptimizerStepped, RunEnded
from gradledger.ledger.journal import Entry
from gradledger.ledger.window import Window
from gradledger.rules.catalogue import catalogue, find
from gradledger.rules.draft import Draft
from gradledger.rules.example import PREAMBLE, marked_line, program
from gradledger.rules.finding import Severity
from gradledger.rules.rule import HEADINGS, Rule

NAMES = """
GL101 stale-gradient
GL102 cleared-before-step
GL103 cleared-inside-window
GL104 unguarded-grad-access
GL105 repeated-step
GL106 step-without-gradient
GL107 graph-kept-alive
GL108 repeated-backward
GL201 unscaled-window
GL202 leaked-tail
GL203 unequal-weights
GL204 short-first-window
GL205 scheduler-per-microbatch
GL206 scheduler-before-step
GL207 divided-twice
GL301 clip-before-unscale
GL302 step-bypasses-scaler
GL303 scaler-never-updated
GL304 clip-without-effect
GL305 backward-bypasses-scaler
GL306 nonfinite-step
GL307 clip-inside-window
GL308 scaler-recreated
GL309 clip-other-parameters
GL401 cross-optimizer-leak
GL402 parameter-outside-optimizer
GL403 optimizer-holds-other-parameters
GL404 optimizer-never-stepped
GL501 sync-every-microbatch
GL502 unsynced-step
"""

every_rule = pytest.mark.parametrize("rule", catalogue(), ids=lambda rule: rule.code)


def test_every_rule_is_there_under_its_name() -> None:
    assert [(rule.code, rule.name) for rule in catalogue()] == [
        tuple(row.split()) for row in NAMES.split("\n") if row
    ]


@every_rule
def test_a_rule_is_found_by_code_and_name(rule: Rule) -> None:
    assert find(rule.code.lower()) is rule
    assert find(f" {rule.name} ") is rule


def test_what_is_no_rule_is_not_found() -> None:
    assert find("GL999") is None
    assert find("stale") is None


@every_rule
def test_a_rule_lives_in_the_file_of_its_name(rule: Rule) -> None:
    file = f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert type(rule).__module__ == f"gradledger.rules.{file}"
    assert inspect.getmodule(rule).__doc__ == f"{rule.code} {rule.name}."  # type: ignore[union-attr]


@every_rule
def test_a_rule_explains_itself(rule: Rule) -> None:
    first, *rest = (inspect.getdoc(type(rule)) or "").splitlines()
    assert re.fullmatch(r"[A-Z`].*\.", first)
    assert [text for text in rest if text and not text.startswith(" ")] == list(HEADINGS)
    assert "\n" not in rule.summary
    assert rule.static
    assert rule.runtime


@every_rule
def test_rules_yield_only_to_rules_that_exist(rule: Rule) -> None:
    known = {other.code for other in catalogue()}
    assert known.issuperset(rule.yields_to)
    assert rule.code not in rule.yields_to


@every_rule
def test_a_bad_example_marks_one_line(rule: Rule) -> None:
    assert rule.bad.count("# <- here") == 1
    marked = program(rule.bad).splitlines()[marked_line(rule.bad) - 1]
    assert marked.endswith("  # <- here")
    assert marked_line(rule.bad) > len(PREAMBLE.splitlines())
    assert "# <- here" not in rule.good


@every_rule
@pytest.mark.parametrize("which", ["bad", "good"])
def test_an_example_is_a_program(rule: Rule, which: str) -> None:
    compile(program(getattr(rule, which)), "<example>", "exec")


@every_rule
def test_a_good_example_mends_the_bad_one_and_leaves_the_rest(rule: Rule) -> None:
    assert ast.dump(ast.parse(rule.bad)) != ast.dump(ast.parse(rule.good))
    bad, good = set(rule.bad.splitlines()), set(rule.good.splitlines())
    assert len(bad & good) >= len(bad) / 3


def documented(**missing: object) -> dict[str, object]:
    """A class body that is complete but for what is missing."""
    sections = "\n".join(f"{heading}\n    Text." for heading in HEADINGS)
    body: dict[str, object] = {
        "__doc__": f"A mistake.\n{sections}",
        "code": "GL999",
        "name": "made-up",
        "severity": Severity.ERROR,
        "summary": "something is wrong",
        "static": "yes",
        "runtime": "yes",
        "bad": "pass  # <- here\n",
        "good": "pass\n",
    }
    return {**body, **missing}


def test_a_complete_rule_can_be_defined() -> None:
    rule = type("Thorough", (Rule,), documented())
    assert rule.code == "GL999"
    del rule
    gc.collect()  # or the catalogue would find it


def test_all_that_a_rule_lacks_is_told_at_once() -> None:
    body = documented()
    for field in ("__doc__", "bad", "runtime"):
        del body[field]
    sections = ", ".join(f"the section {heading!r}" for heading in HEADINGS)
    with pytest.raises(TypeError) as caught:
        type("Hasty", (Rule,), body)
    assert str(caught.value) == f"rule Hasty lacks runtime, bad, {sections}"


@pytest.mark.parametrize("field", ["code", "name", "severity", "summary", "static", "runtime", "bad", "good"])
def test_a_rule_cannot_leave_anything_out(field: str) -> None:
    body = documented()
    del body[field]
    with pytest.raises(TypeError, match=f"^rule Hasty lacks {field}$"):
        type("Hasty", (Rule,), body)


@pytest.mark.parametrize(
    "field", ["__doc__", "bad", "good", "summary", "severity", "static", "runtime", "code"]
)
def test_a_rule_without_documents_or_examples_cannot_be_defined(field: str) -> None:
    with pytest.raises(TypeError, match=r"rule Hasty lacks"):
        type("Hasty", (Rule,), documented(**{field: ""}))


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_rule_without_a_section_cannot_be_defined(heading: str) -> None:
    text = str(documented()["__doc__"]).replace(heading, "Something else")
    with pytest.raises(TypeError, match=f"the section {heading!r}"):
        type("Hasty", (Rule,), documented(__doc__=text))


@pytest.mark.parametrize(
    "wrong", [{"code": "G1"}, {"code": "GL1010"}, {"name": "Made up"}, {"name": "made_up"}]
)
def test_a_rule_with_an_odd_code_or_name_cannot_be_defined(wrong: dict[str, str]) -> None:
    with pytest.raises(TypeError, match=r"^rule Hasty: a code reads GL101, a name stale-gradient$"):
        type("Hasty", (Rule,), documented(**wrong))


def test_what_a_rule_leaves_out_says_nothing() -> None:
    """Each rule judges where it has something to judge."""
    books, window = Books(), Window(OptimizerStepped(None, (), 1), ())
    entry, draft = Entry(RunEnded(None), Account(), Account()), Draft(None, "wrong")
    rule = Rule()
    assert (rule.on_entry(entry), rule.on_window(window), rule.on_books(books)) == ((), (), ())
    assert rule.refine(draft, books) is draft
