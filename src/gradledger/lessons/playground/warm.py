"""A process that has loaded PyTorch and does each job in a fork of itself, so that nothing leaks.

It reads jobs from its standard input, a JSON object a line: {"id", "kind", "seconds", ...} or {"cancel": id},
and answers in lines too: {"ready"} or {"unable": why}, then {"id"} with "result", "failed" or "ended".
When the input ends, it ends, and its children with it.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, BinaryIO

from gradledger.ledger.record import dataclass, field
from gradledger.lessons.playground.jobs import done, warm_up

ROOM = 1 << 30
"""Bytes that a job may take beyond what the process has already."""


@dataclass(slots=True)
class _Child:
    number: int
    pid: int
    heard: bytearray = field(default_factory=bytearray)


class Forge:
    """Forks for jobs, and collects what the forks say."""

    def __init__(self, jobs: int, answers: BinaryIO) -> None:
        self._answers = answers
        self._jobs = jobs
        self._children: dict[int, _Child] = {}
        """By the end of the pipe on which the child answers."""
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(jobs, selectors.EVENT_READ)
        self._rest = b""

    def work(self) -> None:
        """Serve until the input ends."""
        while True:
            for key, _ in self._waiting.select():
                if key.fd != self._jobs:
                    self._hear(key.fd)
                elif not self._take():
                    for child in self._children.values():
                        _kill(child.pid)
                    return

    def _take(self) -> bool:
        got = os.read(self._jobs, 1 << 16)
        *lines, self._rest = (self._rest + got).split(b"\n")
        for line in lines:
            job = json.loads(line)
            if "cancel" in job:
                for child in self._children.values():
                    if child.number == job["cancel"]:
                        _kill(child.pid)
            else:
                self._fork(job)
        return bool(got)

    def _fork(self, job: Mapping[str, Any]) -> None:
        listening, answering = os.pipe()
        pid = os.fork()
        if pid == 0:
            _be_child(job, answering)
        os.close(answering)
        self._children[listening] = _Child(job["id"], pid)
        self._waiting.register(listening, selectors.EVENT_READ)

    def _hear(self, pipe: int) -> None:
        child = self._children[pipe]
        got = os.read(pipe, 1 << 16)
        child.heard += got
        if got:
            return
        self._waiting.unregister(pipe)
        os.close(pipe)
        del self._children[pipe]
        _, status = os.waitpid(child.pid, 0)
        _kill(child.pid)  # whatever it may have started itself
        answer = json.loads(child.heard) if status == 0 and child.heard else {"ended": status}
        _say(self._answers, {"id": child.number, **answer})


def _be_child(job: Mapping[str, Any], answering: int) -> None:
    """The life of a fork: it does the job, answers and is gone."""
    status = 1
    try:
        os.setsid()
        os.dup2(1, 0)  # the jobs that come in are not for this one
        _limit(int(job["seconds"]) + 1)
        with os.fdopen(answering, "wb") as answers:
            answers.write(json.dumps(done(job)).encode())
        status = 0
    finally:
        os._exit(status)


def _limit(seconds: int) -> None:
    import resource

    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        pages = int(open("/proc/self/statm").read().split()[0])  # noqa: SIM115 - a moment before the end
        most = pages * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _say(answers: BinaryIO, answer: Mapping[str, object]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def main() -> None:
    """Answer on what was standard output; what a program prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the input will end
    try:
        warm_up()
    except ImportError as error:
        _say(answers, {"unable": str(error)})
        return
    _say(answers, {"ready": True})
    if hasattr(os, "fork"):
        Forge(0, answers).work()
        return
    for line in sys.stdin:  # elsewhere one after the other, and a cancelled job ends the process
        job = json.loads(line)
        _say(answers, {"id": job["id"], **done(job)})


if __name__ == "__main__":
    main()
