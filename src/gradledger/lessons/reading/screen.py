"""Where the course is shown, and how the reader answers: by lines, never by single keys."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

from gradledger.report.style import StreamFacts, facts_of, working_directory
from gradledger.report.waiting import Waiting


class Stopped(Exception):
    """The reader wants to stop here."""


class Screen:
    """A stream to write to and one to read answers from; nothing is asked unless both are a terminal."""

    def __init__(self, stdin: TextIO | None, stdout: TextIO, stderr: TextIO) -> None:
        self._in = stdin
        self._out = stdout
        self._err = stderr
        self.facts: StreamFacts = facts_of(stdout, os.environ, working_directory())
        self.interactive = stdin is not None and _tty(stdin) and _tty(stdout)
        self._since = 0
        """Lines written since the reader was last asked something."""

    @property
    def height(self) -> int:
        """How many lines the terminal has."""
        return max(shutil.get_terminal_size((80, 24)).lines, 10)

    def show(self, lines: Iterable[str] | str = "") -> None:
        """Write lines; a stream that cannot say a character gets it escaped."""
        given = [lines] if isinstance(lines, str) else list(lines)
        text = "".join(f"{line}\n" for line in given)
        self._since += text.count("\n")
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        self._out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        self._out.flush()

    def note(self, text: str) -> None:
        """Say something about the course itself, apart from its content."""
        self._out.flush()
        self._err.write(f"note: {self.facts.prose(text)}\n")
        self._err.flush()

    def fits(self, lines: int) -> bool:
        """Whether so many lines more fit below what the reader has not yet acknowledged."""
        return self._since == 0 or self._since + lines <= self.height - 2

    def ask(self, question: str) -> str:
        """The reader's answer, without blanks around it; the end of input or `q` stops."""
        assert self._in is not None
        self._out.write(self.facts.paint(question, "code") + " ")
        self._out.flush()
        answer = self._in.readline()
        self._since = 0
        if not answer:  # Ctrl-D
            self._out.write("\n")
            raise Stopped
        answer = " ".join(answer.split())
        if answer.lower() in ("q", "quit", "exit"):
            raise Stopped
        return answer

    def choose(self, question: str, options: Iterable[str], *, otherwise: str | None = None) -> str:
        """One of the options, asked for until it is one; an empty line means `otherwise`."""
        known = {option.lower(): option for option in options}
        while True:
            answer = self.ask(question).lower()
            if answer in known:
                return known[answer]
            if not answer and otherwise is not None:
                return otherwise
            listed = _listed(list(known.values()))
            wanted = f"answer {listed}" if otherwise is None else f"press Enter, {listed}"
            self.show(f"Please {wanted}, or q to stop.")

    def working(self, what: str) -> AbstractContextManager[object]:
        """Something moves while this lasts, if it lasts, and if there is somebody to see it."""
        return Waiting(what, self._err, delay=0.5) if self.interactive and _tty(self._err) else nullcontext()


def _listed(options: list[str]) -> str:
    return options[0] if len(options) == 1 else f"{', '.join(options[:-1])} or {options[-1]}"


def _tty(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False
