"""The facts about the terminal that a command writes to."""

from __future__ import annotations

import os
from typing import TextIO

from gradledger.report.neutral import neutral
from gradledger.report.style import StreamFacts, facts_of, working_directory


def terminal(stream: TextIO) -> StreamFacts:
    """What the stream can show, here and now."""
    return facts_of(stream, os.environ, working_directory())


def emit(text: str, stream: TextIO | None, *, exact: bool = False) -> None:
    """Write the text so that no terminal obeys what is in it.

    What the stream's encoding cannot say is escaped, not an error. What has to be exact, because a program
    reads it, is so unless the stream is a terminal.
    """
    if stream is None:  # Python was started with this stream closed
        return
    if not exact or stream.isatty():
        text = neutral(text)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
