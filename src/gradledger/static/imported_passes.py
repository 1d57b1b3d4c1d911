"""Whether what a file imports differentiates, told from the text: nothing is parsed or followed for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gradledger.static.code import code_of
from gradledger.static.imports import FindModule, is_known
from gradledger.static.unit import Unit, differentiates

_HANDS_ON = re.compile(r"^from (\.+)([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
"""A package's import of what is in it, for others to import from the package."""


def imports_passes(unit: Unit, find_module: FindModule | None) -> bool:
    """Whether a module of the project that the file imports by name differentiates."""
    if find_module is None:
        return False
    for node in unit.tree.body:
        if isinstance(node, ast.Import):
            names, level, wanted = [alias.name for alias in node.names], 0, set()
        elif isinstance(node, ast.ImportFrom):
            base, level = node.module or "", node.level
            wanted = {alias.name for alias in node.names}
            inner = [f"{base}.{name}" if base else name for name in wanted]
            names = [base, *inner] if base else inner
        else:
            continue
        for name in names:
            found = find_module(name, unit.path, level) if level or not is_known(name) else None
            if found is not None and any(
                "backward" in text and differentiates(code_of(text))
                for text in (found[1], *_handed_on(*found, wanted, find_module))
            ):
                return True
    return False


def _handed_on(path: str, text: str, wanted: set[str], find_module: FindModule) -> Iterator[str]:
    """The texts of the modules from which a package has the names that are wanted of it."""
    if not wanted or not path.endswith("__init__.py"):
        return
    for dots, module, names in _HANDS_ON.findall(text):
        if not wanted.isdisjoint(re.findall(r"\w+", names)):
            found = find_module(module, path, len(dots))
            if found is not None:
                yield found[1]
