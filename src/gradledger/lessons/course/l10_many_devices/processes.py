"""Two real processes joined by gloo, kept for a short while between exhibits and then ended."""

import atexit
import inspect
import json
import subprocess
import sys
import tempfile
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIMIT = 90.0
"""Seconds until two processes that do not answer are ended."""
IDLE = 20.0
"""Seconds after which two processes without work are ended."""


class Pair:
    """Rank 0 and rank 1."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gradledger-ranks-", ignore_cleanup_errors=True)
        start = [sys.executable, str(Path(__file__).with_name("rank.py"))]
        store = str(Path(self.folder.name) / "store")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.ranks = [subprocess.Popen([*start, str(rank), store], **pipes) for rank in range(2)]

    def run(self, source, name):
        """What the function returned on each rank."""
        with ThreadPoolExecutor(2) as readers:
            for process in self.ranks:
                process.stdin.write(json.dumps({"source": source, "name": name}) + "\n")
                process.stdin.flush()
            waiting = [readers.submit(process.stdout.readline) for process in self.ranks]
            try:
                answers = [json.loads(one.result(LIMIT) or "null") for one in waiting]
            except TimeoutError:
                answers = [None, None]
            if None in answers or any("fault" in answer for answer in answers):
                self.end()
        if None in answers:
            raise RuntimeError("the two processes of this lesson did not answer; gloo may be blocked here")
        for answer in answers:
            if "fault" in answer:
                raise RuntimeError(answer["fault"])
        return [answer["result"] for answer in answers]

    def end(self):
        """Close their input, wait a moment, and end by force what is left."""
        for process in self.ranks:
            process.stdin.close()
        for process in self.ranks:
            _wait_for(process)
            process.stdout.close()
        self.folder.cleanup()


def _wait_for(process):
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


_lock = threading.RLock()
_pair = None
_timer = None


def on_two_ranks(function):
    """Run a function's text in both processes, as `function(rank)`, and return both results."""
    global _pair, _timer
    with _lock:
        if _timer is not None:
            _timer.cancel()
        if _pair is None:
            _pair = Pair()
        try:
            results = _pair.run(textwrap.dedent(inspect.getsource(function)), function.__name__)
        except BaseException:
            _pair = None
            raise
        _timer = threading.Timer(IDLE, end)
        _timer.daemon = True
        _timer.start()
        return results


@atexit.register
def end():
    """End the two processes, if there are any."""
    global _pair
    with _lock:
        if _pair is not None:
            _pair.end()
            _pair = None
