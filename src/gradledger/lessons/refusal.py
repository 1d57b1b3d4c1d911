"""What the course cannot do here and now."""

from __future__ import annotations


class Refusal(Exception):
    """One line for the reader: what is not possible, and what to do."""


def need_torch() -> None:
    """Refuse if PyTorch is not installed; it is not imported."""
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise Refusal("PyTorch is not installed here: pip install 'gradledger[torch]'")
