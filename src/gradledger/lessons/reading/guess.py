"""What the reader says before the exhibit does: understood, and held against the value."""

from __future__ import annotations

from fractions import Fraction

_WORDS = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


def understood(text: str, *, yes_or_no: bool) -> float | None:
    """The answer as a value: a number (8, 0.5, 1e-3, 1/3, 50%), or yes or no; None if it is neither."""
    if yes_or_no:
        return _WORDS.get(text.lower())
    bare = text.replace(" ", "").replace("−", "-").replace("_", "")
    percent = bare.endswith("%")
    if percent:
        bare = bare[:-1]
    if bare.count(",") == 1 and "." not in bare:
        bare = bare.replace(",", ".")
    try:
        value = float(Fraction(bare)) if "/" in bare else float(bare)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return value / 100 if percent else value


def agrees(said: float, value: float, tolerance: float) -> bool:
    """Whether the reader was right, for numbers within the relative tolerance."""
    if isinstance(value, bool):
        return said == value
    return abs(float(said) - value) <= tolerance * abs(value) + 1e-9


def shown(value: float) -> str:
    """The value in the reader's words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(int(value)) if value == int(value) else f"{value:.4g}"
