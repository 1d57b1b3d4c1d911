"""A checkpoint as one file: written whole or not at all, and refused if it is not one of ours."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import torch


def write(target: Path, content: dict[str, Any]) -> None:
    """Write to a temporary file beside the target, to the disk, and only then under its name."""
    start = f".{target.name}.part-"
    handle, name = tempfile.mkstemp(prefix=start, dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            _claim(file.fileno())
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(target.parent)
    _sweep(target.parent, start)


def read(source: Path) -> Any:
    """Whatever the file holds; a ValueError if it cannot be read, or would run code."""
    try:
        return torch.load(source, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ValueError(f"there is no checkpoint {source}") from None
    except Exception as error:
        lines = str(error).strip().splitlines()
        raise ValueError(
            f"{source} cannot be read as a checkpoint: it is cut off, damaged, or something else "
            f"({lines[0] if lines else type(error).__name__})"
        ) from error


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk as well, where the system lets us."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _claim(handle: int) -> bool:
    """Mark an open file as being written; False if another process has it. The mark ends with its process."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # another system, or another process
        return False
    return True


def _sweep(folder: Path, start: str) -> None:
    """Remove what processes have left that were killed while they wrote."""
    with contextlib.suppress(OSError):
        for file in [entry for entry in folder.iterdir() if entry.name.startswith(start)]:
            with open(file, "rb") as left:
                if _claim(left.fileno()):
                    file.unlink()
