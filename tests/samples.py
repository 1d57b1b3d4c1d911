"""Findings and answers to try things on, and Hypothesis' way of making any of them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st

from gradledger.audit.answer import Answer, Checked
from gradledger.ledger.site import Site
from gradledger.rules.finding import Certainty, Edit, Finding, Fix, Related, Severity

steady = settings(deadline=None)
"""A busy machine is no reason to fail."""

TRAIN = """\
for epoch in range(3):
    for x, y in loader:
        loss = criterion(model(x), y)

        loss.backward()
        optimizer.step()
"""


def finding(
    path: Path | str = "train.py",
    line: int = 5,
    *,
    code: str = "GL101",
    name: str = "stale-gradient",
    severity: Severity = Severity.ERROR,
    certainty: Certainty = Certainty.CERTAIN,
    related: tuple[Related, ...] = (),
    end_line: int = 0,
    message: str = "adds to gradients that the step at line 6 already applied",
    detail: str = "",
    remedy: str = "",
    ranks: tuple[int, ...] = (),
) -> Finding:
    site = Site(str(path), line, 9, end_line)
    return Finding(
        code=code,
        name=name,
        severity=severity,
        certainty=certainty,
        site=site,
        message=message,
        related=related,
        detail=detail,
        remedy=remedy,
        ranks=ranks,
    )


def answer(*findings: Finding, checked: Checked | None = None, notes: tuple[str, ...] = ()) -> Answer:
    return Answer("runtime", findings, checked or Checked(125, 125, 8, 2), notes)


texts = st.text(max_size=40)
lines = st.integers(1, 50)
sites = st.builds(
    Site,
    path=texts,
    line=lines,
    column=lines,
    end_line=st.integers(0, 50),
    end_column=st.integers(0, 50),
    function=texts,
    cell=st.none() | st.integers(0, 9),
    via=st.none() | texts,
)
positions = st.tuples(lines, lines)
fixes = st.builds(
    Fix,
    description=texts,
    edits=st.lists(st.builds(Edit, texts, positions, positions, texts), max_size=2).map(tuple),
)
findings = st.builds(
    Finding,
    code=st.from_regex(r"GL\d{3}", fullmatch=True),
    name=texts,
    severity=st.sampled_from(Severity),
    certainty=st.sampled_from(Certainty),
    site=sites,
    message=texts,
    related=st.lists(st.builds(Related, site=sites, message=texts), max_size=3).map(tuple),
    detail=texts,
    remedy=texts,
    count=st.none() | st.integers(0),
    first_step=st.none() | st.integers(1),
    ranks=st.lists(st.integers(0, 9), max_size=5, unique=True).map(sorted).map(tuple),
    fix=st.none() | fixes,
)
numbers = st.integers(0, 10**12)
answers = st.builds(
    Answer,
    source=st.sampled_from(["runtime", "static"]),
    findings=st.lists(findings, max_size=3).map(tuple),
    checked=st.builds(Checked, numbers, numbers, numbers, numbers, numbers, st.integers(1, 64)),
    notes=st.lists(texts, max_size=2).map(tuple),
)
