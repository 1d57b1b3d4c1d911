"""`gradledger learn --web`: serves the course and the playground to this machine's browser until Ctrl-C."""

from __future__ import annotations

import sys
import webbrowser

from gradledger.lessons.progress.store import Store, usual_folder
from gradledger.lessons.refusal import Refusal
from gradledger.report.plain import harmless
from gradledger.serving.errors import ServingError, require_extra

BODY_LIMIT = 16 << 10
"""Bytes in a request; a set-up has a few hundred."""


def serve(
    port: int = 0,
    *,
    open_browser: bool = True,
    page: str = "learn",
) -> int:
    """Serve; `page` is what the browser opens, such as playground?loop=…; the result is the exit code."""
    try:
        require_extra()
        from gradledger.lessons.playground.app import app
        from gradledger.serving.server import LoopbackServer

        store = Store(usual_folder(), lambda note: print(f"note: {harmless(note)}", file=sys.stderr))
        with LoopbackServer(app(store), port=port, body_limit=BODY_LIMIT) as server:
            url = server.url + page
            print(f"The course and the playground: {url}")
            print("Only this machine can open it. Ctrl-C ends it.", flush=True)
            if open_browser:
                webbrowser.open(url)
            server.wait()
    except ServingError as error:
        raise Refusal(str(error)) from error
    return 0
