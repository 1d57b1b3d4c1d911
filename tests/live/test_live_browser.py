"""The live page in a real browser: it changes in place, and whatever the reader does stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gradledger.live import follower as following
from gradledger.live.app import live_app
from gradledger.live.follower import Follower
from gradledger.serving.server import LoopbackServer
from tests.live.growing import Growing
from tests.report.recorded import PROGRAM, detailed_run, right_run, stale_run


class Shown:
    """A page in the browser, and what it complained about."""

    def __init__(self, context, url: str) -> None:
        self.page = context.new_page()
        self.trouble: list[str] = []
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("request", lambda asked: asked.url.startswith(url) or self.trouble.append(asked.url))
        self.page.goto(url)
        self.page.wait_for_selector("html[data-ready=yes]")

    def until(self, micro_batches: int, state: str = "Live") -> None:
        """Wait until the page shows so much of the run."""
        self.page.wait_for_function(
            "([count, state]) => timeline.count === count && pill.innerText === state",
            arg=[micro_batches, state],
            timeout=60_000,
        )


@pytest.fixture
def train(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def watched(browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    monkeypatch.setattr(following, "PAUSE", 0.02)
    monkeypatch.setattr(following, "LEAST", 0.05)
    path = tmp_path / "run.jsonl"
    follower = Follower(str(path), str(tmp_path), lambda answer: answer)
    with follower, LoopbackServer(live_app(follower.feed)) as server:
        context = browser.new_context(viewport={"width": 1200, "height": 800})
        yield lambda: Shown(context, server.url), path, server
        context.close()


def test_a_run_fills_the_page_and_its_end_is_shown(watched, train: Path) -> None:
    opened, path, _ = watched
    shown = opened()
    page = shown.page
    assert page.inner_text("h1") == "Waiting for the first backward pass"
    assert page.inner_text(".pill") == "Waiting"
    growing = Growing(path, stale_run(train, 60))
    growing.grow(5)
    shown.until(1)
    assert page.inner_text("h1") == "The books balance so far"
    assert page.locator("#timeline").is_visible()
    growing.grow(20)
    shown.until(11)
    assert page.inner_text("h1") == "The updates are not what the code says"
    assert page.locator(".finding").count() == 1
    assert page.inner_text("#jumps") == "GL101"
    growing.grow()
    shown.until(60, "Ended")
    assert "59 of 60 steps" in page.inner_text(".finding")
    assert "train.py" in page.inner_text(".brand .run")
    assert shown.trouble == []


def test_what_the_reader_does_stays(watched, train: Path) -> None:
    opened, path, _ = watched
    growing = Growing(path, stale_run(train, 300, names=("layer.weight", "layer.bias")))
    growing.grow(203)
    shown = opened()
    page = shown.page
    shown.until(100)
    page.click("summary")
    page.click("#labels .row")
    page.focus("#canvas")
    for key in ("Home", "ArrowRight", "ArrowRight", "+", "+"):
        page.keyboard.press(key)
    page.wait_for_function("() => document.getElementById('follow').getAttribute('aria-pressed') === 'false'")
    page.evaluate("() => { document.querySelector('.finding').marked = true; }")
    page.evaluate("() => window.scrollTo({ top: 300, behavior: 'instant' })")
    state = """() => ({ zoom: view.zoom, offset: view.offset, chosen: SPAN.numbers[view.column],
        told: told.innerText, open: document.querySelector('details').open, scroll: scrollY,
        marked: document.querySelector('.finding').marked, parameters: view.open.size,
        focus: document.activeElement.id })"""
    before = page.evaluate(state)
    assert before["chosen"] == 3
    growing.grow(200)
    shown.until(200)
    assert page.evaluate(state) == before
    assert "199 of 200 steps" in page.inner_text(".finding")
    page.click("#follow")
    growing.grow()
    shown.until(300, "Ended")
    assert page.evaluate("() => SPAN.numbers[columnAt(view.width - 1)]") >= 299
    assert shown.trouble == []


def test_curves_grow_and_a_pointed_value_stays(watched, train: Path) -> None:
    opened, path, _ = watched
    growing = Growing(path, detailed_run(train, 24))
    growing.grow(len(growing.lines) // 2)
    shown = opened()
    page = shown.page
    page.wait_for_selector(".plot")
    page.locator(".plot svg[role=img]").first.hover()
    assert page.locator(".plot .read").first.inner_text()
    growing.grow()
    shown.until(24, "Ended")
    assert page.locator(".plot .read").first.inner_text()
    assert "over 24 micro-batches" in page.locator(".plot svg[role=img]").first.get_attribute("aria-label")
    assert page.locator(".stages li").count() >= 6
    assert shown.trouble == []


def test_several_pages_and_a_new_run_in_the_same_file(watched, train: Path) -> None:
    opened, path, _ = watched
    Growing(path, stale_run(train, 10)).grow()
    pages = [opened() for _ in range(3)]
    for shown in pages:
        shown.until(10, "Ended")
    path.write_bytes(b"")
    Growing(path, right_run(train, 4, every=2)).grow()
    for shown in pages:
        shown.until(8, "Ended")
        assert shown.page.inner_text("h1") == "The books balance"
        assert shown.page.locator(".finding").count() == 0
        assert shown.trouble == []


def test_a_server_that_went_away_is_said(watched, train: Path) -> None:
    opened, path, server = watched
    growing = Growing(path, right_run(train, 6))
    growing.grow(9)
    shown = opened()
    shown.until(2)
    server.stop()
    shown.page.wait_for_function("() => document.querySelector('.pill').innerText === 'Offline'")
    shown.page.focus("#canvas")  # what is there can still be read
    assert "Micro-batch" in shown.page.inner_text("#told")
