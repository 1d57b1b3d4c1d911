"""What came from the user's program, made safe to stand in a page."""

from __future__ import annotations

import html
import json
import math

from gradledger.report.plain import harmless


def text(value: object) -> str:
    """Text for an element or an attribute: markup shown as it is written, invisible marks as escapes."""
    return html.escape(harmless(str(value)), quote=True)


def code(line: str) -> str:
    """The same for a line of source, whose tabs are spaces."""
    return text(line.replace("\x0c", "").expandtabs(4).rstrip())


def block(data: object) -> str:
    """JSON for a script element: nothing in it can end the element or begin another."""
    whole = json.dumps(_plain(data), separators=(",", ":"), allow_nan=False)
    return whole.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(data: object) -> object:
    if isinstance(data, str):
        return harmless(data)
    if isinstance(data, dict):
        return {harmless(str(key)): _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
