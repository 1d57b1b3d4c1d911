"""From the words after `gradledger learn` to a way of learning."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TextIO

from gradledger.lessons import catalogue
from gradledger.lessons.modes.playground import served
from gradledger.lessons.progress.store import Store, usual_folder
from gradledger.lessons.reading.menu import menu
from gradledger.lessons.reading.reader import Reader
from gradledger.lessons.reading.screen import Screen, Stopped
from gradledger.lessons.refusal import Refusal
from gradledger.lessons.ways import ways


def the_reader(
    *, output: str | None = None, port: int | None = None, browser: bool = True, stdin: TextIO | None
) -> Reader:
    """Who sits at this terminal."""
    screen = Screen(stdin, sys.stdout, sys.stderr)
    store = Store(usual_folder(), screen.note)
    return Reader(screen, store, output=output, port=port or 0, browser=browser)


def learn(words: Sequence[str], reader: Reader, *, web: bool, reset: bool) -> int:
    """Do it; the result is the exit code."""
    try:
        if web or reset:
            if words or (web and reset):
                raise Refusal(f"{'--web' if web else '--reset'} takes nothing else")
            return served(reader, "learn") if web else _forget(reader)
        if not words:
            return menu(reader)
        return _way(reader, words)
    except Stopped:
        return 0


def _way(reader: Reader, words: Sequence[str]) -> int:
    word, rest = words[0].lower(), list(words[1:])
    if word in ways():
        return ways()[word].run(reader, rest)
    try:
        lesson = catalogue.lesson(word)
    except LookupError:
        if re.fullmatch(r"gl\d{3}", word):
            raise
        raise Refusal(
            f'there is no way to learn called "{words[0]}" (there are: {", ".join(ways())})'
        ) from None
    return ways()["read"].run(reader, [lesson.id, *rest])


def _forget(reader: Reader) -> int:
    screen, store = reader.screen, reader.store
    if not store.path.exists():
        screen.show("There is nothing to forget.")
        return 0
    if (
        screen.interactive
        and screen.choose(f"Forget all that {store.path} holds (yes or no)?", ("yes", "no")) == "no"
    ):
        return 0
    try:
        store.forget()
    except OSError as error:
        raise Refusal(f"cannot remove {store.path}: {error.strerror or error}") from error
    screen.show(f"Forgotten: {store.path}")
    return 0
