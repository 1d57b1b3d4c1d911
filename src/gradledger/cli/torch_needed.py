"""What trains needs PyTorch; where it is not installed, one line says so before anything is begun."""

from __future__ import annotations

from pathlib import Path

from gradledger.cli.usage import UsageError


def need_torch(beside: Path | None = None) -> None:
    """Refuse if neither this environment nor the script's folder has PyTorch; it is not imported."""
    from importlib.machinery import PathFinder
    from importlib.util import find_spec

    if find_spec("torch") or (beside is not None and PathFinder.find_spec("torch", [str(beside)])):
        return
    raise UsageError("PyTorch is not installed here: pip install 'gradledger[torch]'")
