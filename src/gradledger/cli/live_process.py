"""The process that serves the page of `gradledger run --live`, so that the run has nothing to do with it.

It is told what to do in one argument, says in its first line of output where the page is or why there is none
and then listens: `over` means that the run has ended, `stop` that the page is not wanted any more. It ends by
itself when the run's process is gone. It is not a child of that process, which may wait for its own children.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_LOOK = 0.5
"""Seconds between two looks whether the run is still there."""
_PATIENCE = 10.0
"""Seconds in which the end of the run is read and shown, if anybody looks."""
_LAST = 1.0
"""Seconds in which open pages can fetch it."""


def main(argument: str) -> int:
    """Serve until the run is over or gone."""
    told = json.loads(argument)
    _detach()
    try:
        return _serve(told)
    finally:
        if told["folder"] is not None:
            shutil.rmtree(told["folder"], ignore_errors=True)


def _detach() -> None:
    """Leave the run's family and give way to it."""
    if not hasattr(os, "fork"):
        return
    if os.fork():
        os._exit(0)
    with suppress(OSError):
        os.nice(5)


def _serve(told: dict[str, Any]) -> int:
    from gradledger.cli.live_page import served
    from gradledger.cli.terminal import terminal
    from gradledger.cli.usage import UsageError
    from gradledger.cli.wishes import wishes

    args = argparse.Namespace(**told["wishes"], write_baseline=None)
    try:
        wanted = wishes(args, told["beside"], terminal(sys.stderr))
        known = None if told["known"] is None else tuple(told["known"])
        with served(told["recording"], wanted, told["port"], told["name"], known) as page:
            _say({"url": page.url})
            stop = threading.Event()
            threading.Thread(target=_listen, args=(page.follower.over, stop.set), daemon=True).start()
            while not stop.wait(_LOOK) and _alive(told["run"]):
                pass
            page.follower.over()
            if page.follower.feed.wanted and page.follower.told_the_end.wait(_PATIENCE):
                time.sleep(_LAST)
    except UsageError as error:
        _say({"error": str(error)})
        return 2
    return 0


def _say(word: dict[str, str]) -> None:
    with suppress(OSError):
        print(json.dumps(word), flush=True)


def _listen(over: Callable[[], None], stop: Callable[[], None]) -> None:
    """Hear what the run says; that it says no more means nothing, for it may close what it did not open."""
    while words := os.read(0, 1000).split():
        if b"over" in words:
            over()
        if b"stop" in words:
            stop()
    if os.name != "posix":  # there nothing else tells that the run is gone
        stop()


def _alive(process: int) -> bool:
    if os.name != "posix":  # there the closed pipe tells
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return not _is_zombie(process)


def _is_zombie(process: int) -> bool:
    """Whether it has ended and only waits for whoever started it to notice."""
    with suppress(OSError), open(f"/proc/{process}/stat", "rb") as file:  # its second word may hold anything
        return file.read().rpartition(b")")[2].split()[:1] == [b"Z"]
    return False
