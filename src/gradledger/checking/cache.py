"""What was found in a file, kept until the file, a neighbour it was read with, or gradledger changes."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress

from gradledger._version import __version__
from gradledger.audit.answer import Answer, Checked
from gradledger.audit.transfer import answer_from_json, answer_to_json
from gradledger.checking.neighbours import Neighbours, Question
from gradledger.checking.outcome import Outcome

try:
    from _blake2 import blake2b  # `hashlib` would load all of OpenSSL first
except ImportError:
    from hashlib import blake2b

FOLDER = ".gradledger_cache"
VARIABLE = "GRADLEDGER_CACHE_DIR"


class Cache:
    """One small file for each checked file; several runs may use it at a time."""

    def __init__(self, folder: str, cwd: str) -> None:
        self._folder = folder
        self._cwd = cwd
        # A repository may bring a link of this name, to a folder where nobody wants our files.
        foreign = os.path.islink(folder) and not os.environ.get(VARIABLE)
        self._writable: bool | None = False if foreign else None
        self._maker = _digest(__version__, sys.version, cwd, *_own_files())

    def recall(self, path: str, raw: bytes, neighbours: Neighbours) -> Outcome | None:
        """What was found the last time, if everything it was found in is as it was."""
        try:
            with open(self._place(path), encoding="utf-8") as file:
                kept = json.load(file)
            if (kept["maker"], kept["content"]) != (self._maker, _digest(raw)):
                return None
            for name, importer, level, found, digest in kept["asked"]:
                if (
                    neighbours.where(name, importer, level) != found
                    or self._seen(found, neighbours) != digest
                ):
                    return None
            answer = answer_from_json(kept["answer"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return Outcome(path, answer.findings)

    def keep(
        self, outcome: Outcome, raw: bytes, asked: dict[Question, str | None], neighbours: Neighbours
    ) -> None:
        """Keep what was found; a note (cut short, say) or a problem is not the file's alone, so not kept."""
        if outcome.notes or outcome.problems or not self._ready():
            return
        answer = answer_to_json(Answer("static", outcome.findings, Checked(files=1)))
        questions = [[*question, found, self._seen(found, neighbours)] for question, found in asked.items()]
        kept = {"maker": self._maker, "content": _digest(raw), "asked": questions, "answer": answer}
        place = self._place(outcome.path)
        fresh = f"{place}.{os.getpid()}"
        try:
            with open(fresh, "w", encoding="utf-8") as file:
                json.dump(kept, file)
            os.replace(fresh, place)
        except OSError:
            with suppress(OSError):
                os.unlink(fresh)

    def _seen(self, path: str | None, neighbours: Neighbours) -> str | None:
        raw = None if path is None else neighbours.raw(path)
        return None if raw is None else _digest(raw)

    def _place(self, path: str) -> str:
        return os.path.join(self._folder, _digest(path) + ".json")

    def _ready(self) -> bool:
        if self._writable is None:
            self._writable = _made(self._folder)
        return self._writable


def cache_folder(start: str) -> str:
    """Where the cache is: by the environment, else beside the nearest pyproject.toml, else here."""
    given = os.environ.get(VARIABLE)
    if given:
        return os.path.abspath(given)
    folder = start
    while not os.path.exists(os.path.join(folder, "pyproject.toml")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return os.path.join(start, FOLDER)
        folder = parent
    return os.path.join(folder, FOLDER)


def _made(folder: str) -> bool:
    try:
        os.makedirs(folder, exist_ok=True)
        ignore = os.path.join(folder, ".gitignore")
        if not os.path.exists(ignore):
            with open(ignore, "w", encoding="utf-8") as file:
                file.write("*\n")
    except OSError:
        return False
    return True


def _own_files() -> list[str]:
    """Our own files as they are, so that a changed gradledger of the same version judges anew."""
    facts: list[str] = []
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [package]
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.endswith(".py"):
                    stat = entry.stat()
                    facts.append(f"{entry.path} {stat.st_size} {stat.st_mtime_ns}")
                elif folder == package and entry.is_dir():
                    folders.append(entry.path)
    return facts


def _digest(*parts: str | bytes) -> str:
    hasher = blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape")
        hasher.update(b"%d:" % len(data))
        hasher.update(data)
    return hasher.hexdigest()
