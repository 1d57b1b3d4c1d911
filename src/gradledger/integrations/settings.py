"""What the project's `[tool.gradledger]` lets through, for audits that no command line has started."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gradledger.audit.answer import Answer
from gradledger.audit.baseline import Baseline, read_baseline
from gradledger.audit.config import Config, load_config
from gradledger.audit.select import Selection, final, selection
from gradledger.ledger.record import dataclass, replace
from gradledger.report.style import working_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """The rules, files and known findings of one project."""

    selection: Selection
    baseline: Baseline | None
    cwd: str

    def heard(self, answer: Answer, allowed: frozenset[str] = frozenset()) -> Answer:
        """The answer without what settings, comments, baseline or the caller allow."""
        wishes = (
            replace(self.selection, ignore=self.selection.ignore | allowed) if allowed else self.selection
        )
        return final(answer, wishes, self.cwd, self.baseline)


def read_settings(folder: str | os.PathLike[str] | None = None, allow: Sequence[str] = ()) -> Settings:
    """Read the settings of this folder, or of the working directory; what cannot be used is a ValueError."""
    cwd = working_directory()
    config = load_config(os.fspath(folder) if folder is not None else cwd) or Config()
    known: Path | None = config.baseline
    return Settings(selection(config, cwd, (), allow), None if known is None else read_baseline(known), cwd)
