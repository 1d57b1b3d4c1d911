"""Requests that no browser sends: an answer or a closed connection, no traceback, no file from elsewhere."""

from __future__ import annotations

import json
import logging
import random
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gradledger.live.app import live_app
from gradledger.live.follower import Follower
from gradledger.serving.server import LoopbackServer
from tests.hostile import damage
from tests.hostile.budget import chances
from tests.lessons.playground.served import served
from tests.report.recorded import PROGRAM, saved, stale_run

WAYS_OUT = [
    *("../etc/passwd", "..%2f..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "....//....//etc/passwd"),
    *(
        "..%5c..%5cwindows%5cwin.ini",
        "%00",
        "assets/..%2f..%2fapp.py",
        "assets/%2fetc%2fpasswd",
        "//etc/passwd",
    ),
    *("assets/../app.py", "learn/lesson/..%2f..%2f..%2fetc%2fpasswd", "quiz/%2e%2e", "file:///etc/passwd"),
    *("learn/lesson/%ff%fe", "assets/page.css%00.png", "learn/lesson/" + "a" * 5000, "data/../../x"),
]
METHODS = ["GET", "GET", "POST", "HEAD", "PUT", "OPTIONS", "TRACE", "G\x00T", "", "get", "A" * 300]
TARGETS = [
    "",
    "data",
    "events",
    "api/run",
    "api/quiz",
    "api/read",
    "learn",
    "playground?loop=",
    "assets/page.css",
]
LESSON = {"lesson": "l01", "answers": {"a": "b"}, "latest": "a", "done": True}
SETUP = {"setup": {"lanes": {"top": ["zero"], "step": []}, "every": 4, "batches": 3, "epochs": 1}}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[LoopbackServer]]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "train.py").write_text(PROGRAM)
    path = saved(folder / "run.jsonl", stale_run(folder / "train.py"))
    with ExitStack() as stack:
        follower = stack.enter_context(Follower(str(path), str(folder), lambda answer: answer))
        live = stack.enter_context(LoopbackServer(live_app(follower.feed)))
        playground = stack.enter_context(served(folder)).server
        yield [live, playground]


def sent(server: LoopbackServer, raw: bytes, patience: float = 30) -> bytes:
    """What comes back, up to the end of the connection; streams, and requests without an end, are left."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=patience) as connection:
        found = b""
        try:
            connection.sendall(raw)
            while b"text/event-stream" not in found and (part := connection.recv(65536)):
                found += part
        except (ConnectionResetError, BrokenPipeError, TimeoutError):
            pass
    return found


def request(server: LoopbackServer, chance: random.Random) -> bytes:
    method, target = chance.choice(METHODS), chance.choice([*TARGETS, *WAYS_OUT])
    token = chance.choice([server.token] * 8 + ["x", "", server.token[:-1], "%2e%2e"])
    headers = [f"Host: 127.0.0.1:{server.port}", "Connection: close"]
    body = b""
    if method == "POST":
        data = damage.value(chance.choice([LESSON, SETUP, {"owner": "l01", "name": "x"}]), chance)
        body = json.dumps(data).encode()
        length = chance.choice([len(body)] * 6 + [0, -1, 10**12, "x"])
        headers += ["Content-Type: application/json", f"Content-Length: {length}"]
    odd = [
        *(
            "Host: evil.example",
            "Origin: http://evil.example",
            "Sec-Fetch-Site: cross-site",
            "X: \x00",
            "A" * 70000,
        ),
        *(
            "Transfer-Encoding: chunked",
            "Content-Length: 5",
            "Expect: 100-continue",
            "Range: bytes=0-",
            ": x",
        ),
        *("Upgrade: websocket", "Cookie: " + "a=b;" * 500, "X-Forwarded-Host: evil", "Last-Event-ID: \xff"),
    ]
    headers += chance.sample(odd, chance.choice([0, 0, 1, 1, 2]))
    version = chance.choice(["HTTP/1.1"] * 8 + ["HTTP/1.0", "HTTP/9.9", ""])
    text = f"{method} /{token}/{target} {version}\r\n" + "".join(f"{line}\r\n" for line in headers) + "\r\n"
    raw = text.encode("latin-1") + body
    return damage.data(raw, chance) if chance.random() < 0.15 else raw


def test_any_request_is_answered_or_refused(
    servers: list[LoopbackServer], caplog: pytest.LogCaptureFixture
) -> None:
    statuses: Counter[bytes] = Counter()
    with caplog.at_level(logging.ERROR):
        for chance in chances(300):
            server = chance.choice(servers)
            answer = sent(server, request(server, chance), patience=0.5)
            assert b"Traceback" not in answer
            assert b"root:" not in answer
            statuses[answer[9:12]] += 1
    assert not [record for record in caplog.records if record.name.startswith("gradledger")], chance.name
    assert statuses[b"500"] == 0, statuses
    assert statuses[b"200"], statuses
    for server in servers:  # and both go on
        assert sent(server, _plain(server, "")).startswith(b"HTTP/1.1 ")


def _plain(server: LoopbackServer, target: str) -> bytes:
    host = f"Host: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n"
    return f"GET /{server.token}/{target} HTTP/1.1\r\n{host}".encode("latin-1")


@pytest.mark.parametrize("target", WAYS_OUT)
def test_no_address_leads_out(target: str, servers: list[LoopbackServer]) -> None:
    for server in servers:
        answer = sent(server, _plain(server, target))
        assert answer[9:12] in (b"404", b"400"), answer[:200]
        assert b"root:" not in answer
        assert b"import " not in answer


def test_a_body_that_never_ends_is_not_waited_for(servers: list[LoopbackServer]) -> None:
    for server in servers:
        head = f"POST /{server.token}/api/run HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            connection.sendall(head.encode())
            try:
                for _ in range(200):
                    connection.sendall(chunk)
                answer = connection.recv(65536)
            except (BrokenPipeError, ConnectionResetError):
                answer = b""
        assert answer == b"" or b"413" in answer[:20]


@pytest.mark.parametrize("what", ["run", "quiz", "read", "exhibit"])
def test_altered_questions_to_the_playground_have_reasons(what: str, tmp_path: Path) -> None:
    good: dict[str, Any] = {
        "run": SETUP,
        "quiz": LESSON,
        "read": LESSON,
        "exhibit": {"owner": "l01", "name": "nothing", "said": {"0": "3"}, "judged": True},
    }[what]
    with served(tmp_path) as page:
        for chance in chances(40):
            data = damage.value(good, chance)
            status, told = page.post(what, data)
            assert status in (200, 400, 413, 429, 503), (chance.name, status, told)
            assert status == 200 or told["reason"]
    assert {path.name for path in tmp_path.iterdir()} <= {"learn.json", "learn.lock"}
