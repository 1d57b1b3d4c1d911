"""Pages for this machine alone: who is answered, with which headers, and how serving ends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gradledger.serving.errors import ServingError
from gradledger.serving.event_stream import EventStream, message
from gradledger.serving.server import LoopbackServer

OWN_POLICY = "default-src 'none'; script-src 'sha256-abc'"
left = threading.Event()


async def hello(request: Request) -> Response:
    return PlainTextResponse(
        "hello", headers={"content-security-policy": OWN_POLICY, "Cache-Control": "public"}
    )


async def echo(request: Request) -> Response:
    return PlainTextResponse(f"{len(await request.body())} at {request.url_for('hello').path}")


async def fault(request: Request) -> Response:
    raise ValueError("a secret of the program")


async def half(request: Request) -> Response:
    async def broken() -> AsyncIterator[bytes]:
        yield b"first"
        raise ValueError("a secret of the program")

    return EventStream(broken())


async def stream(request: Request) -> Response:
    async def forever() -> AsyncIterator[bytes]:
        try:
            yield message({"n": 1}, number=7)
            await asyncio.Event().wait()
        finally:
            left.set()

    return EventStream(forever())


APP = Starlette(
    routes=[
        Route("/", hello, name="hello"),
        Route("/echo", echo, methods=["POST"]),
        Route("/fault", fault),
        Route("/half", half),
        Route("/stream", stream),
    ]
)


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(APP, body_limit=1000) as running:
        yield running


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=20) as ready:
        yield ready


def at(server: LoopbackServer, path: str = "/") -> str:
    return f"http://127.0.0.1:{server.port}{path}"


def test_the_page_is_served_with_the_headers_that_protect_it(
    server: LoopbackServer, client: httpx.Client
) -> None:
    answer = client.get(server.url)
    assert (answer.status_code, answer.text) == (200, "hello")
    assert answer.headers["content-security-policy"] == OWN_POLICY
    assert answer.headers.get_list("cache-control") == ["no-store"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "server" not in answer.headers


def test_without_a_policy_of_the_app_nothing_may_be_loaded(
    server: LoopbackServer, client: httpx.Client
) -> None:
    assert (
        client.post(server.url + "echo").headers["content-security-policy"].startswith("default-src 'none'")
    )


def test_the_token_is_in_the_path_and_links_keep_it(server: LoopbackServer, client: httpx.Client) -> None:
    assert client.post(server.url + "echo", content=b"abc").text == f"3 at /{server.token}/"
    moved = client.get(server.url.rstrip("/"))
    assert (moved.status_code, moved.headers["location"]) == (308, f"/{server.token}/")


@pytest.mark.parametrize(
    "path", ["/", "/x/", "/favicon.ico", "/{token}x/", "/{short}/", "//{token}/", "/%00/", "/%ff"]
)
def test_without_the_token_there_is_nothing(server: LoopbackServer, client: httpx.Client, path: str) -> None:
    answer = client.get(at(server, path.format(token=server.token, short=server.token[:-1])))
    assert answer.status_code == 404
    assert server.token not in answer.text + str(answer.headers)
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_loopback_names_are_answered(server: LoopbackServer, client: httpx.Client, name: str) -> None:
    assert client.get(server.url, headers={"host": f"{name}:{server.port}"}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "127.0.0.2:{port}",
        "",
    ],
)
def test_a_name_rebound_to_this_machine_is_not_answered(
    server: LoopbackServer, client: httpx.Client, host: str
) -> None:
    answer = client.get(server.url, headers={"host": host.format(port=server.port)})
    assert (answer.status_code, "hello" in answer.text) == (421, False)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://127.0.0.1:{port}"}, 200),
        ({"origin": "http://localhost:{port}", "sec-fetch-site": "same-origin"}, 200),
        ({"origin": "null", "sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "https://127.0.0.1:{port}"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 403),
    ],
)
def test_only_our_own_pages_may_ask(
    server: LoopbackServer, client: httpx.Client, headers: dict[str, str], status: int
) -> None:
    sent = {name: value.format(port=server.port) for name, value in headers.items()}
    assert client.post(server.url + "echo", headers=sent).status_code == status


def test_a_link_may_be_followed_from_anywhere(server: LoopbackServer, client: httpx.Client) -> None:
    clicked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get(server.url, headers=clicked).status_code == 200
    assert client.get(server.url, headers={**clicked, "sec-fetch-dest": "iframe"}).status_code == 403


def test_long_bodies_are_refused_announced_or_not(server: LoopbackServer, client: httpx.Client) -> None:
    assert client.post(server.url + "echo", content=b"x" * 1000).text.startswith("1000 at")
    assert client.post(server.url + "echo", content=b"x" * 1001).status_code == 413
    assert client.post(server.url + "echo", content=iter([b"x" * 600] * 2)).status_code == 413
    assert client.post(server.url + "echo", content=iter([b"x" * 300] * 2)).text.startswith("600 at")


@pytest.mark.parametrize("path", ["fault", "half"])
def test_no_traceback_leaves(
    server: LoopbackServer, client: httpx.Client, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    text = ""
    try:
        with client.stream("GET", server.url + path) as answer:
            for piece in answer.iter_text():
                text += piece
    except httpx.RemoteProtocolError:
        assert path == "half"
    assert "secret" not in text
    assert "Traceback" not in text
    assert client.get(server.url).status_code == 200
    # The fault is logged once its answer is out: certainly before the next request is taken up.
    logged = [record.getMessage() for record in caplog.records]
    assert "gradledger: the page failed: ValueError: a secret of the program" in logged


def test_event_streams_do_not_hold_up_the_end(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradledger.serving.server._PATIENCE", 600)
    left.clear()
    with LoopbackServer(APP) as server, client.stream("GET", server.url + "stream") as answer:
        lines = answer.iter_lines()
        assert [next(lines) for _ in range(4)] == ["event: message", 'data: {"n":1}', "id: 7", ""]
        server.stop()
        assert list(lines) == []  # a proper end, not a broken connection
        assert server.wait(20)
    assert left.wait(20)


def test_a_stream_ends_when_nobody_listens(server: LoopbackServer, client: httpx.Client) -> None:
    left.clear()
    with client.stream("GET", server.url + "stream") as answer:
        next(answer.iter_lines())
    assert left.wait(20)


def test_websockets_are_not_spoken(server: LoopbackServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(
            f"GET /x/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\n\r\n".encode()
        )
        assert b" 404 " in raw.recv(1000).split(b"\r\n")[0]


def test_two_host_lines_are_refused(server: LoopbackServer) -> None:
    own = f"127.0.0.1:{server.port}"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(f"GET /{server.token}/ HTTP/1.1\r\nHost: {own}\r\nHost: {own}\r\n\r\n".encode())
        assert raw.recv(1000).split(b"\r\n")[0].split()[1] in (b"400", b"421")


def test_it_listens_on_the_loopback_address_alone(server: LoopbackServer) -> None:
    assert server._socket.getsockname()[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.port}/{server.token}/"
    assert len(server.token) >= 32


def test_a_port_that_is_taken_is_said_in_one_line(server: LoopbackServer) -> None:
    with pytest.raises(
        ServingError, match=rf"^cannot serve on port {server.port}: another program uses it; choose"
    ):
        LoopbackServer(APP, port=server.port)
    with pytest.raises(ServingError, match="cannot serve on port 70000"):
        LoopbackServer(APP, port=70000)


def test_a_port_can_be_used_again_at_once(client: httpx.Client) -> None:
    with LoopbackServer(APP) as first:
        assert client.get(first.url).status_code == 200
    with LoopbackServer(APP, port=first.port) as second:
        assert second.port == first.port
        assert client.get(first.url).status_code == 404  # the old address is worth nothing
        assert client.get(second.url).status_code == 200


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradledger.serving.errors.find_spec", lambda name: None)
    with pytest.raises(ServingError, match=r"pip install 'gradledger\[live\]'$"):
        LoopbackServer(APP)


IN_FRONT = """
import sys
from starlette.applications import Starlette
from gradledger.serving.server import LoopbackServer
with LoopbackServer(Starlette()) as server:
    print(server.url, flush=True)
    server.wait()
print("ended well")
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_it_cleanly() -> None:
    call = [sys.executable, "-c", IN_FRONT]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "ended well\n", "")
