"""The files that pages load, from a short list: our own, and the ones shared with the report."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

_KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_SHARED = ("page.css",)
_LEDGER = ("decode.js", "patterns.js", "timeline.js", "steering.js", "legend.js", "curves.js")
"""The scripts that draw the ledger on the report page; here they are one module, with a way in at its end."""
_OWN = (
    *("theme.js", "asking.js", "exhibits.js", "quiz.js", "course.css", "playground.css"),
    *("playground.js", "loop.js", "dragging.js", "lifting.js", "showing.js", "settings.js"),
)
NAMES = (*_SHARED, "ledger.js", *_OWN)


@cache
def asset(name: str) -> tuple[str, str]:
    """The content of a file and its kind."""
    if name in _SHARED:
        content = _read("gradledger.report.page", name)
    elif name == "ledger.js":
        shared = [_read("gradledger.report.page", one) for one in _LEDGER]
        content = "\n".join([*shared, _read("gradledger.lessons.playground.assets", "ledger_entry.js")])
    elif name in _OWN:
        content = _read("gradledger.lessons.playground.assets", name)
    else:
        raise LookupError(name)
    return content, _KINDS[name.rpartition(".")[2]]


def _read(package: str, name: str) -> str:
    return (files(package) / name).read_text(encoding="utf-8")
