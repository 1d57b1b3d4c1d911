"""Tracebacks as the program would have had them without us."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType

_PACKAGE = Path(__file__).parent.parent
_PARTS = ("audit", "host", "ledger", "rules", "runtime")
_OURS = ("<gradledger", *(str(_PACKAGE / part) + os.sep for part in _PARTS))


def without_us(error: BaseException) -> None:
    """Take the frames of the host and of the audit out of the error and of everything chained to it."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _stripped(one.__traceback__)
        waiting += [one.__cause__, one.__context__]
        inner = getattr(one, "exceptions", ())  # of a group
        if isinstance(inner, tuple):
            waiting += [sub for sub in inner if isinstance(sub, BaseException)]


def show(error: BaseException) -> int:
    """Print an uncaught error as Python does, through sys.excepthook; returns the exit status."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    hook = getattr(sys, "excepthook", sys.__excepthook__)
    broken: BaseException | None = None
    try:
        hook(type(error), error, error.__traceback__)
    except BaseException as trouble:
        broken = trouble
    if broken is None:
        return 1
    if isinstance(broken, SystemExit):
        return exit_status(broken)
    without_us(broken)
    write("Error in sys.excepthook:\n")
    sys.__excepthook__(type(broken), broken, broken.__traceback__)
    write("\nOriginal exception was:\n")
    sys.__excepthook__(type(error), error, error.__traceback__)
    return 1


def exit_status(leaving: SystemExit) -> int:
    """What the process ends with; a text is printed first."""
    code = leaving.code
    if code is None:
        return 0
    if isinstance(code, int):
        # The operating system keeps the low byte; what does not fit a C long, Python makes -1.
        return (code if -(2**63) <= code < 2**63 else -1) & 0xFF
    for stream in (sys.stdout, sys.stderr):
        flush(stream)
    write(f"{code}\n")
    return 1


def write(text: str) -> None:
    """Write to standard error, if there is one."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except Exception:
        return  # closed, or None: there is nobody to tell


def flush(stream: object) -> None:
    """Flush a standard stream, whatever the program has made of it."""
    try:
        stream.flush()  # type: ignore[attr-defined]
    except Exception:
        return  # the interpreter tries again at its end, and says what is wrong


def complain(error: BaseException, *, kept: str = "the script's own result is kept") -> None:
    """Say in one line that gradledger itself failed."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = "" if last is None else f" ({Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno})"
    text = " ".join(str(error).split()).encode("unicode_escape").decode("ascii")
    write(f"gradledger: internal error: {type(error).__name__}: {text}{where}; {kept}\n")


def _stripped(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and _ours(trace):
        trace = trace.tb_next
    first = trace
    while trace is not None:
        following = trace.tb_next
        while following is not None and _ours(following):
            following = following.tb_next
        if following is not trace.tb_next:
            trace.tb_next = following
        trace = following
    return first


def _ours(trace: TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith(_OURS)
