"""Writing a file so that a reader never sees half of it."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def write_atomically(path: Path, text: str | bytes) -> None:
    """Put text (in UTF-8) or bytes into a new file beside it and rename that.

    A failure leaves nothing behind.
    """
    from pathlib import Path  # only who writes files needs it, and it is slow to load

    target = Path(os.path.realpath(path))  # a link stays a link
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        _write(target, text)  # a pipe or a device cannot be replaced
        return
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        _write(fresh, text)
        if target.exists():
            fresh.chmod(stat.S_IMODE(target.stat().st_mode))
        fresh.replace(target)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


def _write(path: Path, text: str | bytes) -> None:
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
