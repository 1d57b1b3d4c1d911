"""How a path is shown to the reader."""

from __future__ import annotations

import os

from gradledger.ledger.site import Site


def shown_path(path: str, cwd: str) -> str:
    """The path relative to the working directory if it lies below it, otherwise as it is."""
    if path.startswith("<") or not os.path.isabs(path):
        return path
    try:
        relative = os.path.relpath(path, cwd)
    except ValueError:  # another drive
        return path
    outside = relative == os.pardir or relative.startswith(os.pardir + os.sep)
    return path if outside else relative


def shown_place(site: Site, cwd: str) -> str:
    """File and line, as editors and terminals recognise them."""
    cell = "" if site.cell is None else f"cell {site.cell}:"
    return f"{shown_path(site.path, cwd)}:{cell}{site.line}"


def slashed(path: str) -> str:
    """The path with forward slashes, so that it reads the same on every system."""
    return path.replace(os.sep, "/")
