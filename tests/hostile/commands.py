"""Commands in this process: what they say and how they end, with a limit on how long they may take."""

from __future__ import annotations

import contextlib
import io
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from gradledger.cli.main import main

OBEYED = {*map(chr, range(32)), *map(chr, range(127, 160)), "\u202e", "\u2028", "\u2066"} - {"\n", "\t"}
"""Some of what a terminal, or the order of letters, would obey."""


@dataclass
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """What takes longer, in real time, hangs."""

    def late(*_: object) -> None:
        raise AssertionError(f"this still runs after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def ended(*argv: str) -> Ended:
    """Run it; argparse leaves in its own way."""
    out, err = io.StringIO(), io.StringIO()
    with within(120), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(list(argv))
        except SystemExit as leaving:
            code = int(str(leaving.code))
    return Ended(code, out.getvalue(), err.getvalue())


def civil(*argv: str) -> Ended:
    """Run it: it must give an answer, or refuse in one line with 2; nothing it says may be obeyed."""
    told = ended(*argv)
    assert told.code in (0, 1, 2), told
    assert "Traceback" not in told.out + told.err, told
    if told.code == 2:
        assert len(told.err.splitlines()) == 1, told
    assert not OBEYED & {*told.out, *told.err}, told
    return told
