"""The page about verification, contrastive losses and BatchNorm shows programs that run."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "engine-extras.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_every_program_runs_and_says_nothing(number, capsys):
    names: dict[str, object] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(BLOCKS[number], f"<block {number}>", "exec"), names)
    if number == 0:
        exact, why = capsys.readouterr().out.splitlines()
        assert re.fullmatch(r"4 micro-batches against the full batch: exact to \de-0[78]", exact)
        assert why in BLOCKS[0]
        assert why.split(":")[0] in PAGE.split("| it says |")[1]


def test_there_are_programs_for_all_three():
    assert len(BLOCKS) == 4


def test_every_link_leads_to_a_heading():
    headings = {
        line.lstrip("# ").lower().replace(" ", "-") for line in PAGE.splitlines() if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= headings
