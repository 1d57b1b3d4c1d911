"""`learn measure`: memory and time on this machine, with plots."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from gradledger.lessons.measuring.chart import Measurement
from gradledger.lessons.reading.figure import chart_lines, save_charts
from gradledger.lessons.reading.markdown import prose
from gradledger.lessons.reading.reader import Reader
from gradledger.lessons.refusal import Refusal, need_torch
from gradledger.report.cells import cells

TAKES = "[3|6]"
ABOUT = "memory and time on this machine, with plots"
ORDER = 8

MEASURED = {"3": "clearing", "6": "accumulating"}
"""The lessons that rest on measurements, and where those are taken."""


def run(reader: Reader, words: Sequence[str]) -> int:
    """Take the measurements of one lesson, or of all."""
    wanted = list(words) or list(MEASURED)
    if len(words) > 1 or wanted[0] not in MEASURED:
        raise Refusal(f"lessons {' and '.join(MEASURED)} are measured, as in: gradledger learn measure 3")
    need_torch()
    found = [_taken(number, reader) for number in wanted]
    if reader.output is not None:
        charts = [(list(c.lines), c.title, c.x_label, c.y_label) for one in found for c in one.charts]
        save_charts(charts, Path(reader.output))
        reader.screen.show(["", f"Wrote {reader.output}"])
    return 0


def _taken(number: str, reader: Reader) -> Measurement:
    screen = reader.screen
    facts = screen.facts
    with screen.working(f"measuring for lesson {number}"):
        module = importlib.import_module(f"gradledger.lessons.measuring.{MEASURED[number]}")
        measurement: Measurement = module.measure(lambda _: None)
    head = facts.paint(facts.prose(f"Lesson {number}: {measurement.question}"), "code")
    screen.show(["", head, "", *_table(measurement, facts.plain), ""])
    for chart in measurement.charts:
        title = f"{chart.title} ({chart.y_label})"
        screen.show([*chart_lines(list(chart.lines), title, chart.x_label, facts), ""])
    screen.show([*prose(measurement.reading, facts), "", f"More: gradledger learn read {number}"])
    return measurement


def _table(measurement: Measurement, plain: object) -> list[str]:
    assert callable(plain)
    rows = [tuple(map(str, map(plain, row))) for row in (measurement.head, *measurement.rows)]
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  " + "  ".join(f"{text:>{width}}" for text, width in zip(row, widths, strict=True)) for row in rows
    ]
    return [lines[0], "  " + "  ".join("-" * width for width in widths), *lines[1:]]
