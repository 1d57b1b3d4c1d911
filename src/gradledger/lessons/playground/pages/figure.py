"""A plot of a lesson as inline SVG, drawn like the curves of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gradledger.report.page.safe import text

WIDTH, HEIGHT = 640, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 12, 12, 40
_STROKES = (
    ("fresh", ""),
    ("stale", "7 4"),
    ("accumulated", "2 4"),
    ("hand", "10 3 2 3"),
    ("ink", "1 5"),
    ("performance", "5 2"),
)


def figure(value: Sequence[float] | Mapping[str, Sequence[float]], title: str, x: str, y: str) -> str:
    """The figure with its caption and, for several curves, their names."""
    curves = dict(value) if isinstance(value, Mapping) else {"": value}
    sound = [v for row in curves.values() for v in row if math.isfinite(v)]
    if not sound:
        nothing = f"{text(title)}: there is no finite value to draw."
        return f'<figure class="drawing"><figcaption>{nothing}</figcaption></figure>'
    keys = "".join(_key(name, at) for at, name in enumerate(curves)) if len(curves) > 1 else ""
    return (
        f'<figure class="drawing"><figcaption>{text(title)}</figcaption>{_drawn(curves, sound, title, x, y)}'
        f'<div class="keys">{keys}</div></figure>'
    )


def _drawn(curves: Mapping[str, Sequence[float]], sound: list[float], title: str, x: str, y: str) -> str:
    low, high = min(sound), max(sound)
    log = low > 0 and high / low > 200
    low, high = (math.log10(low), math.log10(high)) if log else (min(low, 0.0), high)
    if low == high:
        high = low + 1
    longest = max(len(row) for row in curves.values())

    def at_x(index: int) -> float:
        return _LEFT + index / max(longest - 1, 1) * (WIDTH - _LEFT - _RIGHT)

    def at_y(number: float) -> float:
        scaled = math.log10(number) if log else number
        return _TOP + (1 - (scaled - low) / (high - low)) * (HEIGHT - _TOP - _BOTTOM)

    parts = [_axis(low, high, x, y, longest, log=log)]
    for number, row in enumerate(curves.values()):
        tone, dash = _STROKES[number % len(_STROKES)]
        points = [(at_x(i), at_y(v)) for i, v in enumerate(row) if math.isfinite(v) and (v > 0 or not log)]
        path = "L".join(f"{px:.1f},{py:.1f}" for px, py in points)
        parts.append(
            f'<path d="M{path}" fill="none" stroke="var(--{tone})" stroke-width="2" '
            f'stroke-dasharray="{dash}" stroke-linejoin="round"/>'
        )
        if len(points) <= 30:
            parts += [
                f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.6" fill="var(--{tone})"/>' for px, py in points
            ]
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text(_told(curves, title, x, y))}">'
        f"{''.join(parts)}</svg>"
    )


def _axis(low: float, high: float, x: str, y: str, longest: int, *, log: bool) -> str:
    parts = []
    for tick in range(4):
        value = low + (high - low) * tick / 3
        at = _TOP + (1 - tick / 3) * (HEIGHT - _TOP - _BOTTOM)
        word = f"{10**value if log else value:.3g}"
        parts.append(
            f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="var(--line)"/>'
            f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{word}</text>'
        )
    base = HEIGHT - _BOTTOM + 17
    parts.append(
        f'<text x="{_LEFT}" y="{base}">1</text>'
        f'<text x="{WIDTH - _RIGHT}" y="{base}" text-anchor="end">{longest}</text>'
        f'<text x="{(WIDTH + _LEFT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{text(x)}</text>'
        f'<text x="14" y="{(HEIGHT - _BOTTOM) / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {(HEIGHT - _BOTTOM) / 2})">{text(y)}</text>'
    )
    return "".join(parts)


def _key(name: str, at: int) -> str:
    tone, dash = _STROKES[at % len(_STROKES)]
    stroke = f'stroke="var(--{tone})" stroke-width="2.4" stroke-dasharray="{dash}"'
    line = f'<line x1="0" x2="26" y1="4" y2="4" {stroke}/>'
    return f'<span class="key"><svg viewBox="0 0 26 8" aria-hidden="true">{line}</svg>{text(name)}</span>'


def _told(curves: Mapping[str, Sequence[float]], title: str, x: str, y: str) -> str:
    said = [f"{name or y}: from {row[0]:.3g} to {row[-1]:.3g}" for name, row in curves.items() if row]
    return f"{title}; {y} by {x}. {'; '.join(said)}"
