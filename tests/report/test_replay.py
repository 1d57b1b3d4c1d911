from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.ledger import events as ev
from gradledger.ledger.recording import RecordingError
from gradledger.report.replay import thinning
from gradledger.report.replay.ramps import Ramp
from gradledger.report.replay.retelling import Retelling, Retold, retell, retold
from gradledger.report.replay.thinning import Column, Thinned
from gradledger.story.telling import tell
from tests.report.recorded import detailed_run, opening, right_run, saved, site, stale_run


def trails(told: Retold) -> list[str]:
    data = told.timeline.data()
    kinds = [kind["cells"][0] for kind in data["kinds"]]
    written = [s["kinds"] for s in data["stretches"]]
    return [
        kinds[k] for flat in written for k, n in zip(flat[::2], flat[1::2], strict=True) for _ in range(n)
    ]


def test_the_findings_are_the_rules_own(tmp_path: Path) -> None:
    told = retold(str(saved(tmp_path / "run.jsonl", stale_run("train.py"))), ".")
    (finding,) = told.answer.findings
    assert (finding.code, finding.site.line, finding.count) == ("GL101", 7, 11)
    assert told.place_of(finding) == 2
    assert (told.answer.checked.backwards, told.answer.checked.steps) == (12, 12)
    assert not told.cut


def test_cells_of_a_stale_run() -> None:
    told = retell(stale_run("train.py", 3), ".")
    assert trails(told) == ["NFU", "USU", "USU"]
    (stretch,) = told.timeline.data()["stretches"]
    fresh, _, stale, since = (Ramp(runs).numbers() for runs in stretch["numbers"][0])
    assert (fresh, stale, since) == ([1, 1, 1], [0, 1, 2], [0, 1, 2])


def test_cells_of_a_window() -> None:
    assert trails(retell(right_run("train.py", 2, every=3), ".")) == ["NF", "FA", "AAUN"] * 2


@pytest.mark.parametrize("run", [stale_run, detailed_run, right_run])
def test_asking_in_between_changes_nothing(run) -> None:
    telling, events = Retelling("."), list(run("train.py", 8))
    for number, event in enumerate(events, 1):
        telling.take(event)
        if number % 5 and number > 20:
            continue
        so_far, fresh = telling.so_far(), retell(events[:number], ".")
        assert trails(so_far) == trails(fresh)
        assert so_far.timeline.data()["count"] == fresh.timeline.data()["count"]
    asked, whole = telling.ended(), retell(events, ".")
    assert asked.answer == whole.answer
    assert asked.story == whole.story


def test_what_needs_the_end_of_the_run_is_not_said_before() -> None:
    telling = Retelling(".")
    events = list(right_run("train.py", 4, every=3))
    tail = [event for event in events if isinstance(event, ev.BackwardRan)][:1]
    for event in [*events[:-1], *tail]:
        telling.take(event)
    assert telling.so_far().answer.notes == ()
    assert not telling.so_far().answer.findings
    assert "breaks off" in telling.ended().answer.notes[0]


def test_a_clear_above_the_backward_begins_the_micro_batch() -> None:
    events = opening("train.py")
    clear = ev.GradientCleared(site("train.py", 6), (1,), owner=1)
    backward, step = (
        ev.BackwardRan(site("train.py", 7), (1,)),
        ev.OptimizerStepped(site("train.py", 8), (1,), 1),
    )
    told = retell([*events, *[clear, backward, step] * 3], ".")
    assert trails(told) == ["NNFU", "UNFU", "UNFU"]


def test_a_clear_that_loses_something_is_marked_where_it_does() -> None:
    clear = ev.GradientCleared(site("train.py", 6), (1,), owner=1)
    backward = ev.BackwardRan(site("train.py", 7), (1,), loader=1)
    step = ev.OptimizerStepped(site("train.py", 8), (1,), 1, windowed=True)
    told = retell([*opening("train.py"), *[*[clear, backward] * 4, step] * 6, ev.RunEnded(None)], ".")
    (finding,) = told.answer.findings
    assert finding.code == "GL103"
    assert told.place_of(finding) == 2
    marks = [mark[0] for kind in told.timeline.data()["kinds"] for mark in kind["marks"]]
    assert "lose" in marks


