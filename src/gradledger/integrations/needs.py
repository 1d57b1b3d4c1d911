"""The packages that integrations integrate with: a missing one is told in one line."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def needs(module: str, extra: str) -> ModuleType:
    """Import a module, or say which extra brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ImportError(
            f"gradledger.integrations.{extra} needs {package}: pip install 'gradledger[{extra}]'"
        ) from None
