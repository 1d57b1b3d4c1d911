from __future__ import annotations

import io

import pytest

from gradledger.report.style import StreamFacts, facts_of, file_facts


class Stream(io.StringIO):
    """A stream with the encoding and the terminal of our choice."""

    def __init__(self, *, tty: bool = False, encoding: str | None = "utf-8") -> None:
        super().__init__()
        self._tty = tty
        self._encoding = encoding

    def isatty(self) -> bool:
        return self._tty

    @property
    def encoding(self) -> str | None:  # type: ignore[override]
        return self._encoding


@pytest.mark.parametrize(
    ("tty", "environ", "colour"),
    [
        (False, {}, False),
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "0"}, False),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colours(tty: bool, environ: dict[str, str], colour: bool) -> None:
    assert facts_of(Stream(tty=tty), environ, "/").colour is colour


@pytest.mark.parametrize(
    ("encoding", "environ", "unicode"),
    [
        ("utf-8", {}, True),
        (None, {}, True),
        ("ascii", {}, False),
        ("latin-1", {}, False),
        ("no-such-encoding", {}, False),
        ("utf-8", {"GRADLEDGER_ASCII": "1"}, False),
        ("utf-8", {"GRADLEDGER_ASCII": "0"}, True),
    ],
)
def test_characters(encoding: str | None, environ: dict[str, str], unicode: bool) -> None:
    assert facts_of(Stream(encoding=encoding), environ, "/").unicode is unicode


@pytest.mark.parametrize(
    ("columns", "width"),
    [
        ("100", 100),
        ("10", 60),
        ("1000", 120),
        ("", 80),
        ("0", 80),
        ("-5", 80),
        ("many", 80),
        ("9" * 5000, 80),
    ],
)
def test_width(columns: str, width: int) -> None:
    assert facts_of(Stream(), {"COLUMNS": columns}, "/").width == width
    assert file_facts({"COLUMNS": columns}, "/").width == width


def test_a_terminal_without_size_or_a_closed_stream_is_like_a_file() -> None:
    assert facts_of(Stream(tty=True), {}, "/").width == 80
    stream = Stream()
    stream.close()
    assert facts_of(stream, {}, "/") == StreamFacts(80, colour=False, unicode=True, cwd="/")


def test_a_file_has_no_colours() -> None:
    assert not file_facts({"FORCE_COLOR": "1"}, "/").colour
    assert not file_facts({"GRADLEDGER_ASCII": "1"}, "/").unicode


def test_paint_and_plain() -> None:
    assert StreamFacts(colour=True).paint("x", "error") == "\x1b[1;31mx\x1b[0m"
    assert StreamFacts().paint("x", "error") == "x"
    assert StreamFacts(unicode=False).plain("é\x1b") == "\\xe9\\x1b"
    assert StreamFacts().prose(" a\n\tb ") == "a b"
