"""Numbers of the small model, given back the names they have in the program."""

from __future__ import annotations

import re

from gradledger.ledger.record import replace
from gradledger.rules.finding import Finding
from gradledger.static.scale import Scale


def spoken(finding: Finding, scale: Scale) -> Finding:
    """The finding with the program's own window lengths in its sentences."""
    names = _names(scale)
    if not names:
        return finding
    related = tuple(replace(one, message=_named(one.message, names)) for one in finding.related)
    return replace(
        finding,
        message=_named(finding.message, names),
        remedy=_named(finding.remedy, names),
        related=related,
    )


def _names(scale: Scale) -> dict[int, str]:
    """What stands behind each stand-in; N where that is not one thing."""
    names: dict[int, str] = {small: str(large) for large, small in scale.small.items()}
    for label, small in scale.values.items():
        last = label.rsplit(".", 1)[-1]
        names[small] = last if last.isidentifier() and small not in names else "N"
    return names


def _named(text: str, names: dict[int, str]) -> str:
    for number, name in names.items():
        text = re.sub(rf"\b{number - 1} of {number}\b", f"all but 1 of {name}", text)
        # Not in `line 3`, `train.py:3` or `i = 3`.
        text = re.sub(rf"(?<!line )(?<![:=.\d])(?<!= )\b{number}\b(?![.\d])", name, text)
    return text
