"""A server for this machine alone, in a thread of its own."""

from __future__ import annotations

import errno
import secrets
import socket
import sys
import threading
from types import TracebackType
from typing import Any

from gradledger.serving.errors import ServingError, require_extra
from gradledger.serving.guard import BODY_LIMIT, App, Guard

ADDRESS = "127.0.0.1"
_PATIENCE = 2
"""Seconds that an answer under way has when the server shuts down; event streams end at once."""


class LoopbackServer:
    """Serves an ASGI app on 127.0.0.1 behind a `Guard`, from entering the context until leaving it.

        with LoopbackServer(app) as server:
            print(server.url)   # http://127.0.0.1:PORT/TOKEN/
            server.wait()       # until Ctrl-C or stop()

    Port 0 takes a free one. The app runs in another thread and is told the `root_path` /TOKEN, so Starlette's
    routes begin after it; pages should link relatively. Ctrl-C anywhere inside leaves the context quietly.
    Whatever prevents serving is a `ServingError` with one line for the user.
    """

    def __init__(self, app: App, *, port: int = 0, body_limit: int = BODY_LIMIT) -> None:
        require_extra()
        self._socket = _bound(port)
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self._stopped = threading.Event()
        self._guard = Guard(app, port=self.port, token=self.token, body_limit=body_limit)
        self._server = _uvicorn(self._guard)
        self._thread = threading.Thread(target=self._run, name="gradledger-serving", daemon=True)

    @property
    def url(self) -> str:
        """The address with its token; whoever has it may use the page."""
        return f"http://{ADDRESS}:{self.port}/{self.token}/"

    def __enter__(self) -> LoopbackServer:
        """Start; requests are answered from now on."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Shut down, and wait for that; Ctrl-C is what it was waiting for."""
        self.stop()
        self._thread.join()
        return isinstance(error, KeyboardInterrupt)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the server has stopped, or the time is over; says which."""
        return self._stopped.wait(seconds)

    def stop(self) -> None:
        """Ask the server to stop, from any thread."""
        self._server.should_exit = True

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self._stopped.set()


def _bound(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # Elsewhere this lets a port be used again at once; on Windows it would let others take ours.
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((ADDRESS, port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        taken = getattr(error, "errno", None) == errno.EADDRINUSE
        reason = "another program uses it" if taken else getattr(error, "strerror", None) or str(error)
        raise ServingError(f"cannot serve on port {port}: {reason}; choose another port") from error
    return listening


def _uvicorn(guard: Guard) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            guard.end_streams()
            await super().shutdown(sockets=sockets)

    return Server(
        uvicorn.Config(
            guard,
            loop="asyncio",
            http="h11",
            ws="none",
            interface="asgi3",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_PATIENCE,
        )
    )