def test_an_account_that_is_split_off_has_its_parents_past() -> None:
    events = [
        *opening("train.py"),
        ev.BackwardRan(site("train.py", 7), (1,)),
        ev.AccountOpened(None, 2, 1, ("bias",), parent=1, optimizer=1),
        ev.OptimizerStepped(site("train.py", 8), (1, 2), 1),
        ev.RunEnded(None),
    ]
    data = retell(events, ".").timeline.data()
    assert data["kinds"][0]["cells"] == {0: "NFU", 1: "NFU"}
    assert [(row["parent"], row["start"]) for row in data["rows"]] == [(None, 1), (0, 1)]


def test_a_recording_that_breaks_off_says_so() -> None:
    told = retell(list(stale_run("train.py", 5))[:-3], ".")
    assert told.cut
    assert "breaks off after 4 backward passes" in told.answer.notes[0]
    assert told.answer.findings[0].code == "GL101"


def test_events_that_do_not_fit_are_a_clear_error(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.jsonl", [ev.BackwardRan(None, (7,))])
    with pytest.raises(RecordingError, match="do not hold together"):
        retold(str(path), ".")


def test_no_training_at_all() -> None:
    told = retell([ev.RunEnded(None)], ".")
    assert told.timeline.data()["count"] == 0


def test_details_become_a_story() -> None:
    told = retell(detailed_run("train.py", 10), ".")
    assert told.detailed
    assert set(told.story.curves) >= {"loss", "accuracy", "norm before clip", "rate 1", "scale 1", "memory"}
    assert told.story.skips == (5, 10)
    assert told.story == tell(detailed_run("train.py", 10))


@given(st.lists(st.integers(-1000, 1000)))
def test_ramps_give_back_what_they_took(numbers: list[int]) -> None:
    ramp = Ramp()
    for number in numbers:
        ramp.add(number)
    assert ramp.numbers() == numbers


def test_a_straight_line_is_one_run() -> None:
    ramp = Ramp()
    for number in range(1, 1000):
        ramp.add(number)
    assert ramp.runs == [[1, 999]]


@given(st.integers(1, 400), st.sets(st.integers(1, 400), max_size=5))
def test_thinning_keeps_order_and_what_is_notable(count: int, notable: set[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"FIRST": 20, "LAST": 10, "AROUND": 5, "SAMPLE": 3, "MOST": 60}.items():
            patch.setattr(thinning, name, value)
        thin = Thinned()
        thin._every = 10
        for number in range(1, count + 1):
            thin.add(Column(0, number, ()), notable=number in notable)
        stretches = thin.so_far()
        kept = [column.steps for stretch in stretches for column in stretch.columns]
        firsts = [n for s in stretches for n in range(s.first, s.end)]
        with_open = [s for stretch in thin.so_far(Column(0, count + 1, ())) for s in stretch.columns]
        assert [column.steps for column in with_open] == [*kept, count + 1]
        assert thin.so_far() == stretches
    assert kept == sorted(set(kept)) == firsts
    assert set(range(1, min(count, 20) + 1)) <= set(kept)
    assert count in kept
    assert len(kept) <= 60 + 5 + 10


def test_a_long_run_is_small() -> None:
    told = retell(right_run("train.py", 12_000, every=4), ".")
    data = told.timeline.data()
    assert data["count"] == 48_000
    assert data["kept"] <= thinning.MOST + thinning.LAST
    assert len(json.dumps(data)) < 200_000


def test_a_program_that_never_repeats_itself_is_small() -> None:
    def events():
        yield from opening("train.py")
        for number in range(4_000):
            yield ev.BackwardRan(site("train.py", number + 10), (1,))
            yield ev.OptimizerStepped(site("train.py", 8), (1,), 1)
            yield ev.GradientCleared(site("train.py", 9), (1,), owner=1)

    data = retell(events(), ".").timeline.data()
    assert data["unlike"] > 0
    assert len(json.dumps(data)) < 400_000
