"""`gradledger run --report`: a run that is recorded because a page of it is wanted."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradledger.cli.conclude import Conclusion
from gradledger.cli.paging import Page
from gradledger.cli.stamp import stamp
from gradledger.cli.usage import UsageError
from gradledger.ledger.record import replace


@contextmanager
def recorded_for_page(
    conclude: Conclusion, save: str | None, report: str, name: str
) -> Iterator[tuple[Conclusion, str]]:
    """The conclusion that also writes the page, and where the recording goes (away again, if only for it)."""
    output = Path(report).absolute()
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder {output.parent} for the page")
    folder = None
    if save is None:
        folder = tempfile.mkdtemp(prefix="gradledger-page-")
        save = os.path.join(folder, "run.jsonl")
    owner = os.getpid()
    page = Page(save, output, name, folder, stamp(save))
    try:
        yield replace(conclude, page=page), save
    finally:
        # A forked child of the program comes by here as well, and the parent still needs the recording.
        if os.getpid() == owner:
            page.discard()
