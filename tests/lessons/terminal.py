"""A program at a terminal of 80 columns, driven by what it prints and what one types."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType

import gradledger

PATIENCE = 120.0
"""Far more seconds than any answer takes, for machines with other things to do."""


class Terminal:
    """`gradledger` with arguments, at a terminal of its own."""

    def __init__(self, *args: str, cwd: Path, rows: int = 24, **environ: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
        plain = {
            k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
        }
        source = str(Path(gradledger.__file__).parents[1])
        plain |= {
            "PYTHONPATH": source,
            "PYTHONUTF8": "1",
            "TERM": "xterm",
            "GRADLEDGER_DATA": str(cwd / "data"),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gradledger", *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={**plain, **environ},
            close_fds=True,
            start_new_session=True,
            # Without a controlling terminal Ctrl-C would be a character like any other.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.text = ""
        """Everything that was shown."""
        self._read = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def type(self, line: str) -> None:
        """Type a line and press Enter."""
        os.write(self._master, f"{line}\n".encode())

    def until(self, *awaited: str) -> str:
        """Read until one of the texts appears, and say which; what comes after it stays unread."""
        end = time.monotonic() + PATIENCE
        while True:
            places = [(at, text) for text in awaited if (at := self.text.find(text, self._read)) >= 0]
            if places:
                at, text = min(places)
                self._read = at + len(text)
                return text
            if not self._more(end):
                raise AssertionError(f"none of {awaited} came after:\n{self.text[-3000:]}")

    def end(self) -> int:
        """Read to the end; the exit code."""
        end = time.monotonic() + PATIENCE
        while self._more(end):
            pass
        return self._process.wait(timeout=PATIENCE)

    @property
    def lines(self) -> list[str]:
        """What stood on the screen, line by line, without the bar that moves while something runs."""
        return [line.rpartition("\r")[2] for line in self.text.replace("\r\n", "\n").split("\n")]

    @property
    def bare(self) -> list[str]:
        """The lines without their colours."""
        return [re.sub(r"\x1b\[[\d;]*[mK]", "", line) for line in self.lines]

    def _more(self, end: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the other side is closed
            return False
        self.text += data.decode("utf-8", "replace")
        return bool(data)
