"""Which source files may be shown because a recording names them: it may come from somebody else."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Declare where else they may lie."""
    parser.add_argument(
        "--sources",
        metavar="FOLDER",
        action="append",
        default=[],
        help="show lines of files in this folder too, not only in this one and the recording's",
    )


@contextmanager
def confined(args: argparse.Namespace, *recordings: str) -> Iterator[None]:
    """Of the files that the recordings name, only those in the given folders are read."""
    from gradledger.audit.reach import Confined
    from gradledger.audit.source import forget
    from gradledger.report.style import working_directory

    beside = [os.path.dirname(os.path.abspath(path)) for path in recordings]
    forget()
    try:
        with Confined(working_directory(), *beside, *args.sources):
            yield
    finally:
        forget()
