"""Random loops: the numbers, the audit of the run and the check of the text must tell the same."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch._dynamo
import torch.utils.data
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis.strategies import SearchStrategy

from tests.agreement.agreeing import Tally, clips_alike, run_agrees, text_is_confirmed
from tests.agreement.drawing import FAMILIES
from tests.agreement.loops import Loop
from tests.agreement.sides import arithmetic, audited, checked
from tests.agreement.text import written

LOOPS = int(os.environ.get("GRADLEDGER_AGREEMENT", "300"))
"""How many loops are drawn in all."""

NIGHTLY = "GRADLEDGER_AGREEMENT" in os.environ

COMPLETENESS = {"cycles": 0.98, "windows": 0.98, "precision": 0.97, "pairs": 0.93}
"""The least share of the mistakes that the check of the text must find, certain or possible."""

OF_EACH = 0.6
"""The least share of it of any one rule's mistakes: no rule may fall silent unnoticed."""

DECIDED = 0.85
"""The least share of the audit's findings that the numbers must decide: more left open would prove little."""


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
    tally = Tally()
    _agree(FAMILIES[family], tmp_path, tally)
    print(
        f"{family}: {tally.loops} loops, {len(tally.texts)} different; the numbers decide "
        f"{tally.decided():.1%} of what the run tells; "
        f"the text shows {tally.shown():.1%} of {tally.wrong.total()} mistakes"
    )
    assert tally.shown() >= COMPLETENESS[family]
    assert tally.hidden(share=OF_EACH) == set()
    assert tally.decided() >= DECIDED


def _agree(family: SearchStrategy[Loop], folder: Path, tally: Tally) -> None:
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
        tally.loops += 1
        tally.texts.add(hash(text))
        path = folder / f"loop_{tally.loops}.py"
        path.write_text(text, encoding="utf-8")
        verdict = arithmetic(loop, text, path)
        assume(verdict is not None)
        assert verdict is not None
        run, read = clips_alike(audited(text, path)), clips_alike(checked(text, path))
        note(f"{text}\nnumbers: {verdict}\nrun: {run}\ntext: {read}")
        assert verdict.pure or verdict.wrong or verdict.open, "a wrong update that no rule names"
        run_agrees(loop, verdict, run)
        tally.add_run(loop, verdict, run)
        if verdict.cut_short:
            return  # PyTorch itself has said what is wrong
        text_is_confirmed(loop, verdict, run, read)
        tally.add_text(loop, verdict, read)

    agree()
