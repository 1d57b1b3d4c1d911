"""Server-sent events: a response that goes on as long as the browser listens."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse


class EventStream(StreamingResponse):
    """Sends what `messages` yields; ends when the browser goes away or the server shuts down."""

    media_type = "text/event-stream"

    def __init__(self, messages: AsyncIterator[bytes]) -> None:
        super().__init__(messages, headers={"x-accel-buffering": "no"})


def message(data: object, *, name: str = "message", number: int | None = None) -> bytes:
    """One event, its data as JSON in one line; the number comes back when a browser reconnects."""
    lines = [f"event: {name}", f"data: {json.dumps(data, separators=(',', ':'))}"]
    if number is not None:
        lines.append(f"id: {number}")
    return ("\n".join(lines) + "\n\n").encode()


STILL_HERE = b": still here\n\n"
"""A comment that the browser ignores; sending it shows whether anybody listens."""
