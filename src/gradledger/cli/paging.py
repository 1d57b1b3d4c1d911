"""From a recording to the page on disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Literal

from gradledger.audit.answer import Answer
from gradledger.audit.atomic import write_atomically
from gradledger.audit.reach import within
from gradledger.cli.progress import progress
from gradledger.cli.repairs import with_repairs
from gradledger.cli.stamp import Stamp, stamp
from gradledger.cli.usage import UsageError
from gradledger.ledger.events import RunEnded
from gradledger.ledger.record import dataclass, replace
from gradledger.ledger.recording import RecordingError
from gradledger.report.page.build import page
from gradledger.report.replay.retelling import Retold, retell, retold


@dataclass(frozen=True, slots=True)
class Page:
    """The page that was asked for beside the report of a run."""

    recording: str
    output: Path
    name: str
    folder: str | None = None
    """Where the recording lies, if it is only for the page."""
    earlier: Stamp | None = None
    """Of a recording that lay there before the run."""

    def write(self, answer: Answer, cwd: str) -> None:
        """Write it; what goes wrong is an OSError."""
        try:
            if stamp(self.recording) not in (None, self.earlier):
                with progress("reading the run", "events") as shown:
                    told = retold(self.recording, cwd, shown.counted)
            else:  # a program that ends before torch is there leaves none
                told = retell([RunEnded(None)], cwd)
        except RecordingError as error:
            raise OSError(str(error)) from error
        finally:
            self.discard()
        write_page(told, with_repairs(answer), self.output, self.name, cwd)

    def discard(self) -> None:
        """Remove what was only for the page; the program may end without coming back to who made it."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def write_page(told: Retold, answer: Answer, output: Path, name: str, cwd: str) -> None:
    """Write it, never half of it."""
    with progress("writing the page"):
        write_atomically(output, page(told, answer, name, cwd))


def write_image(told: Retold, answer: Answer, output: Path, name: str, form: Literal["png", "svg"]) -> None:
    """Write the timeline as a picture, never half of it."""
    from gradledger.report.timeline_image import NoPlotsError, timeline_image

    try:
        with progress("drawing"):
            image = timeline_image(told, answer, name, form)
    except NoPlotsError as error:
        raise UsageError(str(error)) from error
    write_atomically(output, image)


def with_notes(answer: Answer, recording: str) -> Answer:
    """Say so where the source is not what was recorded any more."""
    paths = dict.fromkeys(finding.site.path for finding in answer.findings)
    try:
        written = os.path.getmtime(recording)
    except OSError:
        return answer
    notes = []
    for path in paths:
        if path.startswith("<"):
            continue
        if not within(path):
            notes.append(f"{path} lies elsewhere; --sources FOLDER lets its lines be shown")
            continue
        try:
            if os.path.getmtime(path) > written:
                notes.append(f"{os.path.basename(path)} was changed after this run; lines may have moved")
        except (OSError, ValueError):
            notes.append(f"{path} is not here; its lines cannot be shown")
    return replace(answer, notes=(*answer.notes, *notes))
