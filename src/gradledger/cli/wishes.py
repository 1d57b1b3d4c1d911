"""What the user wants to hear: the command line and the configuration, joined before anything starts."""

from __future__ import annotations

import argparse

from gradledger.audit.baseline import Baseline, BaselineError, read_baseline
from gradledger.audit.config import Config, ConfigError, load_config
from gradledger.audit.select import Selection, selection
from gradledger.audit.selector import UnknownRuleError
from gradledger.cli.usage import UsageError
from gradledger.ledger.record import dataclass
from gradledger.report.style import StreamFacts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Wishes:
    """Rules, files and known findings."""

    config: Config
    selection: Selection
    baseline: Baseline | None
    new_baseline: Path | None


def wishes(args: argparse.Namespace, folder: str | Path, facts: StreamFacts) -> Wishes:
    """Read configuration and baseline, first for the working directory, then for the folder."""
    here = facts.cwd
    select, ignore = _words("--select", args), _words("--ignore", args)
    try:
        config = load_config(here) or load_config(folder) or Config()
        chosen = selection(config, here, select, ignore)
        new_baseline = None if args.write_baseline is None else absolute(args.write_baseline)
        known = absolute(args.baseline) if args.baseline is not None else config.baseline
        baseline = None if known is None or new_baseline is not None else read_baseline(known)
    except (ConfigError, BaselineError, UnknownRuleError) as error:
        raise UsageError(facts.prose(str(error))) from error
    return Wishes(config, chosen, baseline, new_baseline)


def absolute(name: str) -> Path:
    """The path of a file that was named on the command line."""
    from pathlib import Path  # most runs name no file to write or read, and it is slow to load

    return Path(name).absolute()


def _words(option: str, args: argparse.Namespace) -> list[str]:
    given: list[str] | None = getattr(args, option.removeprefix("--"))
    words = [word.strip() for text in given or [] for word in text.split(",") if word.strip()]
    if given and not words:
        raise UsageError(f"{option} names no rule")
    return words
