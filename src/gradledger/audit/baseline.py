"""Findings that were there before: known, counted, and not reported again.

A finding is recognised by its code, its file and the text of its line, so moving lines breaks nothing.
"""

from __future__ import annotations

import os
from collections import Counter

from gradledger.audit.answer import Answer
from gradledger.audit.atomic import write_atomically
from gradledger.audit.place import slashed
from gradledger.audit.source import source_line
from gradledger.ledger.record import dataclass, replace
from gradledger.rules.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = 1

Key = tuple[str, str, str]
"""Code, path relative to the baseline's folder, stripped text of the line."""


class BaselineError(ValueError):
    """A baseline file that cannot be used."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known findings of one baseline file and how often each is there."""

    path: Path
    known: tuple[tuple[Key, int], ...]

    @property
    def size(self) -> int:
        """How many findings are known."""
        return sum(count for _, count in self.known)


def baseline_of(answer: Answer, path: Path) -> Baseline:
    """The baseline that would make this answer clean."""
    counted = Counter(_key(finding, path) for finding in answer.findings)
    return Baseline(path, tuple(sorted(counted.items())))


def write_baseline(baseline: Baseline) -> None:
    """Write it, sorted, so that a version control system shows honest differences."""
    import json  # here and below: most runs have no baseline

    findings = [
        {"code": code, "path": path, "text": text, "count": count}
        for (code, path, text), count in baseline.known
    ]
    whole = {"schema": SCHEMA, "tool": "gradledger", "findings": findings}
    write_atomically(baseline.path, json.dumps(whole, indent=2) + "\n")


def read_baseline(path: Path) -> Baseline:
    """Read it strictly: a damaged baseline must not silently hide or show everything."""
    import json

    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise BaselineError(f"baseline {path}: is no file")
        whole = json.loads(path.read_text(encoding="utf-8"))
    except BaselineError:
        raise
    except FileNotFoundError as error:
        raise BaselineError(f"baseline {path}: does not exist; --write-baseline FILE writes one") from error
    except OSError as error:
        raise BaselineError(f"baseline {path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"baseline {path}: is not valid JSON") from error
    if not isinstance(whole, dict) or not isinstance(whole.get("findings"), list):
        raise BaselineError(f"baseline {path}: is not a baseline of gradledger")
    if whole.get("schema") != SCHEMA:
        raise BaselineError(
            f"baseline {path}: has schema {whole.get('schema')!r}, this version reads {SCHEMA}"
        )
    known: Counter[Key] = Counter()
    for number, item in enumerate(whole["findings"], 1):
        match item:
            case {"code": str(code), "path": str(place), "text": str(text), "count": int(count)} if count > 0:
                known[code, place, text] += count
            case _:
                raise BaselineError(f"baseline {path}: finding {number} cannot be understood")
    return Baseline(path, tuple(sorted(known.items())))


def without_known(answer: Answer, baseline: Baseline) -> Answer:
    """The answer without the known findings, and a note that says how many those were."""
    left = Counter(dict(baseline.known))
    kept: list[Finding] = []
    for finding in answer.findings:
        key = _key(finding, baseline.path)
        if left[key] > 0:
            left[key] -= 1
        else:
            kept.append(finding)
    hidden = len(answer.findings) - len(kept)
    if not hidden:
        return answer
    what = "1 finding is" if hidden == 1 else f"{hidden} findings are"
    note = f"{what} known from the baseline {baseline.path.name} and not shown"
    return replace(answer, findings=tuple(kept), notes=(*answer.notes, note))


def _key(finding: Finding, baseline: Path) -> Key:
    site = finding.site
    path = site.path
    if not path.startswith("<"):
        try:
            path = os.path.relpath(path, baseline.absolute().parent)
        except ValueError:  # another drive
            path = os.path.join(os.getcwd(), path)
    return finding.code, slashed(path), source_line(site.path, site.line, site.cell).strip()
