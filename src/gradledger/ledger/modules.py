"""The modules of one of our packages, by name: what lies in its folder belongs to it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def modules_in(folders: Iterable[str]) -> list[str]:
    """The names of the modules in a package's folders, sorted; none of them is imported."""
    found: set[str] = set()
    for folder in folders:
        names = os.listdir(folder) if os.path.isdir(folder) else ()
        own = {name[:-3] for name in names if name.endswith(".py")}
        if not own:  # in a zip file, or without source; pkgutil knows, and loads `inspect` to find out
            from pkgutil import iter_modules

            own = {module.name for module in iter_modules([folder])}
        found |= own
    return sorted(found - {"__init__"})
