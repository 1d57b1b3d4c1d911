"""From everything the rules say to what the user wants to hear."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.audit.answer import Answer
from gradledger.audit.baseline import Baseline, without_known
from gradledger.audit.config import Config
from gradledger.audit.globs import matches
from gradledger.audit.selector import exact, expand
from gradledger.audit.suppress import without_allowed
from gradledger.ledger.record import dataclass, replace
from gradledger.rules.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rules are reported in which files."""

    root: str | Path
    """The folder that patterns are relative to."""
    select: frozenset[str] | None
    """None for all, which saves loading them."""
    ignore: frozenset[str]
    per_file_ignores: tuple[tuple[str, frozenset[str]], ...] = ()
    exclude: tuple[str, ...] = ()

    def wants(self, finding: Finding) -> bool:
        """Whether the user asked for this rule at this place."""
        code, path = finding.code, finding.site.path
        if (self.select is not None and code not in self.select) or code in self.ignore:
            return False
        if any(matches(glob, path, str(self.root)) for glob in self.exclude):
            return False
        return not any(
            code in codes and matches(glob, path, str(self.root)) for glob, codes in self.per_file_ignores
        )


def selection(
    config: Config, cwd: str | Path, select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> Selection:
    """Join the configuration and the command line.

    The command line's `select` replaces the configuration's, both `ignore` lists count, and a rule that
    the command line selects by its own code or name is reported even if the configuration ignores it.
    Raises `UnknownRuleError`.
    """
    return Selection(
        root=config.root or cwd,
        select=expand(select) if select else config.select,
        ignore=(config.ignore - exact(select)) | expand(ignore),
        per_file_ignores=config.per_file_ignores,
        exclude=config.exclude,
    )


def selected(answer: Answer, wishes: Selection, cwd: str) -> Answer:
    """The answer as far as rules, files and the program's own comments let it through."""
    wanted = tuple(finding for finding in answer.findings if wishes.wants(finding))
    return without_allowed(replace(answer, findings=wanted), cwd)


def final(answer: Answer, wishes: Selection, cwd: str, baseline: Baseline | None = None) -> Answer:
    """The answer that is reported: selected, and without what the baseline knows."""
    chosen = selected(answer, wishes, cwd)
    return chosen if baseline is None else without_known(chosen, baseline)
