"""Whether a file that trains nothing is a program at all."""

from __future__ import annotations

import sys
import warnings

from gradledger.checking.document import open_document
from gradledger.checking.problem import Problem, Unreadable

_ONLY_PARSE = 0x400
"""`ast.PyCF_ONLY_AST`, without the import."""

_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"

_PYTHON_2 = (
    "Missing parentheses in call to",
    "exception types must be parenthesized",
    "leading zeros",
)
_TOO_DEEP = ("recursion", "MemoryError", "too many nested")


def syntax_problem(path: str, raw: bytes) -> Problem | None:
    """Why Python cannot read the file, or None if it can."""
    try:
        document = open_document(path, raw)
    except Unreadable as error:
        return Problem(path, error.line, error.reason, error.cell)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(document.program, path, "exec", _ONLY_PARSE, dont_inherit=True)
    except SyntaxError as error:
        cell, line = document.place(error.lineno or 1)
        return unparsable(path, line, error.msg or "invalid syntax", cell)
    except (RecursionError, MemoryError):
        return nested(path)
    except ValueError as error:
        return unparsable(path, 1, str(error), None)
    return None


def unparsable(path: str, line: int, reason: str, cell: int | None) -> Problem:
    """What is said of a text that Python cannot parse."""
    if any(words in reason for words in _TOO_DEEP):
        return nested(path)
    if any(words in reason for words in _PYTHON_2):
        return Problem(path, line, f"looks like Python 2 ({reason}); convert or exclude it", cell)
    advice = "correct it, exclude it, or check it with the Python it is written for"
    return Problem(path, line, f"cannot be parsed by Python {_VERSION}: {reason}; {advice}", cell)


def nested(path: str) -> Problem:
    """What is said of a text that no parser gets through."""
    return Problem(path, 1, "is nested too deeply to be checked; exclude it")
