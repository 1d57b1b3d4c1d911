"""Set-ups are read strictly, and a link gives back exactly what went into it."""

from __future__ import annotations

import json
from contextlib import suppress
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradledger.lessons.playground.blocks import BLOCKS, LANES, known
from gradledger.lessons.playground.link import from_query, query
from gradledger.lessons.playground.presets import PRESETS
from gradledger.lessons.playground.reference import right
from gradledger.lessons.playground.setup import CHOICES, RANGES, Setup, SetupError, checked, read, written


@st.composite
def setups(draw) -> Setup:
    world = draw(st.sampled_from(["single", "amp", "pair"]))
    names = [block.name for block in known(world)] * 2
    chosen = draw(st.permutations(names))[: draw(st.integers(0, 16))]
    lanes = [[] for _ in LANES]
    for name in chosen:
        lanes[draw(st.integers(0, len(LANES) - 1))].append(name)
    settings = {key: draw(st.integers(*span)) for key, span in RANGES.items()}
    settings |= {key: draw(st.sampled_from(words)) for key, words in CHOICES.items()}
    if world == "pair":
        settings["every"] = 1
    kind = {"amp": world == "amp", "second": world == "pair", "set_to_none": draw(st.booleans())}
    return checked(Setup(tuple(map(tuple, lanes)), **settings, **kind))


@given(setups())
@settings(max_examples=100, deadline=None)
def test_a_set_up_survives_its_link_and_its_json(setup: Setup) -> None:
    assert from_query(query(setup)) == setup
    assert read(json.loads(json.dumps(written(setup)))) == setup
    assert len(query(setup)) < 200


@given(setups())
@settings(max_examples=60, deadline=None)
def test_the_right_loop_of_any_set_up_is_a_set_up_and_its_own_right_loop(setup: Setup) -> None:
    best = checked(right(setup))
    assert right(best) == best


@given(st.text(max_size=60), st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_other_text_is_refused(loop: str, more: dict[str, str]) -> None:
    setup = None
    with suppress(SetupError):
        setup = from_query(urlencode({"loop": loop, **more}))
    assert setup is None or checked(setup) == setup


GOOD = written(PRESETS[0].setup)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"lanes": {"batch": ["exec"]}}, "there is no block 'exec'"),
        ({"lanes": {"batch": ["scale"]}}, "mixed precision"),
        ({"lanes": {"batch": ["loss_d"]}}, "two optimizers"),
        ({"lanes": {"attic": []}}, "there is no lane 'attic'"),
        ({"lanes": {"batch": "forward"}}, "not a list of block names"),
        ({"lanes": {"batch": [1]}}, "not a list of block names"),
        ({"lanes": None}, "no lanes"),
        ({"lanes": {"batch": ["step"] * 4}}, "4 times"),
        ({"lanes": {"batch": ["forward", "loss", "step", "zero", "clip"] * 5}}, "at most 24 blocks"),
        ({"every": 0}, "from 1 to 8"),
        ({"every": 9}, "from 1 to 8"),
        ({"every": True}, "from 1 to 8"),
        ({"every": "4"}, "from 1 to 8"),
        ({"batches": 10**9}, "from 2 to 24"),
        ({"epochs": 1.5}, "from 1 to 4"),
        ({"optimizer": "lion"}, "one of sgd"),
        ({"amp": "yes"}, "true or false"),
        ({"code": "import os"}, "there is no setting 'code'"),
        ({"second": True, "lanes": {}}, "the window is 1"),
    ],
)
def test_what_is_unknown_or_out_of_range_is_refused(change: dict, reason: str) -> None:
    with pytest.raises(SetupError, match=reason):
        read({**GOOD, **change})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("loop=--fldb", "5 lanes with a dash between them; this one has 3"),
        ("loop=--fl!-s-", "letter '!'"),
        ("loop=----&loop=----", "twice"),
        ("loop=----&every=99", "from 1 to 8"),
        ("loop=" + "-" * 500, "too long"),
    ],
)
def test_a_broken_link_says_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(SetupError, match=reason):
        from_query(text)


def test_letters_and_names_are_one_to_one() -> None:
    assert len({block.letter for block in BLOCKS}) == len({block.name for block in BLOCKS}) == len(BLOCKS)
