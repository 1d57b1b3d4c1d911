"""The ledger timeline as a picture, drawn by matplotlib in the colours and patterns of the page."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Literal

from gradledger.audit.answer import Answer
from gradledger.report.page.verdict import headline
from gradledger.report.replay.columns import Columns, columns
from gradledger.report.replay.retelling import Retold
from gradledger.report.replay.states import NAMES

WIDEST = 720
"""Micro-batches share a column of the picture beyond this many; the gravest state is seen, as in the page."""
LANE = 0.62
"""Height of a lane of marks, in rows."""
LETTERS = 44
"""Up to so many columns every cell has its letter."""
_RANK = " NZULHFAS"
_LOOKS = {  # state: colour of the page, hatch, letter
    "N": ("none", "", ""),
    "Z": ("none", "oo", "0"),
    "U": ("applied", "", "✓"),
    "L": ("applied", "xxx", ""),
    "H": ("hand", "..", "H"),
    "F": ("fresh", "", ""),
    "A": ("accumulated", "///", ""),
    "S": ("stale", "xxx", "S"),
}
_LANES = (  # lane, marks in it with their shape
    ("backward", {"backward": "v"}),
    ("unscale", {"unscale": "d", "scale": "d"}),
    ("clip", {"clip": "s", "change": "s", "reduce": "s"}),
    ("step", {"step": "^", "closure": "^", "skip": "x"}),
    ("clear", {"clear": "o", "assign": "o", "lose": "o"}),
    ("scheduler", {"scheduler": "_"}),
)


class NoPlotsError(Exception):
    """matplotlib is not installed; the message says what to do."""


def timeline_image(retold: Retold, answer: Answer, name: str, form: Literal["png", "svg"]) -> bytes:
    """The picture; its size does not grow with the run."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        needed = "a picture needs matplotlib: pip install 'gradledger[plots]'"
        raise NoPlotsError(needed) from error
    data: Any = retold.timeline.data()
    shown, tones = columns(data), _tones()
    lanes = [lane for lane in _LANES if any(set(lane[1]).intersection(marks) for marks in shown.marks)]
    rows = len(shown.states)
    settings: Any = {"font.family": ["DejaVu Sans"], "svg.fonttype": "none", "hatch.linewidth": 0.7}
    settings["svg.hashsalt"] = "gradledger"  # the same run gives the same file
    with rc_context(settings):
        figure = Figure(figsize=(11, 1.7 + 0.24 * len(lanes) + 0.38 * max(rows, 1)), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        drawing = _Drawing(axes, shown, tones)
        drawing.cells()
        drawing.lanes(lanes)
        for finding in answer.findings:
            at = retold.place_of(finding)
            if at is not None:
                drawing.finding(finding.code, at, len(lanes))
        drawing.frame([_row_name(row) for row in data["rows"]], [lane for lane, _ in lanes])
        drawing.legend()
        figure.patch.set_facecolor(tones["card"])
        title = f"{_drawable(name)}: {headline(answer)}"
        axes.set_title(
            title, loc="left", pad=18, fontsize=12, fontweight="bold", color=tones["ink"], parse_math=False
        )
        out = io.BytesIO()
        figure.savefig(out, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
    return out.getvalue()


class _Drawing:
    """The axes with one unit per column, rows downwards from 0, lanes of marks above them."""

    def __init__(self, axes: Any, shown: Columns, tones: dict[str, str]) -> None:
        self._axes = axes
        self._shown = shown
        self._tones = tones
        self._share = max(1, -(-len(shown.numbers) // WIDEST))
        """Columns that share one of the picture."""
        self._width = -(-len(shown.numbers) // self._share)
        self._used: set[str] = set()
        self._lost = self._skipped = False

    def cells(self) -> None:
        """The states, equal neighbours as one piece."""
        for row, states in enumerate(self._shown.states):
            dense = [
                max(states[at : at + self._share], key=_RANK.index)
                for at in range(0, len(states), self._share)
            ]
            self._used.update(dense)
            for state, (tone, hatch, _) in _LOOKS.items():
                pieces = _runs(dense, state, apart=self._width <= LETTERS)
                if not pieces:
                    continue
                edge = self._tones["zero" if state == "Z" else "card"]
                pad = 0.08 if self._width <= LETTERS else 0.0
                self._axes.broken_barh(
                    [(first, length - pad) for first, length in pieces],
                    (row + 0.14, 0.72),
                    facecolor=self._tones[tone],
                    edgecolor=edge,
                    hatch=hatch or None,
                    linewidth=0,
                )
            self._feet(row)
            if self._width <= LETTERS:
                self._letters(row, dense)

    def _feet(self, row: int) -> None:
        """What was cleared before any step used it is pale, and has a foot."""
        lost = [
            "x" if any(self._shown.lost[row][at : at + self._share]) else ""
            for at in range(0, len(self._shown.numbers), self._share)
        ]
        pieces = _runs(lost, "x", apart=self._width <= LETTERS)
        pad = 0.08 if self._width <= LETTERS else 0.0
        bars = [(first, length - pad) for first, length in pieces]
        if bars:
            pale = {"facecolor": self._tones["card"], "alpha": 0.55, "linewidth": 0}
            self._axes.broken_barh(bars, (row + 0.14, 0.72), **pale)
            self._axes.broken_barh(bars, (row + 0.76, 0.1), facecolor=self._tones["stale"], linewidth=0)

    def _letters(self, row: int, states: Sequence[str]) -> None:
        for at, state in enumerate(states):
            fresh = self._shown.fresh[row][at]
            word = _LOOKS.get(state, ("", "", ""))[2] or (str(fresh) if fresh and state in "FA" else "")
            if word:
                dark = state in "FASH"
                box = {"boxstyle": "round,pad=0.18", "fc": self._tones[_LOOKS[state][0]], "ec": "none"}
                self._axes.text(
                    *(at + 0.46, row + 0.5, word),
                    color=self._tones["on" if dark else "soft"],
                    bbox=box if dark else None,
                    ha="center",
                    va="center",
                    fontsize=8,
                    fontweight="bold",
                )

    def lanes(self, lanes: Sequence[tuple[str, dict[str, str]]]) -> None:
        """The marks; where they would touch they become ticks."""
        for index, (_, shapes) in enumerate(lanes):
            y = (index - len(lanes) + 0.5) * LANE
            for word, shape in shapes.items():
                at = sorted({n // self._share for n, marks in enumerate(self._shown.marks) if word in marks})
                if not at:
                    continue
                self._lost |= word == "lose"
                self._skipped |= word == "skip"
                tone = self._tones[{"backward": "fresh", "skip": "error", "lose": "stale"}.get(word, "soft")]
                dense = self._width > 150 and word != "skip"
                hollow = word in ("clear", "assign") and not dense
                self._axes.scatter(
                    *([x + 0.46 for x in at], [y] * len(at)),
                    marker="|" if dense else shape,
                    s=26,
                    linewidths=0.6 if dense else 1.1,
                    facecolors="none" if hollow else tone,
                    edgecolors=None if shape in "x_" or dense else tone,
                    **({"color": tone} if shape in "x_" or dense else {}),
                )

    def finding(self, code: str, number: int, lanes: int) -> None:
        """A frame where a finding first shows, with its code."""
        near = min(range(len(self._shown.numbers)), key=lambda at: abs(self._shown.numbers[at] - number))
        at, red = near // self._share, self._tones["error"]
        wide = max(1.0, self._width / 160)
        self._axes.axvspan(at - 0.08, at + wide, facecolor="none", edgecolor=red, linewidth=1.6, zorder=5)
        self._axes.annotate(
            *(code, (at, -lanes * LANE)),
            xytext=(0, 3),
            textcoords="offset points",
            color=red,
            fontsize=8,
            fontweight="bold",
            annotation_clip=False,
        )

    def frame(self, names: Sequence[str], lanes: Sequence[str]) -> None:
        """Names of rows and lanes, numbers of micro-batches, dots where some were left out."""
        axes, tones = self._axes, self._tones
        axes.set_xlim(-0.2, max(self._width, 1))
        axes.set_ylim(max(len(names), 1), -len(lanes) * LANE - 0.1)
        places = [(n - len(lanes) + 0.5) * LANE for n in range(len(lanes))]
        places += [n + 0.5 for n in range(len(names))]
        axes.set_yticks(places, [*lanes, *names], fontsize=9, color=tones["soft"])
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        step = max(1, self._width // 10)
        ticks = range(0, self._width, step)
        words = [f"{self._shown.numbers[at * self._share]:,}" for at in ticks]
        axes.set_xticks([at + 0.46 for at in ticks], words, fontsize=9, color=tones["soft"])
        word = "micro-batch"
        if self._shown.gaps:
            ends = [self._shown.gaps[0] / self._share, self._shown.gaps[-1] / self._share]
            axes.axvspan(*ends, facecolor=tones["well"], edgecolor=tones["faint"], linestyle=":", zorder=0)
            word = "micro-batch; between the dotted lines only samples are kept"
        axes.set_xlabel(word, fontsize=9, color=tones["soft"], loc="right")
        axes.tick_params(length=0)
        axes.set_facecolor(tones["card"])
        for side in axes.spines.values():
            side.set_color(tones["line"])

    def legend(self) -> None:
        """What the colours and patterns mean, only those that are there."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        used = [state for state in "NZFAULSH" if state in self._used]
        handles: list[Any] = []
        for state in used:
            tone, hatch, _ = _LOOKS[state]
            edge = self._tones["zero" if state == "Z" else "card"]
            handles.append(
                Patch(
                    facecolor=self._tones[tone], edgecolor=edge, hatch=hatch, linewidth=0, label=NAMES[state]
                )
            )
        dot: dict[str, Any] = {"linestyle": "none", "markersize": 5}
        if self._lost:
            handles.append(
                Line2D([], [], marker="o", color=self._tones["stale"], label="cleared unused", **dot)
            )
        if self._skipped:
            handles.append(
                Line2D([], [], marker="x", color=self._tones["error"], label="skipped step", **dot)
            )
        if handles:
            self._axes.figure.legend(
                handles=handles,
                loc="outside lower left",
                ncols=len(handles),
                frameon=False,
                fontsize=9,
                labelcolor=self._tones["soft"],
                handlelength=1.6,
            )


def _runs(states: Sequence[str], state: str, *, apart: bool) -> list[tuple[int, int]]:
    """Where a state stands: first and length; each alone if they are drawn apart."""
    runs: list[tuple[int, int]] = []
    for at, here in enumerate(states):
        if here != state:
            continue
        if runs and not apart and sum(runs[-1]) == at:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        else:
            runs.append((at, 1))
    return runs


def _row_name(row: Any) -> str:
    names = row["names"]
    if not names:
        return _drawable(row["kind"] or "parameters")
    name = names[0] if len(names) == 1 else f"{names[0]} …"
    return _drawable(name)


def _drawable(name: str) -> str:
    """Short, and without what is no letter."""
    plain = "".join(letter if letter.isprintable() else "·" for letter in name)
    return plain if len(plain) <= 40 else f"{plain[:19]}…{plain[-20:]}"


def _tones() -> dict[str, str]:
    """The light colours of the page, from its own style."""
    style = (files("gradledger.report.page") / "page.css").read_text(encoding="utf-8")
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", style.partition("}")[0]))
