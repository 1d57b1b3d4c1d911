"""The last thing that happens to text before a terminal gets it.

Whoever puts a name, a line of source or a message into a text makes it plain first (`StreamFacts.plain`).
This is the place behind all of those: whatever has slipped through cannot move the cursor, set a title, hide
text, open a link or turn letters round. Colours may pass.
"""

from __future__ import annotations

import re

from gradledger.report.plain import harmless

_ONE = r"(?:[0-4]|2[2-4]|[34][0-79]|9[0-7]|10[0-7]|[34]8;5;\d{1,3}|[34]8;2;\d{1,3};\d{1,3};\d{1,3})"
_KEPT = re.compile(rf"(\x1b\[{_ONE}?(?:;{_ONE})*m|[\n\t])")
"""Colours, weights and underlines; not what conceals, blinks or turns colours round."""


def neutral(text: str) -> str:
    r"""The text with what a terminal would obey shown as its escape; line ends, tabs and colours stay."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(
        part if number % 2 else harmless(part) for number, part in enumerate(_KEPT.split(text)) if part
    )
