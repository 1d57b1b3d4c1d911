"""`learn playground`: the blocks of a training loop on a local web page."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from gradledger.lessons.playground import link
from gradledger.lessons.playground.setup import SetupError
from gradledger.lessons.reading.reader import Reader
from gradledger.lessons.refusal import Refusal, need_torch

TAKES = "[LINK]"
ABOUT = "move the blocks of a training loop, in the browser"
ORDER = 10

SERVER = "gradledger.lessons.playground.serve"


def run(reader: Reader, words: Sequence[str]) -> int:
    """Open the playground, with the set-up of a link if there is one."""
    return served(reader, _page(words))


def served(reader: Reader, page: str) -> int:
    """Hand over to the server of the course and the playground, until it is interrupted."""
    for name in ("starlette", "uvicorn"):
        if find_spec(name) is None:
            raise Refusal(f"the playground needs {name}: pip install 'gradledger[learn]'")
    need_torch()
    try:
        server = import_module(SERVER)
    except ModuleNotFoundError as error:
        if not SERVER.startswith(error.name or "?"):
            raise
        raise Refusal("this gradledger was built without the playground") from error
    return int(server.serve(reader.port, open_browser=reader.browser, page=page))


def _page(words: Sequence[str]) -> str:
    """The page of a link, or of what follows its question mark."""
    if len(words) > 1:
        raise Refusal('the playground takes one link in quotes, as in: learn playground "loop=--fldb-sz-"')
    if not words:
        return "playground"
    try:
        return f"playground?{link.query(link.from_query(words[0].rpartition('?')[2]))}"
    except SetupError as error:
        raise Refusal(f"this is no link of the playground: {error}") from error
