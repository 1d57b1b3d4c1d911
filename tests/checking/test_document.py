from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.checking.document import LONGEST, open_document
from gradledger.checking.problem import Unreadable
from gradledger.rules.finding import Edit
from tests.samples import steady


def test_the_program_has_plain_line_ends_and_the_file_keeps_its_own() -> None:
    raw = codecs.BOM_UTF8 + b"a = 1\r\n\tb\x0c = 2\rc = 3\n"
    document = open_document("a.py", raw)
    assert document.program == "a = 1\n\tb\x0c = 2\nc = 3\n"
    assert document.parts() == ((None, "a = 1\r\n\tb\x0c = 2\rc = 3\n"),)
    assert document.place(7) == (None, 7)
    after = document.rewritten([Edit("a.py", (2, 1), (2, 1), "\tx()\n")])
    assert after == codecs.BOM_UTF8 + b"a = 1\r\n\tx()\r\n\tb\x0c = 2\rc = 3\n"


def test_another_encoding_is_kept() -> None:
    raw = b"# coding: latin-1\nx = '\xe9'\n"
    after = open_document("a.py", raw).rewritten([Edit("a.py", (2, 1), (2, 2), "ü")])
    assert after == b"# coding: latin-1\n\xfc = '\xe9'\n"
    with pytest.raises(ValueError):
        open_document("a.py", raw).rewritten([Edit("a.py", (2, 1), (2, 2), "→")])


def test_an_encoding_that_cannot_be_written_back_is_not_written() -> None:
    raw = b"# coding: utf-7\nx = '+AGE-'\n"  # UTF-7 has more than one way to say the same
    with pytest.raises(ValueError, match="utf-7"):
        open_document("a.py", raw).rewritten([Edit("a.py", (2, 1), (2, 2), "y")])


def test_too_much_source_is_not_read() -> None:
    with pytest.raises(Unreadable, match="MB of source"):
        open_document("a.py", b"x = 1\n" * (LONGEST // 6 + 1))


@steady
@given(st.binary(max_size=100) | st.text(max_size=100).map(str.encode), st.sampled_from(["a.py", "a.ipynb"]))
def test_any_bytes_are_read_or_refused_and_written_back_unchanged(raw: bytes, name: str) -> None:
    try:
        document = open_document(name, raw)
        after = document.rewritten([])
    except Unreadable:
        return
    except ValueError as error:
        if "cannot be written back" not in str(error):
            raise
        return
    assert after == raw
