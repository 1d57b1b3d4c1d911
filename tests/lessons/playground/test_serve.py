"""`gradledger learn playground` and `--web`: which page opens, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradledger.cli.main import main
from gradledger.lessons.modes import playground
from gradledger.lessons.playground.serve import serve
from gradledger.lessons.refusal import Refusal


def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *words: str) -> str:
    """The page that the browser would open; the server then ends as with Ctrl-C."""
    monkeypatch.setenv("GRADLEDGER_DATA", str(tmp_path))
    seen: list[str] = []

    def browser(url: str) -> None:
        seen.append(url)
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", browser)
    assert main(["learn", *words]) == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]+/.*", seen[0])
    return seen[0].split("/", 4)[4]


def test_the_page_that_opens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys) -> None:
    assert opened(monkeypatch, tmp_path, "--web") == "learn"
    assert "Ctrl-C ends it" in capsys.readouterr().out
    assert opened(monkeypatch, tmp_path, "playground") == "playground"
    link = "http://127.0.0.1:1/token/playground?loop=--zfldb-s-&every=2"
    assert opened(monkeypatch, tmp_path, "playground", link) == "playground?loop=--zfldb-s-&every=2"


@pytest.mark.parametrize("words", [["loop=--q--"], ["anything"], ["loop=----", "more"]])
def test_what_is_no_link_is_refused(words: list[str]) -> None:
    with pytest.raises(Refusal, match="link"):
        playground._page(words)


def test_a_port_in_use_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import socket

    monkeypatch.setenv("GRADLEDGER_DATA", str(tmp_path))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(Refusal, match="another program uses it"):
            serve(taken.getsockname()[1], open_browser=False)
