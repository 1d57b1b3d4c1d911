"""The live page as a browser's requests see it: real sockets, a recording that grows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from gradledger.live import follower as following
from gradledger.live.app import live_app
from gradledger.live.follower import Follower
from gradledger.serving.server import LoopbackServer
from tests.live.growing import Growing
from tests.report.recorded import PROGRAM, right_run, saved, stale_run


class Watched:
    """A browser's part: the page, and the stream of news."""

    def __init__(self, url: str, client: httpx.Client, lines: Iterator[str]) -> None:
        self.url = url
        self.client = client
        self._lines = lines

    def until(self, state: str, backwards: int | None = None) -> dict[str, Any]:
        """The data once the run is in this state, and so far."""
        for line in self._lines:
            if not line.startswith("data: "):
                continue
            news = json.loads(line.removeprefix("data: "))
            data = self.client.get(self.url + "data").json()
            count = data["data"]["timeline"]["count"]
            if news["state"] == state and backwards in (None, count):
                return cast("dict[str, Any]", data)
        raise AssertionError("the stream has ended")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "PAUSE", 0.01)
    monkeypatch.setattr(following, "LEAST", 0.0)
    monkeypatch.setattr(following, "SHARE", 0)


@pytest.fixture
def train(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


@contextmanager
def watched(path: Path) -> Iterator[tuple[Watched, Follower]]:
    follower = Follower(str(path), str(path.parent), lambda answer: answer)
    with ExitStack() as stack:
        stack.enter_context(follower)
        server = stack.enter_context(LoopbackServer(live_app(follower.feed)))
        client = stack.enter_context(httpx.Client(trust_env=False, timeout=60))
        stream = stack.enter_context(client.stream("GET", server.url + "events"))
        yield Watched(server.url, client, stream.iter_lines()), follower


def test_the_page_follows_the_run(tmp_path: Path, train: Path) -> None:
    growing = Growing(tmp_path / "run.jsonl", stale_run(train, 6))
    with watched(growing.path) as (page, _):
        assert "Waiting for the first backward pass" in page.until("waiting")["verdict"]
        growing.grow(5)  # the first line, two openings, one backward, one step
        told = page.until("running", 1)
        assert "The books balance so far" in told["verdict"]
        assert told["findings"] == []
        growing.grow(2)
        told = page.until("running", 2)
        assert "The updates are not what the code says" in told["verdict"]
        assert [key.split()[0] for key, _ in told["findings"]] == ["GL101"]
        growing.grow()
        assert "6</dd>" in page.until("ended", 6)["verdict"]


def test_the_whole_page_is_the_report_with_a_policy_of_its_own(tmp_path: Path, train: Path) -> None:
    growing = Growing(tmp_path / "run.jsonl", stale_run(train, 6))
    growing.grow()
    with watched(growing.path) as (page, _):
        page.until("ended", 6)
        answer = page.client.get(page.url)
    policy = answer.headers["content-security-policy"]
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "GL101" in answer.text
    assert "This file loads nothing" not in answer.text


def test_a_page_without_listeners_is_made_when_it_is_asked_for(tmp_path: Path, train: Path) -> None:
    growing = Growing(tmp_path / "run.jsonl", right_run(train, 3))
    growing.grow(4)
    follower = Follower(str(growing.path), str(tmp_path), lambda answer: answer)
    with follower, LoopbackServer(live_app(follower.feed)) as server, httpx.Client(trust_env=False) as client:
        first = client.get(server.url + "data").json()
        again = client.get(server.url + "data").json()
        assert again["revision"] == first["revision"]  # nothing new, nothing made
        growing.grow()
        while client.get(server.url + "data").json()["data"]["timeline"]["count"] != 3:
            pass


def test_a_run_that_is_written_over_is_followed_anew(tmp_path: Path, train: Path) -> None:
    path = saved(tmp_path / "run.jsonl", stale_run(train, 6))
    with watched(path) as (page, _):
        page.until("ended", 6)
        path.write_bytes(b"")
        Growing(path, right_run(train, 2)).grow()
        assert page.until("ended", 2)["findings"] == []


def test_a_program_that_died_is_shown_up_to_there(tmp_path: Path, train: Path) -> None:
    growing = Growing(tmp_path / "run.jsonl", stale_run(train, 6))
    growing.grow(7)
    with watched(growing.path) as (page, follower):
        page.until("running", 2)
        follower.over()
        assert "breaks off after 2 backward passes" in page.until("ended", 2)["notes"][0]


@pytest.mark.parametrize("damage", [b"77\n", b"{}\n", b"\xff\n", b'[99, "BackwardRan", {"accounts": [7]}]\n'])
def test_damage_is_said_on_the_page_and_a_new_run_is_followed(
    tmp_path: Path, train: Path, damage: bytes
) -> None:
    growing = Growing(tmp_path / "run.jsonl", stale_run(train, 6))
    growing.grow(7)
    with watched(growing.path) as (page, _):
        page.until("running", 2)
        growing.append(damage)
        assert "run.jsonl" in page.until("broken")["notes"][0]
        growing.path.write_bytes(b"")
        Growing(growing.path, right_run(train, 2)).grow()
        page.until("ended", 2)


def test_many_pages_at_once(tmp_path: Path, train: Path) -> None:
    growing = Growing(tmp_path / "run.jsonl", right_run(train, 40))
    with watched(growing.path) as (one, _), httpx.Client(trust_env=False, timeout=60) as client:
        streams = [client.stream("GET", one.url + "events") for _ in range(12)]
        pages = [Watched(one.url, client, stream.__enter__().iter_lines()) for stream in streams]
        growing.grow()
        for page in [one, *pages]:
            page.until("ended", 40)
        for stream in streams:
            stream.__exit__(None, None, None)
        # Those that left are forgotten, the one that stayed is served.
        growing.path.write_bytes(b"")
        Growing(growing.path, right_run(train, 2)).grow()
        one.until("ended", 2)


def test_names_of_the_program_cannot_leave_the_data(tmp_path: Path, train: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    path = saved(tmp_path / "run.jsonl", stale_run(train, 3, names=(evil, "b")))
    with watched(path) as (page, _):
        told = page.until("ended", 3)
        assert told["data"]["timeline"]["rows"][0]["names"][0] == evil
        assert evil not in page.client.get(page.url).text
        assert evil not in page.client.get(page.url + "data").text


def test_the_page_makes_way_for_the_training(tmp_path: Path, train: Path, monkeypatch) -> None:
    """Between two states lies at least a multiple of what one costs."""
    monkeypatch.setattr(following, "LEAST", 3600.0)
    growing = Growing(tmp_path / "run.jsonl", right_run(train, 9))
    growing.grow(4)
    with watched(growing.path) as (page, follower):
        first = page.until("running", 1)
        growing.grow(6)
        while follower.read < 9:
            pass
        assert page.client.get(page.url + "data").json()["revision"] == first["revision"]
