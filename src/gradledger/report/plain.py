"""Text that cannot harm a terminal: no control characters, no invisible marks."""

from __future__ import annotations

import unicodedata

_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Controls, invisible formatting (which can make code read backwards), surrogates, what has no glyph."""

_ASCII = str.maketrans(
    {
        "│": "|",
        "◄": "<--",
        "⋮": ":",
        "…": "...",
        "×": "x",
        "→": "->",
        "←": "<-",
        "–": "-",
        "—": "-",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "≤": "<=",
        "≥": ">=",
        "≈": "~",
        "·": "*",
        "•": "-",
        "−": "-",
        "±": "+-",
        "²": "^2",
        "³": "^3",
        "⁻": "^-",
        "√": "sqrt ",
        "∞": "inf",
        "≠": "!=",
        "Δ": "d",
        "µ": "u",
        "✓": "ok",
        "─": "-",
        "\u00a0": " ",
    }
)


def harmless(text: str) -> str:
    r"""Show what a terminal would obey, such as ESC, as its escape: `\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if unicodedata.category(character) not in _HARMFUL else escaped(character)
        for character in text
    )


def without_commands(text: str) -> str:
    """The same words, none of which a forge's log obeys (`::error`, `##[error]`) when it begins a line."""
    if "::" not in text and "##[" not in text:
        return text
    words = text.replace("##[", "\\x23#[").split(" ")
    return " ".join(f"\\x3a{word[1:]}" if word.startswith("::") else word for word in words)


def ascii_only(text: str) -> str:
    """The nearest text for a terminal that knows ASCII only."""
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def escaped(character: str) -> str:
    """One character as Python would write it, always in hexadecimal."""
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
