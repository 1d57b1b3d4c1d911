"""`gradledger run --live`: a run that is recorded because somebody wants to watch it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import gradledger
from gradledger.cli.usage import UsageError
from gradledger.live.tail import identity
from gradledger.serving.errors import ServingError, require_extra

_CODE = (
    "import sys; sys.path.pop(0); sys.path.append({root!r}); "
    "from gradledger.cli.live_process import main; sys.exit(main(sys.argv[1]))"
)


@contextmanager
def shown_live(args: argparse.Namespace, save: str | None, name: str, beside: str) -> Iterator[str]:
    """Serve the page from another process while the context lasts; gives where the recording goes.

    Whatever happens to the page, the run goes on; whatever happens to the run, the page ends after it.
    """
    try:
        require_extra()
    except ServingError as error:
        raise UsageError(str(error)) from error
    folder = None
    if save is None:
        folder = tempfile.mkdtemp(prefix="gradledger-live-")
        save = os.path.join(folder, "run.jsonl")
    attached = _attached()
    page = _Page(args, save, name, beside, folder)
    owner = os.getpid()
    try:
        print(f"gradledger run: the run is shown at {page.url}", file=sys.stderr, flush=True)
        yield save
        if os.getpid() == owner and attached:
            page.hold()
    finally:
        # A forked child of the program comes by here as well.
        if os.getpid() == owner:
            page.end()


def _attached() -> bool:
    """Whether somebody sits before a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


class _Page:
    """The process that serves, seen from the run."""

    def __init__(
        self, args: argparse.Namespace, save: str, name: str, beside: str, folder: str | None
    ) -> None:
        told = {
            "recording": save,
            "known": identity(save),  # the page of this run must not begin with the one before
            "name": name,
            "folder": folder,
            "port": args.port,
            "run": os.getpid(),
            "beside": beside,
            "wishes": {"select": args.select, "ignore": args.ignore, "baseline": args.baseline},
        }
        root = os.path.dirname(os.path.dirname(os.path.abspath(gradledger.__file__)))
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CODE.format(root=root), json.dumps(told)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=os.name == "posix",  # Ctrl-C is meant for the run
        )
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline() or "{}")
        if os.name == "posix":
            self._process.wait()  # it has left the family
        if "url" not in answer:
            self.end()
            raise UsageError(answer.get("error", "the live page did not start"))
        self.url: str = answer["url"]

    def hold(self) -> None:
        """Keep the page until Ctrl-C, or until its process is gone."""
        self._tell("over")
        with suppress(KeyboardInterrupt, ValueError, OSError):
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, signal.default_int_handler)  # the program may have changed it
            print(f"gradledger run: the page stays at {self.url} until Ctrl-C", file=sys.stderr, flush=True)
            assert self._process.stdout is not None
            self._process.stdout.read()

    def end(self) -> None:
        """Let the page go."""
        self._tell("over")
        self._tell("stop")
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError, ValueError):
                if pipe is not None:
                    pipe.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _tell(self, word: str) -> None:
        with suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(f"{word}\n".encode())
            self._process.stdin.flush()
