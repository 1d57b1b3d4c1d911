"""The pages about the accumulator show programs that run, and links that lead somewhere."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

_DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {name: (_DOCS / name).read_text(encoding="utf-8") for name in ("engine.md", "engine-extras.md")}
PROGRAMS = [
    pytest.param(block, id=f"{name}-{number}")
    for name, page in PAGES.items()
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
]


def run(program: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(program, "<block>", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_runs_and_warns_of_nothing(program: str) -> None:
    run(program)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) == 8


def test_the_first_verification_says_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = PAGES["engine-extras.md"]
    program = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    run(program)
    exact, why = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"4 micro-batches against the full batch: exact to \de-0[78]", exact)
    assert why in program
    assert why.split(":")[0] in page.split("| it says |")[1]


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_link_leads_to_a_heading_or_a_file(page: str) -> None:
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in page.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= headings
    for link in re.findall(r"\]\((?!#|http)([^)#]+)", page):
        assert (_DOCS / link).exists(), link
