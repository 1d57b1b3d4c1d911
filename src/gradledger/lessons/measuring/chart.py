"""What a measurement found: rows to print, and curves to draw."""

from __future__ import annotations

from gradledger.ledger.record import dataclass
from gradledger.report.plot import Line


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves in one frame."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A question that only measuring answers, a table, charts, and what can be read from them."""

    question: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    charts: tuple[Chart, ...]
    reading: str
