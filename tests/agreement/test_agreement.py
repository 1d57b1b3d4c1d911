"""Random loops: the numbers, the audit of the run and the check of the text must tell the same."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch._dynamo
import torch.utils.data
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis.strategies import SearchStrategy

from tests.agreement.drawing import FAMILIES
from tests.agreement.limits import lines_told, untold
from tests.agreement.loops import Loop
from tests.agreement.sides import Findings, arithmetic, audited, checked
from tests.agreement.text import written
from tests.agreement.verdict import Place, Verdict

LOOPS = int(os.environ.get("GRADLEDGER_AGREEMENT", "300"))
"""How many loops are drawn in all."""

NIGHTLY = "GRADLEDGER_AGREEMENT" in os.environ

COMPLETENESS = {"cycles": 0.95, "windows": 0.95, "precision": 0.8, "pairs": 0.9}
"""The least share of the mistakes that the check of the text must find, certain or possible."""


@pytest.fixture(autouse=True, scope="module")
def _one_thread_and_little_to_collect() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    gc.unfreeze()


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_text_run_and_numbers_agree(family: str, tmp_path: Path) -> None:
    tally: Counter[str] = Counter()
    _agree(FAMILIES[family], tmp_path, tally)
    share = tally["found"] / max(tally["wrong"], 1)
    print(f"{family}: {dict(tally)}; the text shows {share:.1%} of the mistakes")
    assert share >= COMPLETENESS[family]


def _agree(family: SearchStrategy[Loop], folder: Path, tally: Counter[str]) -> None:
    @settings(
        max_examples=LOOPS // len(FAMILIES),
        derandomize=not NIGHTLY,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(family)
    def agree(loop: Loop) -> None:
        text = written(loop)
        tally["written"] += 1
        path = folder / f"loop_{tally['written']}.py"
        path.write_text(text, encoding="utf-8")
        verdict = arithmetic(loop, text, path)
        assume(verdict is not None)
        assert verdict is not None
        run, read = _clips_alike(audited(text, path)), _clips_alike(checked(text, path))
        note(f"{text}\nnumbers: {verdict}\nrun: {run}\ntext: {read}")
        _run_agrees(loop, verdict, run)
        if verdict.cut_short:
            return  # PyTorch itself has said what is wrong
        _text_is_confirmed(loop, verdict, run, read)
        wrong = verdict.codes - verdict.open
        tally["wrong"] += len(wrong)
        tally["found"] += len(wrong & {code for code, _ in read.certain | read.possible})

    agree()


def _clips_alike(found: Findings) -> Findings:
    """A clip of no effect as one mistake: for whom it was meant is not in the numbers."""
    same = {"GL309": "GL304"}
    certain, possible = (
        frozenset((same.get(code, code), line) for code, line in places)
        for places in (found.certain, found.possible)
    )
    return Findings(certain, possible)


def _run_agrees(loop: Loop, verdict: Verdict, run: Findings) -> None:
    """The audit finds what the numbers show, at the same lines, and nothing else."""
    undecided = verdict.open | untold(loop)
    if lines_told(loop):
        assert _without(run.certain, undecided) == _without(verdict.wrong, undecided)
    else:
        assert run.codes - undecided == verdict.codes - undecided


def _text_is_confirmed(loop: Loop, verdict: Verdict, run: Findings, read: Findings) -> None:
    """What the text is certain of, the run and the numbers show; where one cannot tell, the other does."""
    undecided = verdict.open | untold(loop)
    shown = {place for place in run.certain if place in verdict.wrong or place[0] in undecided}
    shown |= {place for place in verdict.wrong if place[0] in undecided}
    if not lines_told(loop):
        shown |= {place for place in verdict.wrong | run.certain if place[0] in verdict.codes}
    assert read.certain <= shown


def _without(places: frozenset[Place], codes: frozenset[str]) -> set[Place]:
    return {place for place in places if place[0] not in codes}
