"""A private directory in which processes leave their answers for the one that reports."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gradledger.audit.answer import Answer
from gradledger.audit.atomic import write_atomically
from gradledger.audit.transfer import answer_from_json, answer_to_json


def temporary_root() -> Path:
    """Where temporary files go; unlike the tempfile module this leaves no choice behind for the program."""
    named = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    for place in [*named, "/tmp", "/var/tmp"]:
        if place and os.access(place, os.W_OK | os.X_OK):
            return Path(place).absolute()
    return Path.cwd()


class Mailbox:
    """The directory, made when it is first needed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def fresh(cls) -> Mailbox:
        """A mailbox that nobody else knows."""
        return cls(temporary_root() / f"gradledger-{os.getpid()}-{os.urandom(8).hex()}")

    def open(self) -> bool:
        """Make it; False if it cannot be, or is not ours alone."""
        try:
            self.path.mkdir(mode=0o700, exist_ok=True)
            found = self.path.lstat()
        except OSError:
            return False
        mine = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
        return stat.S_ISDIR(found.st_mode) and mine

    def deliver(self, name: str, answer: Answer) -> None:
        """Leave an answer; too late is no error, for nobody waits any more."""
        try:
            write_atomically(self.path / f"{name}.json", answer_to_json(answer))
        except OSError:
            return

    def fetch(self, name: str) -> Answer | None:
        """The answer left under this name, if there is one that can be read."""
        try:
            return answer_from_json((self.path / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def collect(self) -> list[Answer]:
        """Every answer, in the order of the names."""
        names = sorted(file.name.removesuffix(".json") for file in self.path.glob("*.json"))
        answers = [self.fetch(name) for name in names]
        return [answer for answer in answers if answer is not None]

    def discard(self) -> None:
        """Remove it and what is in it."""
        try:
            for file in self.path.iterdir():
                file.unlink(missing_ok=True)
            self.path.rmdir()
        except OSError:
            return  # never made, or another process is at it
