"""Being told when a module has been imported, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Arrival:
    """A finder that finds nothing itself: it lets the others find, and watches the one module load."""

    def __init__(self, name: str, callback: Callable[[], None]) -> None:
        self._name = name
        self._callback: Callable[[], None] | None = callback

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the awaited module as the finders behind this one do."""
        if name != self._name or self._callback is None:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :] if self in sys.meta_path else []:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                _watch(spec.loader, self.arrived)
                return spec
        return None

    def arrived(self) -> None:
        """Call back, at most once."""
        callback = self._callback
        self.remove()
        if callback is not None:
            callback()

    def remove(self) -> None:
        """Wait no longer."""
        self._callback = None
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def when_imported(name: str, callback: Callable[[], None]) -> Arrival:
    """Call back as soon as the module has been executed; at once if it already was."""
    arrival = Arrival(name, callback)
    if name in sys.modules:
        arrival.arrived()
    else:
        sys.meta_path.insert(0, arrival)
    return arrival


def _watch(loader: Any, arrived: Callable[[], None]) -> None:
    """Replace `exec_module` on this one loader object until it has run, so that the loader stays its own."""
    if isinstance(loader, type) or not hasattr(loader, "exec_module"):
        return  # built-in and frozen modules share one loader
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        vars(loader).pop("exec_module", None)
        execute(module)
        arrived()

    # Python leaves the frames of the import system out of tracebacks, and knows them by their file's name:
    # a package that fails to import must fail with the text it always had.
    exec_module.__code__ = exec_module.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
    try:
        loader.exec_module = exec_module
    except AttributeError:
        return  # a loader with slots cannot be watched
