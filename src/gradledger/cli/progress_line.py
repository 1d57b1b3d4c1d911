"""Progress on the terminal: with rich if it is installed, else a line of our own."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable

from gradledger.cli.progress import PATIENCE, Progress
from gradledger.report.plain import harmless

_EVERY = 0.2
Ended = Callable[[float], bool]
"""Waits so many seconds; whether the work has ended meanwhile."""


def draw(shown: Progress, ended: Ended) -> None:
    """Draw until the work has ended, and take everything away again."""
    try:
        _with_rich(shown, ended)
    except ImportError:
        _plainly(shown, ended)


def _with_rich(shown: Progress, ended: Ended) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=28)]
    with Bars(*columns, console=Console(file=sys.__stderr__, stderr=True), transient=True) as bars:
        start = time.monotonic() - PATIENCE
        task = bars.add_task(_words(shown, PATIENCE), total=shown.total)
        while not ended(_EVERY):
            told = _words(shown, time.monotonic() - start)
            bars.update(task, description=told, total=shown.total, completed=shown.done)


def _plainly(shown: Progress, ended: Ended) -> None:
    stream = sys.__stderr__
    assert stream is not None
    start = time.monotonic() - PATIENCE
    try:
        while not ended(_EVERY):
            width = shutil.get_terminal_size().columns - 1
            stream.write(f"\r\x1b[K{_words(shown, time.monotonic() - start)[:width]}")
            stream.flush()
    finally:
        stream.write("\r\x1b[K")
        stream.flush()


def _words(shown: Progress, seconds: float) -> str:
    """`checking: 120 of 400 files, 3 s`."""
    amount = f"{shown.done:,}" if shown.total is None else f"{shown.done:,} of {shown.total:,}"
    told = f": {amount} {shown.unit}" if shown.unit and (shown.done or shown.total) else ""
    return f"{harmless(shown.what)}{told}, {seconds:.0f} s"
