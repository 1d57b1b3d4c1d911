"""Whatever a text is, checking it ends with an answer or with a ProgramError."""

from __future__ import annotations

import os
import random

from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from gradledger.checking.program import ProgramError, check_program
from tests.static.mutations import mutated
from tests.static.shapes import HEAD, STEP, indented

MUTATIONS = int(os.environ.get("GRADLEDGER_FUZZ", "300"))
"""How many damaged scripts are checked in all; other ones each time if the number is given."""

NIGHTLY = "GRADLEDGER_FUZZ" in os.environ


def outcome(text: str) -> str:
    """How checking the text ends; anything but an answer and a ProgramError is passed on."""
    try:
        answer = check_program(text, "train.py")
    except ProgramError as error:
        return f"refused: {error.reason}"
    lines = text.count("\n") + 1
    assert all(
        finding.site.path == "train.py" and 1 <= finding.site.line <= lines for finding in answer.findings
    )
    return "found" if answer.findings else "silent"


def test_damaged_scripts_do_no_harm() -> None:
    first = random.SystemRandom().randrange(10**9) if NIGHTLY else 0
    ends = {"found": 0, "silent": 0, "refused": 0}
    for seed in range(first, first + MUTATIONS):
        text = mutated(random.Random(seed))
        try:
            ends[outcome(text).partition(":")[0]] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}\n{text}") from error
    # Enough of the damaged scripts must still be programs, or this tries the parser alone.
    assert ends["found"] + ends["silent"] > MUTATIONS / 4, ends
    assert ends["found"] > MUTATIONS / 20, ends


NAMES = st.sampled_from(
    ["x", "y", "loss", "model", "optimizer", "scaler", "loader", "torch", "i", "n", "f", "self"]
)
ATTRIBUTES = st.sampled_from(
    [
        "backward",
        "step",
        "zero_grad",
        "grad",
        "parameters",
        "data",
        "detach",
        "item",
        "append",
        "items",
        "scale",
        "update",
        "unscale_",
        "zero_",
        "no_grad",
        "nn",
        "optim",
        "SGD",
        "clip_grad_norm_",
        "utils",
        "param_groups",
    ]
)
NUMBERS = st.sampled_from(["0", "1", "-1", "2.5", "10**30", "'s'", "None", "True", "[]", "{}", "()", "..."])


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{}.{}".format, inner, ATTRIBUTES),
        st.builds("{}({})".format, inner, st.lists(inner, max_size=3).map(", ".join)),
        st.builds("{}(*{}, **{})".format, inner, inner, inner),
        st.builds("{}[{}]".format, inner, inner),
        st.builds(
            "({} {} {})".format,
            inner,
            st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "@", "<", "==", "and", "or", "in", "is"]),
            inner,
        ),
        st.builds("[{} for {} in {}]".format, inner, NAMES, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("(lambda {}: {})".format, NAMES, inner),
        st.builds("{{{}: {}}}".format, inner, inner),
        st.builds("({}, *{})".format, inner, inner),
        st.builds("({} := {})".format, NAMES, inner),
        st.builds("f'{{{}}}'".format, NAMES),
    )


EXPRESSIONS = st.recursive(NAMES | NUMBERS, _larger, max_leaves=8)


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=3).map(lambda parts: indented("".join(parts), 1))
    return st.one_of(
        st.builds("for {} in {}:\n{}".format, NAMES, EXPRESSIONS, body),
        st.builds("for {}, {} in {}:\n{}".format, NAMES, NAMES, EXPRESSIONS, body),
        st.builds("while {}:\n{}".format, EXPRESSIONS, body),
        st.builds("if {}:\n{}else:\n{}".format, EXPRESSIONS, body, body),
        st.builds("with {} as {}:\n{}".format, EXPRESSIONS, NAMES, body),
        st.builds("try:\n{}except Exception as {}:\n{}".format, body, NAMES, body),
        st.builds("def {}({}=1, *a, **k):\n{}".format, NAMES, NAMES, body),
        st.builds(
            "class {}({}):\n    def __init__(self, x=1):\n{}".format,
            NAMES,
            NAMES,
            body.map(lambda b: indented(b, 1)),
        ),
    )


STATEMENTS = st.recursive(
    st.one_of(
        st.builds("{}\n".format, EXPRESSIONS),
        st.builds("{} = {}\n".format, NAMES, EXPRESSIONS),
        st.builds("{}.{} = {}\n".format, NAMES, ATTRIBUTES, EXPRESSIONS),
        st.builds("{}, *{} = {}\n".format, NAMES, NAMES, EXPRESSIONS),
        st.builds("{} {}= {}\n".format, NAMES, st.sampled_from("+-*/@"), EXPRESSIONS),
        st.builds("del {}\n".format, NAMES),
        st.sampled_from(
            ["pass\n", "return\n", "break\n", "continue\n", "raise\n", "loss.backward()\n", STEP]
        ),
    ),
    _blocks,
    max_leaves=10,
)


@settings(
    max_examples=max(MUTATIONS // 6, 10),
    derandomize=not NIGHTLY,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=list(Phase) if NIGHTLY else [Phase.generate],
)
@given(st.lists(STATEMENTS, min_size=1, max_size=5).map("".join))
def test_programs_of_random_grammar_do_no_harm(body: str) -> None:
    text = f"{HEAD}{body}for x, y in loader:\n{indented(STEP, 1)}{indented(body, 1)}"
    note(text)
    outcome(text)


@settings(max_examples=max(MUTATIONS // 6, 10), derandomize=not NIGHTLY, database=None, deadline=None)
@given(st.text(max_size=80))
def test_any_text_does_no_harm(noise: str) -> None:
    outcome(noise)
    outcome(f"import torch\nloss.backward()\n{noise}")
    outcome(f"{HEAD}for x, y in loader:\n    {noise}\n{indented(STEP, 1)}")
