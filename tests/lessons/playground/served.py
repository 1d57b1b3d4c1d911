"""The real server with the real app, for tests that speak to it as a browser does."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gradledger.lessons.playground.app import app
from gradledger.lessons.playground.serve import BODY_LIMIT
from gradledger.lessons.playground.workshop import Workshop
from gradledger.lessons.progress.store import Store
from gradledger.serving.server import LoopbackServer


class Served:
    """A running server, and requests to it."""

    def __init__(self, server: LoopbackServer, workshop: Workshop, store: Store) -> None:
        self.server, self.workshop, self.store = server, workshop, store
        self.url = server.url

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            connection.request(method, f"/{self.server.token}/{path}", body, headers or {})
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def post(self, what: str, data: Any, **headers: str) -> tuple[int, Any]:
        sent = {"content-type": "application/json", **headers}
        status, _, body = self.ask("POST", f"api/{what}", json.dumps(data).encode(), sent)
        try:
            return status, json.loads(body)
        except ValueError:
            return status, body.decode()


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    notes: list[str] = []
    store = Store(folder, notes.append)
    workshop = Workshop()
    with LoopbackServer(app(store, workshop), body_limit=BODY_LIMIT) as server:
        yield Served(server, workshop, store)
    assert notes == []
