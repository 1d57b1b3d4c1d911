"""What stands before every page: it answers this machine's own browser, and nobody else.

A page on 127.0.0.1 can be reached by every program here and, through the browser, by every site that is
open in it. So a request must name a loopback host with our port (else a foreign name could be rebound to
127.0.0.1), must not come from another site, and must know a random token, the first element of the path.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from gradledger.serving.answer import Answer, Send
from gradledger.serving.body import Receive, announced, bounded

App = Callable[[Any, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
BODY_LIMIT = 1 << 20
_log = logging.getLogger(__name__)


class Guard:
    """An ASGI app around another one, which sees only requests that may come, under `root_path` /TOKEN.

    The app gives its own Content-Security-Policy; without one nothing may be loaded. What changes anything
    must not be a GET. A fault in the app is a bare 500 for the client and one line in the log.
    """

    def __init__(self, app: App, *, port: int, token: str, body_limit: int = BODY_LIMIT) -> None:
        self._app = app
        self._root = f"/{token}"
        self._limit = body_limit
        self._hosts = {f"{name}:{port}" for name in LOOPBACK} | (set(LOOPBACK) if port == 80 else set())
        self._origins = {f"http://{host}" for host in self._hosts}
        self._streams: set[asyncio.Task[Any]] = set()
        self._closing = False

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, Answer(send))

    def end_streams(self) -> None:
        """End the open event streams, so that nothing waits for them; called in the server's loop."""
        self._closing = True
        for task in self._streams:
            task.cancel()

    def _streaming(self, task: asyncio.Task[Any]) -> None:
        self._streams.add(task)
        if self._closing:
            task.cancel()

    async def _answer(self, scope: Any, receive: Receive, answer: Answer) -> None:
        refusal = self._refusal(scope)
        if refusal is not None:
            return await answer.plainly(*refusal)
        if scope["path"] == self._root:
            return await answer.plainly(308, "", [(b"location", f"{self._root}/".encode())])
        body = await bounded(receive, self._limit)
        if body is None:
            return await answer.plainly(413, "The request is too long.")
        task = asyncio.current_task()
        assert task is not None
        answer.when_streaming = lambda: self._streaming(task)
        try:
            await self._app({**scope, "root_path": self._root}, body, answer)
        except asyncio.CancelledError:
            if not self._closing:
                raise
            await answer.end()
        except Exception as error:  # whatever it is, no traceback leaves
            words = str(error).encode("unicode_escape").decode("ascii")  # a terminal may show it
            _log.error("gradledger: the page failed: %s: %s", type(error).__name__, words)
            if not answer.started:
                await answer.plainly(500, "This request failed.")
        finally:
            self._streams.discard(task)
        return None

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        """Why this request is not answered, if it is not: a status and words."""
        headers: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value.decode("latin-1"))
        if [host.lower() for host in headers.get(b"host", [])] not in [[host] for host in self._hosts]:
            return 421, "This server answers to 127.0.0.1 only."
        if not self._from_here(scope["method"], headers):
            return 403, "This server answers its own pages only."
        token = "/" + scope["path"].split("/", 2)[1]
        if not secrets.compare_digest(token.encode(errors="replace"), self._root.encode()):
            return 404, "Nothing is here. Use the whole address that was printed."
        if announced(scope["headers"]) > self._limit:
            return 413, "The request is too long."
        return None

    def _from_here(self, method: str, headers: dict[bytes, list[str]]) -> bool:
        """Whether it comes from our page, from the address bar, or by a link that was followed."""
        sites = set(headers.get(b"sec-fetch-site", []))
        if method in ("GET", "HEAD") and headers.get(b"sec-fetch-mode") == ["navigate"]:
            # Somebody clicked on the address in a terminal of their browser; framing is forbidden anyway.
            sites -= {"same-site", "cross-site"} if headers.get(b"sec-fetch-dest") == ["document"] else set()
        if sites - {"same-origin", "none"}:
            return False
        # Under our referrer policy a form is sent with the origin null; then the browser's word counts.
        own = self._origins | ({"null"} if sites == {"same-origin"} else set())
        return all(origin.lower() in own for origin in headers.get(b"origin", []))
