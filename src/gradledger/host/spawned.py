"""Children of multiprocessing, forked or with a fresh interpreter: how the audit gets there."""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradledger.host import ending
from gradledger.host.arrival import Arrival, when_imported
from gradledger.host.children import Child, Places, saved_as
from gradledger.host.mailbox import Mailbox
from gradledger.host.target import Options
from gradledger.host.tracebacks import complain
from gradledger.host.vigil import SessionFactory, Vigil

_ROOT = str(Path(__file__).resolve().parent.parent.parent)

# A child that cannot import gradledger must live on without it.
_ARRIVE = f"""
import sys
sys.path.append({_ROOT!r})
try:
    from gradledger.host.spawned import arrive
except Exception:
    arrive = None
finally:
    sys.path.remove({_ROOT!r})
if arrive is not None:
    arrive(letter)
"""


class Descent:
    """Sees to it that what multiprocessing starts is audited too."""

    def __init__(self, vigil: Vigil, places: Places) -> None:
        self._vigil = vigil
        self._places = places
        self._original: Callable[[str], dict[str, Any]] | None = None
        self._arrivals: list[Arrival] = []

    def begin(self) -> None:
        """Wait for the modules of multiprocessing."""
        self._arrivals = [
            when_imported("multiprocessing.spawn", self._wrap),
            when_imported("multiprocessing.util", self._notice_errors),
        ]

    def end(self) -> None:
        """Let later children alone."""
        for arrival in self._arrivals:
            arrival.remove()
        spawn = sys.modules.get("multiprocessing.spawn")
        if spawn is not None and self._original is not None:
            vars(spawn)["get_preparation_data"] = self._original

    def _wrap(self) -> None:
        spawn = sys.modules["multiprocessing.spawn"]
        original: Callable[[str], dict[str, Any]] = vars(spawn)["get_preparation_data"]

        @functools.wraps(original)
        def get_preparation_data(name: str) -> dict[str, Any]:
            data = original(name)
            data["gradledger"] = _Letter(self._vigil, self._places)
            return data

        self._original = original
        vars(spawn)["get_preparation_data"] = get_preparation_data

    def _notice_errors(self) -> None:
        util = sys.modules["multiprocessing.util"]
        vars(util)["register_after_fork"](self, Descent.bootstrapped)

    def bootstrapped(self) -> None:
        """Look out for the error that ends this child: the finalizers are run while it is in flight."""
        vars(sys.modules["multiprocessing.util"])["Finalize"](None, _note_error, exitpriority=-10_000)


class _Letter:
    """Travels with what a spawned child needs to know; to unpickle it is to begin the audit there."""

    def __init__(self, vigil: Vigil, places: Places) -> None:
        save = vigil.options.save
        name = places.next()
        made = vigil.factory
        self._text = json.dumps(
            {
                "box": str(places.mailbox.path),
                "name": name,
                "fail_fast": vigil.options.fail_fast,
                "save": None if save is None else saved_as(save, f"child{name}"),
                "factory": None if made is None else f"{made.__module__}:{made.__qualname__}",  # type: ignore[attr-defined]
                "rank": os.environ.get("RANK", ""),
            }
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (_ARRIVE, {"letter": self._text})


def arrive(letter: str) -> None:
    """Begin the audit of a spawned child."""
    try:
        given = json.loads(letter)
        options = Options(fail_fast=given["fail_fast"], save=given["save"])
        vigil = Vigil(options, None, _factory(given["factory"]), child=True)
        places = Places(Mailbox(Path(given["box"])), f"{given['name']}-")
        child = Child(vigil, places, given["name"], given["rank"])
        ending.take(child)
        descent = Descent(vigil, places)
        descent.begin()
        descent.bootstrapped()  # multiprocessing itself calls this only where it forks
        atexit.register(_leave)
        vigil.begin()
    except Exception as trouble:
        complain(trouble)


def _factory(name: str | None) -> SessionFactory | None:
    if name is None:
        return None
    module, _, attribute = name.partition(":")
    made: SessionFactory = getattr(importlib.import_module(module), attribute)
    return made


def _leave() -> None:
    role = ending.role()
    if role is not None:
        role.leave(0, hurry=False)


def _note_error() -> None:
    error = sys.exc_info()[1]
    if isinstance(error, SystemExit):
        error = error.__context__ if error.code else None
    role = ending.role()
    if isinstance(role, Child):
        role.error = error
