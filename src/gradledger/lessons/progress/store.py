"""The file of progress: changed by one process at a time, and never half written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from gradledger.audit.atomic import write_atomically
from gradledger.lessons.progress.lock import locked
from gradledger.lessons.progress.state import NewerError, Progress, UnreadableError, as_json, from_json

FILE = "learn.json"
FOLDER = "GRADLEDGER_DATA"
"""The environment variable that names another folder than the user's data directory."""


def usual_folder() -> Path:
    """Where this user's data lies on this system."""
    given = os.environ.get(FOLDER)
    if given:
        return Path(given).expanduser()
    import platformdirs

    return platformdirs.user_data_path("gradledger", appauthor=False)


class Store:
    """Reads and changes the progress; if the file cannot be used it says so once and goes on without."""

    def __init__(self, folder: Path, note: Callable[[str], None]) -> None:
        self.path = folder / FILE
        self._note = note
        self._memory: Progress | None = None
        """The progress of this process alone, once the file cannot be used."""

    def read(self) -> Progress:
        """What is known now."""
        if self._memory is not None:
            return self._memory
        try:
            return from_json(json.loads(self.path.read_bytes()))
        except FileNotFoundError:
            return Progress()
        except (OSError, ValueError, RecursionError):
            return self.change(lambda progress: progress)  # which says what is wrong

    def change(self, change: Callable[[Progress], Progress]) -> Progress:
        """Apply a change to what the file holds now, which another process may have changed meanwhile."""
        known = Progress()
        if self._memory is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with locked(self.path.with_suffix(".lock")):
                    known = self._load()
                    after = change(known)
                    if after != known:
                        write_atomically(self.path, json.dumps(as_json(after), indent=1) + "\n")
                    return after
            except (OSError, NewerError) as error:
                self._give_up(error)
                known = self._as_it_is(known)
        self._memory = change(known if self._memory is None else self._memory)
        return self._memory

    def forget(self) -> bool:
        """Remove the file; whether there was one."""
        if not self.path.exists():
            return False
        with locked(self.path.with_suffix(".lock")):
            self.path.unlink(missing_ok=True)
        return True

    def _load(self) -> Progress:
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return Progress()
        try:
            return from_json(json.loads(text))
        except NewerError:
            raise
        except (ValueError, RecursionError) as error:
            aside = _free(self.path)
            self.path.replace(aside)
            reason = error if isinstance(error, UnreadableError) else "it is no JSON"
            self._note(
                f"the file of progress could not be read ({reason}); it is kept as {aside}, a new one begins"
            )
            return Progress()

    def _as_it_is(self, known: Progress) -> Progress:
        """A folder that cannot be written to may still be read."""
        try:
            return from_json(json.loads(self.path.read_bytes()))
        except (OSError, ValueError, RecursionError):
            return known

    def _give_up(self, error: Exception) -> None:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        self._note(f"progress is not kept this time: {self.path}: {reason}")


def _free(path: Path) -> Path:
    """A name beside it that is not taken."""
    number = 1
    while (aside := path.with_name(f"{path.stem}.unreadable-{number}{path.suffix}")).exists():
        number += 1
    return aside
