"""The worker process: a fork for each job, limits, cancelling, and a new worker if it dies."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable

import pytest

from gradledger.lessons.playground import jobs
from gradledger.lessons.playground.presets import PRESETS
from gradledger.lessons.playground.setup import written
from gradledger.lessons.playground.workshop import BusyError, JobError, Workshop

RIGHT = written(PRESETS[0].setup)


def within(work: Callable[[Workshop], Awaitable[None]], most: int = 3) -> None:
    async def whole() -> None:
        workshop = Workshop(most)
        try:
            await asyncio.wait_for(work(workshop), 120)
        finally:
            await workshop.close()

    asyncio.run(whole())


def test_jobs_limits_and_a_worker_that_dies() -> None:
    """One worker for all of it: starting it is what takes time."""

    async def work(workshop: Workshop) -> None:
        first = await workshop.do("trial", 60, setup=RIGHT)
        again = await workshop.do("trial", 60, setup=RIGHT)
        assert first["loss"] == again["loss"]
        assert first["verdict"]["headline"] == "The books balance"

        with pytest.raises(JobError, match="the run failed: KeyError"):
            await workshop.do("dance", 60)
        with pytest.raises(JobError, match=r"longer than 0\.01 seconds"):
            await workshop.do("trial", 0.01, setup=RIGHT)
        assert workshop.at_work == 0

        several = [asyncio.create_task(workshop.do("trial", 60, setup=RIGHT)) for _ in range(4)]
        answers = await asyncio.gather(*several, return_exceptions=True)
        assert sum(isinstance(answer, BusyError) for answer in answers) == 1
        assert sum(isinstance(answer, dict) for answer in answers) == 3

        task = asyncio.create_task(workshop.do("trial", 60, setup=RIGHT))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert workshop.at_work == 0

        assert workshop._process is not None
        before = workshop._process.pid
        task = asyncio.create_task(workshop.do("trial", 60, setup=RIGHT))
        while not workshop.at_work:
            await asyncio.sleep(0)
        os.kill(before, signal.SIGKILL)
        with pytest.raises(JobError, match="without an answer"):
            await task
        await workshop._process.wait()
        assert (await workshop.do("trial", 60, setup=RIGHT))["loss"] == first["loss"]
        assert workshop._process.pid != before

    within(work)


def test_a_job_that_goes_wrong_is_told() -> None:
    assert "there is no block" in str(jobs.done({"kind": "trial", "setup": {"lanes": {"batch": ["x"]}}}))
