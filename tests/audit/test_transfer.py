from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.audit.answer import Answer
from gradledger.audit.transfer import answer_from_json, answer_to_json
from gradledger.rules.finding import Certainty, Severity
from tests.samples import answer, answers, finding, steady


@steady
@given(answers)
def test_nothing_is_lost(given_answer: Answer) -> None:
    text = answer_to_json(given_answer)
    assert "\n" not in text
    assert text.isascii()
    assert answer_from_json(text) == given_answer


def test_types_come_back_too() -> None:
    (back,) = answer_from_json(answer_to_json(answer(finding(ranks=(0, 1))))).findings
    assert back.severity is Severity.ERROR
    assert back.certainty is Certainty.CERTAIN
    assert isinstance(back.ranks, tuple)


def spoilt(*path: str | int, value: Any) -> str:
    whole = json.loads(answer_to_json(answer(finding(ranks=(0,)), notes=("n",))))
    place = whole
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(whole)


FIRST = ("answer", "findings", 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "[" * 100_000,
        spoilt("transfer", value=2),
        spoilt("transfer", value=True),
        spoilt("more", value=1),
        spoilt("answer", value=None),
        spoilt("answer", "source", value=1),
        spoilt("answer", "notes", value="n"),
        spoilt("answer", "notes", 0, value=None),
        spoilt("answer", "checked", "steps", value=True),
        spoilt("answer", "checked", "steps", value=1.0),
        spoilt("answer", "checked", "steps", value="1"),
        spoilt(*FIRST, "code", value=...),
        spoilt(*FIRST, "extra", value=1),
        spoilt(*FIRST, "severity", value="fatal"),
        spoilt(*FIRST, "severity", value=["error"]),
        spoilt(*FIRST, "site", value=[]),
        spoilt(*FIRST, "site", "line", value=None),
        spoilt(*FIRST, "ranks", value=["0"]),
        spoilt(*FIRST, "fix", value={"description": "d"}),
        spoilt(
            *FIRST,
            "fix",
            value={
                "description": "d",
                "edits": [{"path": "p", "start": [1], "end": [1, 2], "text": "", "cell": None}],
            },
        ),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        answer_from_json(text)


def test_an_unspoilt_one_is_not() -> None:
    assert answer_from_json(spoilt("answer", "source", value="static")).source == "static"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@steady
@given(json_values)
def test_no_other_value_raises_anything_but_value_error(value: object) -> None:
    for whole in (value, {"transfer": 1, "answer": value}):
        with pytest.raises(ValueError):
            answer_from_json(json.dumps(whole))


def test_the_error_names_the_place() -> None:
    with pytest.raises(ValueError, match=r"answer\.findings\[0\]\.site\.line"):
        answer_from_json(spoilt(*FIRST, "site", "line", value="5"))
