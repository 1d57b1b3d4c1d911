"""Why a page cannot be served, in words for the user."""

from __future__ import annotations

from importlib.util import find_spec


class ServingError(Exception):
    """The page cannot be served; the message is one line that says what to do."""


def require_extra() -> None:
    """Say so in one line if what serves pages is not installed; ask before importing an app."""
    if any(find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise ServingError("serving a page needs starlette and uvicorn: pip install 'gradledger[live]'")
