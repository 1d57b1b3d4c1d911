"""What the notebooks of the lessons use: text with the values that the cells above have found, and plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gradledger.lessons.exhibit import Exhibit, Value
from gradledger.lessons.parts import Prose
from gradledger.lessons.reading.figure import curves, figure_lines
from gradledger.report.style import StreamFacts

shown: dict[str, dict[str, Value]] = {}
"""What each exhibit has found: name, key, value."""


def say(text: str) -> None:
    """Show Markdown with the values in place of `{exhibit.key}`."""
    from IPython.display import Markdown, display

    found = {name: Exhibit(name, "", "", "", values) for name, values in shown.items()}
    display(Markdown(Prose(text, Path("the notebook"), 1).filled(found)))  # type: ignore[no-untyped-call]


def draw(name: str, key: str, title: str, x_label: str, y_label: str) -> None:
    """Draw the list of numbers, or one for each label, that an exhibit has found."""
    value = shown[name][key]
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        print("\n".join(figure_lines(value, title, x_label, y_label, StreamFacts())))
        return
    axes: Any = pyplot.figure(figsize=(7, 3.4), layout="constrained").add_subplot()
    for label, values in curves(value).items():
        axes.plot(range(1, len(values) + 1), values, label=label or None)
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    if isinstance(value, dict):
        axes.legend()
    pyplot.show()
