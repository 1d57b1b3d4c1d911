"""Jobs for the worker process, at most a few at a time, each with a time limit, all of them cancellable."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

FORKS = hasattr(os, "fork")
MOST = 3 if FORKS else 1
"""Jobs at a time."""
LONGEST = 16 << 20
"""Bytes in one answer."""


class BusyError(Exception):
    """Too many jobs are under way."""


class JobError(Exception):
    """The job gave no answer; the message says why."""


class Workshop:
    """One warm worker, started when it is first needed and again if it should die."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._ready = asyncio.Event()
        self._unable = ""
        self._begun: asyncio.Task[None] | None = None

    @property
    def at_work(self) -> int:
        """How many jobs are under way."""
        return len(self._open)

    async def do(self, kind: str, seconds: float, **details: object) -> dict[str, Any]:
        """Do a job and give its result; if the caller is cancelled, so is the job."""
        if len(self._open) >= self._most:
            raise BusyError(f"{self._most} runs are under way already; try again in a moment")
        number = next(self._numbers)
        answer = self._open[number] = asyncio.get_running_loop().create_future()
        try:
            await self.start()
            self._send({"id": number, "kind": kind, "seconds": seconds, **details})
            told = await asyncio.wait_for(answer, seconds)
        except asyncio.TimeoutError:
            self._cancel(number)
            raise JobError(f"the run took longer than {seconds:g} seconds and was stopped") from None
        except asyncio.CancelledError:
            self._cancel(number)
            raise
        finally:
            self._open.pop(number, None)
        return _result(told)

    async def start(self) -> None:
        """Have a worker that is ready."""
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "gradledger.lessons.playground.warm"),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=LONGEST,
            )
            self._ready.clear()
            self._reader = asyncio.create_task(self._listen(self._process))
            await self._ready.wait()
            if self._unable:
                raise JobError(f"PyTorch cannot be loaded here: {self._unable}")

    def begin(self) -> None:
        """Start the worker in the background; a fault shows when the first job comes."""
        self._begun = asyncio.create_task(self._try())

    async def _try(self) -> None:
        with suppress(JobError):
            await self.start()

    async def close(self) -> None:
        """End the worker and whatever it does."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()
        for task in (self._begun, self._reader):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def _send(self, message: Mapping[str, object]) -> None:
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(json.dumps(message).encode() + b"\n")

    def _cancel(self, number: int) -> None:
        if FORKS:
            self._send({"cancel": number})
        elif self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            told = json.loads(line)
            if "ready" in told or "unable" in told:
                self._unable = told.get("unable", "")
                self._ready.set()
                continue
            waiting = self._open.get(told.get("id"))
            if waiting is not None and not waiting.done():
                waiting.set_result(told)
        self._unable = self._unable or ("" if self._ready.is_set() else "the worker process ended at once")
        self._ready.set()
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_result({"ended": -1})


def _result(told: Mapping[str, Any]) -> dict[str, Any]:
    if "result" in told:
        result: dict[str, Any] = told["result"]
        return result
    if "failed" in told:
        raise JobError(f"the run failed: {told['failed']}")
    raise JobError("the run ended without an answer; it may have needed too much memory or time")
