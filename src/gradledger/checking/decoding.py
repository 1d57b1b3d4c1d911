"""Bytes of a source file -> text, and back without losing a byte."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from gradledger.checking.problem import Unreadable

_LINE_END = re.compile(rb"\r\n|\r|\n")
_DECLARED = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NOTHING = re.compile(rb"[ \t\f]*(?:#.*)?\Z")


class Decoded(NamedTuple):
    """A text exactly as it stands in the file, line ends and all, and how it was written."""

    text: str
    encoding: str
    mark: bytes
    """The byte order mark before the text, or nothing."""

    def encoded(self, text: str) -> bytes:
        """Another text in the same way; raises UnicodeError where the encoding cannot say it."""
        return self.mark + text.encode(self.encoding)


def decode(raw: bytes) -> Decoded:
    """Read the bytes as Python would; raises Unreadable."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Unreadable(1, "is UTF-16, which Python cannot read; save it as UTF-8")
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    body = raw[len(mark) :]
    encoding = _declared(body) or "utf-8"
    try:
        if mark and codecs.lookup(encoding).name != "utf-8":
            raise Unreadable(1, f"begins with the mark of UTF-8 and declares {encoding}")
        text = body.decode(encoding)
    except LookupError as error:
        raise Unreadable(1, f"declares the unknown encoding {encoding}") from error
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(body, 0, error.start)) + 1
        byte = f"byte 0x{body[error.start]:02x}" if error.start < len(body) else "its end"
        raise Unreadable(line, f"is not {encoding}: {byte} is no character; declare its encoding") from error
    except ValueError as error:
        raise Unreadable(1, f"cannot be decoded as {encoding}: {error}") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise Unreadable(line, "contains a null byte, so it is no Python source")
    return Decoded(text, encoding, mark)


def _declared(body: bytes) -> str | None:
    """The encoding that one of the first two lines names, as PEP 263 has it."""
    first, *rest = _LINE_END.split(body[:400], 2)
    found = _DECLARED.match(first)
    if found is None and rest and _NOTHING.match(first):
        found = _DECLARED.match(rest[0])
    return None if found is None else found[1].decode("ascii", "replace")
