"""The body of a request, read up to a limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

Receive = Callable[[], Awaitable[Any]]


def announced(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """The length that the request says it has; 0 if it says none, and h11 has refused what is no number."""
    return max((int(value) for name, value in headers if name == b"content-length"), default=0)


async def bounded(receive: Receive, limit: int) -> Receive | None:
    """Read the whole body; what gives it once more and then goes on receiving, or None if it is too long."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":  # the client went away
            return _first(message, receive)
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > limit:
            return None
        if not message.get("more_body", False):
            return _first({"type": "http.request", "body": b"".join(chunks), "more_body": False}, receive)


def _first(message: Any, receive: Receive) -> Receive:
    waiting = [message]

    async def again() -> Any:
        return waiting.pop() if waiting else await receive()

    return again
