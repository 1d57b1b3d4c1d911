"""A plot of a lesson: in characters, or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gradledger.lessons.exhibit import Value
from gradledger.lessons.refusal import Refusal
from gradledger.report.plot import Line, plot
from gradledger.report.style import StreamFacts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curves(value: Value) -> dict[str, list[float]]:
    """The lists to draw by label."""
    if isinstance(value, dict):
        return value
    assert isinstance(value, list)
    return {"": value}


def figure_lines(value: Value, title: str, x_label: str, y_label: str, facts: StreamFacts) -> list[str]:
    """The plot in characters; x counts from 1."""
    lines = [Line(name, range(1, len(ys) + 1), ys) for name, ys in curves(value).items()]
    head = f"{title}  ({y_label})" if y_label else title
    return [facts.paint(facts.prose(head), "code"), *plot(lines, facts, below=facts.prose(x_label))]


def chart_lines(lines: list[Line], title: str, x_label: str, facts: StreamFacts) -> list[str]:
    """Curves over numbers of their own."""
    return [facts.paint(facts.prose(title), "code"), *plot(lines, facts, below=facts.prose(x_label))]


def save_charts(charts: list[tuple[list[Line], str, str, str]], path: Path) -> None:
    """Write charts (lines, title, x label, y label) one below the other into a picture."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise Refusal("a picture needs matplotlib: pip install 'gradledger[plots]'") from error
    figure = Figure(figsize=(7, 3.4 * len(charts)), layout="constrained")
    FigureCanvasAgg(figure)
    for number, (lines, title, x_label, y_label) in enumerate(charts, 1):
        axes: Axes = figure.add_subplot(len(charts), 1, number)
        for line in lines:
            axes.plot(list(line.at), list(line.values), marker="o", label=line.name)
        axes.set(title=title, xlabel=x_label, ylabel=y_label)
        axes.set_ylim(bottom=0)
        if len(lines) > 1:
            axes.legend()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:  # no such folder, or no picture's name
        raise Refusal(f"cannot write {path}: {error}") from error
