"""Two or more curves as an SVG that needs no script."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradledger.report.page.safe import text
from gradledger.report.plot import Line, number

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 380, 170, 52, 8, 8, 22
_STROKES = ("var(--fresh)", ""), ("var(--stale)", "6 3")


def line_plot(title: str, lines: Sequence[Line], below: str) -> str:
    """A frame with its title, a key, and each curve through its finite points."""
    points = [(x, y) for line in lines for x, y in zip(line.at, line.values, strict=True) if math.isfinite(y)]
    low, high = min((y for _, y in points), default=0.0), max((y for _, y in points), default=1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    ticks = round_ticks(low, high)
    low, high = ticks[0], ticks[-1]
    end = max((x for x, _ in points), default=2.0)

    def across(x: float) -> float:
        return _LEFT + (x - 1) / max(end - 1, 1) * (_WIDTH - _LEFT - _RIGHT)

    def up(y: float) -> float:
        return _TOP + (high - y) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    drawn = []
    for value in ticks:
        y = up(value)
        drawn.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
        )
    for line, (stroke, dash) in zip(lines, _STROKES, strict=False):
        path = "L".join(
            f"{across(x):.1f},{up(y):.1f}"
            for x, y in zip(line.at, line.values, strict=True)
            if math.isfinite(y)
        )
        drawn.append(
            f'<path d="M{path}" fill="none" stroke="{stroke}" stroke-width="1.8" stroke-dasharray="{dash}"/>'
        )
    drawn.append(
        f'<text x="{_LEFT}" y="{_HEIGHT - 4}">1</text>'
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 4}" text-anchor="end">{text(below)} {end:.0f}</text>'
    )
    told = "; ".join(
        f"{line.name}: from {number(line.values[0])} to {number(line.values[-1])}" for line in lines
    )
    return (
        f'<article class="plot"><header><h3>{text(title)}</h3>{_key(lines)}</header>'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{text(f"{title}, {told}")}">'
        f"{''.join(drawn)}</svg></article>"
    )


def round_ticks(low: float, high: float) -> list[float]:
    """Round numbers around what is drawn, three to six of them."""
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(n * power for n in (1, 2, 2.5, 5, 10) if n * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{at * step:.6g}") for at in range(first, last + 1)]


def _key(lines: Sequence[Line]) -> str:
    if len(lines) < 2:
        return ""
    return "".join(
        '<span class="key"><svg viewBox="0 0 22 8" aria-hidden="true"><line x1="0" x2="22" y1="4" y2="4" '
        f'stroke="{stroke}" stroke-width="2.4" stroke-dasharray="{dash}"/></svg>{text(line.name)}</span>'
        for line, (stroke, dash) in zip(lines, _STROKES, strict=False)
    )
