from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.checking.decoding import decode
from gradledger.checking.problem import Unreadable
from tests.samples import steady


@pytest.mark.parametrize(
    ("raw", "text", "encoding"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n", "latin-1"),
        (b"#!/usr/bin/python\r\n# vim: set fileencoding=cp1252 :\r\n'\x80'", None, "cp1252"),
        (b"\x0c# coding=koi8-r\n", None, "koi8-r"),
        (b"# a\r# coding: latin-1\r'\xe9'\r", None, "latin-1"),
        (b"x = 1\n# coding: latin-1\n", None, "utf-8"),
        (b"\n\n# coding: latin-1\n", None, "utf-8"),
        (codecs.BOM_UTF8 + b"# coding: utf-8\nx\n", "# coding: utf-8\nx\n", "utf-8"),
        (b"", "", "utf-8"),
    ],
)
def test_text_is_read_as_declared_and_written_back(raw: bytes, text: str | None, encoding: str) -> None:
    decoded = decode(raw)
    assert decoded.encoding == encoding
    assert text is None or decoded.text == text
    assert decoded.encoded(decoded.text) == raw


@pytest.mark.parametrize(
    ("raw", "line", "words"),
    [
        (b"a\nb\n'\xe9'\n", 3, "is not utf-8: byte 0xe9"),
        (b"# coding: nonsense\n", 1, "unknown encoding nonsense"),
        (b"# coding: hex\n", 1, "unknown encoding hex"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", 1, "declares latin-1"),
        (codecs.BOM_UTF16_LE + b"x\0", 1, "UTF-16"),
        (b"a\n\0\n", 2, "null byte"),
    ],
)
def test_what_is_no_text_is_said_with_its_line(raw: bytes, line: int, words: str) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(raw)
    assert caught.value.line == line
    assert words in caught.value.reason


@steady
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_whatever_can_be_read_is_written_back_byte_for_byte(raw: bytes) -> None:
    try:
        decoded = decode(raw)
    except Unreadable:
        return
    assert decoded.encoded(decoded.text) == raw
