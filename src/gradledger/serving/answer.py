"""One answer on its way to the browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from gradledger.serving.headers import secured

Send = Callable[[Any], Awaitable[None]]


class Answer:
    """Sends one response with our headers, and knows how far it got."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self._ended = False
        self.when_streaming: Callable[[], None] = lambda: None

    async def __call__(self, message: Any) -> None:
        """Send a message of the app."""
        if message["type"] == "http.response.start":
            self.started = True
            message = {**message, "headers": secured(list(message.get("headers", [])))}
            if any(
                n == b"content-type" and v.startswith(b"text/event-stream") for n, v in message["headers"]
            ):
                self.when_streaming()
        elif message["type"] == "http.response.body":
            self._ended = not message.get("more_body", False)
        await self._send(message)

    async def plainly(self, status: int, words: str, more: list[tuple[bytes, bytes]] | None = None) -> None:
        """A short text, and no more requests on this connection if it was refused."""
        body = f"{words}\n".encode() if words else b""
        headers = [(b"content-type", b"text/plain; charset=utf-8"), *(more or [])]
        if status >= 400:
            headers.append((b"connection", b"close"))
        headers.append((b"content-length", str(len(body)).encode()))
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": body, "more_body": False})

    async def end(self) -> None:
        """The end of a response that was cut short."""
        if self.started and not self._ended:
            await self({"type": "http.response.body", "body": b"", "more_body": False})
