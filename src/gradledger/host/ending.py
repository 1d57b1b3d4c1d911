"""The ways a process ends that no Python code sees: os._exit, SIGTERM, and what fork makes of both."""

from __future__ import annotations

import functools
import operator
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, NoReturn, Protocol

from gradledger.host.tracebacks import complain, flush


class Role(Protocol):
    """What this process has to do for the audit before it ends."""

    def leave(self, status: int, *, hurry: bool) -> int:
        """Do it; returns the status to end with."""

    def before_fork(self) -> None:
        """A child is about to be forked."""

    def forked(self) -> Role:
        """The role of this process now that it is the forked child."""


_role: Role | None = None
_guarded = False
_hooked = False
_forking = threading.local()
_exit = os._exit
_signal = signal.signal
_getsignal = signal.getsignal


def role() -> Role | None:
    """The role of this process, which changes in a forked child."""
    return _role


def take(part: Role) -> None:
    """Give this process its role, and stand in the way of os._exit."""
    global _role, _exit, _signal, _getsignal
    _role = part
    _exit, _signal, _getsignal = os._exit, signal.signal, signal.getsignal
    os._exit = _exit_after_report
    vars(signal)["signal"] = functools.update_wrapper(_signal_seeming, _signal)
    vars(signal)["getsignal"] = functools.update_wrapper(_getsignal_seeming, _getsignal)
    _hook_forks()


def guard() -> None:
    """Stand in the way of SIGTERM too, where nobody else does."""
    global _guarded
    _guarded = True
    if threading.current_thread() is threading.main_thread() and _getsignal(signal.SIGTERM) is signal.SIG_DFL:
        _signal(signal.SIGTERM, _terminated)


def unguard() -> None:
    """Let SIGTERM do at once what it does by default."""
    global _guarded
    _guarded = False
    if threading.current_thread() is threading.main_thread() and _getsignal(signal.SIGTERM) is _terminated:
        _signal(signal.SIGTERM, signal.SIG_DFL)


def drop() -> None:
    """Leave the ways out as they were."""
    global _role
    _role = None
    if os._exit is _exit_after_report:
        os._exit = _exit
    # Not if somebody has wrapped ours since: his wrapper would be lost.
    if signal.signal is _signal_seeming:
        signal.signal = _signal
    if signal.getsignal is _getsignal_seeming:
        signal.getsignal = _getsignal
    unguard()


def die(number: int) -> NoReturn:
    """End by this signal, so that whoever waits for the process sees it."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    if threading.current_thread() is threading.main_thread():
        _signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    _exit(128 + number)


def _exit_after_report(status: int) -> NoReturn:
    """Exit to the system with specified status, without normal exit processing."""
    try:
        number = operator.index(status) & 0xFF
    except TypeError:
        _exit(status)
    _exit(_last_duty(number, hurry=False))


def _terminated(number: int, _frame: FrameType | None) -> None:
    """Report, and then do what the default would have done at once."""
    _last_duty(128 + number, hurry=True)
    die(number)


def _last_duty(status: int, *, hurry: bool) -> int:
    if _role is None:
        return status
    try:
        status = _role.leave(status, hurry=hurry)
    except BaseException as trouble:
        complain(trouble)
    # Standard output keeps what it holds: without us nothing would have flushed it either.
    flush(sys.stderr)
    return status


def _signal_seeming(signalnum: Any, handler: Any) -> Any:
    if handler is signal.SIG_DFL and signalnum == signal.SIGTERM and _guarded:
        handler = _terminated
    earlier = _signal(signalnum, handler)
    return signal.SIG_DFL if earlier is _terminated else earlier


def _getsignal_seeming(signalnum: Any) -> Any:
    handler = _getsignal(signalnum)
    return signal.SIG_DFL if handler is _terminated else handler


def _hook_forks() -> None:
    global _hooked
    if not _hooked and hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_parent=_unblock, after_in_child=_after_fork)
        _hooked = True  # Python has no way to take the hooks back; without a role they do nothing


def _before_fork() -> None:
    if _role is None:
        return
    _role.before_fork()
    # A newborn forgets the signals that Python has caught for it but not yet handled. Without us such a
    # SIGTERM would have ended it; so the kernel keeps it until Python is ready.
    if hasattr(signal, "pthread_sigmask") and _getsignal(signal.SIGTERM) is _terminated:
        _forking.mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])


def _unblock() -> None:
    mask, _forking.mask = getattr(_forking, "mask", None), None
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _after_fork() -> None:
    global _role
    if _role is not None:
        _role = _role.forked()
    _unblock()
