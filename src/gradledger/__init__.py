"""Keeps the books on PyTorch gradients; importing this never imports torch."""

from __future__ import annotations

from gradledger._version import __version__

TYPE_CHECKING = False  # the constant of `typing`, which is slower to load than all of this

if TYPE_CHECKING:
    from gradledger.engine.accumulator import Accumulator
    from gradledger.engine.cached import cached_backward
    from gradledger.engine.update import Update
    from gradledger.engine.verification import Verification
    from gradledger.ledger.errors import AuditError, LedgerError
    from gradledger.rules.finding import Finding
    from gradledger.watching import watch

__all__ = [
    "Accumulator",
    "AuditError",
    "Finding",
    "LedgerError",
    "Update",
    "Verification",
    "__version__",
    "cached_backward",
    "watch",
]

_HOMES = {
    "Accumulator": "gradledger.engine.accumulator",
    "AuditError": "gradledger.ledger.errors",
    "Finding": "gradledger.rules.finding",
    "LedgerError": "gradledger.ledger.errors",
    "Update": "gradledger.engine.update",
    "Verification": "gradledger.engine.verification",
    "cached_backward": "gradledger.engine.cached",
    "load_ipython_extension": "gradledger.integrations.ipython",
    "unload_ipython_extension": "gradledger.integrations.ipython",
    "watch": "gradledger.watching",
}
"""Where each public name lives, and what IPython asks for; a module is imported when it is first needed."""


if not TYPE_CHECKING:  # which would take every name for one that exists

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used."""
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        try:
            value: object = getattr(import_module(home), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            needed = f"gradledger.{name} needs PyTorch: pip install 'gradledger[torch]'"
            raise ModuleNotFoundError(needed, name="torch") from None
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Name the public names, also those that were not used yet."""
    return sorted({*globals(), *__all__})
