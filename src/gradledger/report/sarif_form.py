"""The answer in SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from urllib.parse import quote

from gradledger._version import __version__
from gradledger.audit.answer import Answer
from gradledger.audit.place import shown_path, slashed
from gradledger.audit.source import line_in_file, source_line
from gradledger.ledger.site import Site
from gradledger.report.sarif_rules import descriptor, level
from gradledger.report.style import StreamFacts
from gradledger.rules.catalogue import catalogue
from gradledger.rules.finding import Certainty, Edit, Finding, Fix

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"

Json = dict[str, object]


def render(answer: Answer, facts: StreamFacts) -> str:
    """One log with one run, in ASCII, so that every stream can take it."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(answer, facts.cwd)]}
    return json.dumps(log, indent=2) + "\n"


def _run(answer: Answer, cwd: str) -> Json:
    rules = catalogue()
    places = {rule.code: number for number, rule in enumerate(rules)}
    driver: Json = {
        "name": "gradledger",
        "semanticVersion": __version__,
        "rules": [descriptor(rule) for rule in rules],
    }
    seen: Counter[str] = Counter()
    return {
        "tool": {"driver": driver},
        "invocations": [_invocation(answer)],
        "originalUriBaseIds": {ROOT: {"description": {"text": "the folder that gradledger was started in"}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, places, seen, cwd) for finding in answer.findings],
        "properties": {"source": answer.source},
    }


def _invocation(answer: Answer) -> Json:
    notes: list[Json] = [
        {"level": "error" if note in answer.unread else "warning", "message": {"text": note}}
        for note in answer.notes
    ]
    # findings are a success of the tool; what it could not read is not
    return {"executionSuccessful": not answer.unread, "toolExecutionNotifications": notes}


def _result(finding: Finding, places: dict[str, int], seen: Counter[str], cwd: str) -> Json:
    possible = finding.certainty is Certainty.POSSIBLE
    text = " ".join(part for part in (f"{finding.message}.", *finding.detail.splitlines()) if part)
    result: Json = {
        "ruleId": finding.code,
        "level": "note" if possible else level(finding.severity),
        "rank": 30.0 if possible else 100.0,
        "message": {"text": f"{text} Fix: {finding.remedy}" if finding.remedy else text},
        "locations": [_location(finding.site, cwd)],
        "partialFingerprints": {"gradledger/v1": _fingerprint(finding, seen, cwd)},
        "properties": {"certainty": finding.certainty.value, "severity": finding.severity.value},
    }
    if finding.code in places:
        result["ruleIndex"] = places[finding.code]
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, **_location(related.site, cwd), "message": {"text": related.message}}
            for number, related in enumerate(finding.related, 1)
        ]
    # the edits of a notebook are edits of its cells, and the file is JSON
    if finding.fix is not None and finding.fix.edits and all(e.cell is None for e in finding.fix.edits):
        result["fixes"] = [_fix(finding.fix, cwd)]
    return result


def _location(site: Site, cwd: str) -> Json:
    region: Json = {"startLine": max(1, line_in_file(site.path, site.line, site.cell))}
    if site.cell is None:
        region["startColumn"] = max(1, site.column)
        if (site.end_line, site.end_column) > (site.line, site.column):
            region |= {"endLine": site.end_line, "endColumn": max(1, site.end_column)}
    place: Json = {"physicalLocation": {"artifactLocation": _artifact(site.path, cwd), "region": region}}
    if site.cell is not None:
        name = f"cell {site.cell}, line {site.line}"
        place["logicalLocations"] = [{"name": name, "kind": "member"}]
    elif site.function != "<module>":
        place["logicalLocations"] = [{"name": site.function, "kind": "function"}]
    return place


def _artifact(path: str, cwd: str) -> Json:
    shown = slashed(shown_path(path, cwd))
    uri = quote(shown, safe="/", errors="replace")
    if shown.startswith("/"):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": ROOT}


def _fix(fix: Fix, cwd: str) -> Json:
    by_path: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        by_path.setdefault(edit.path, []).append(edit)
    changes: list[Json] = [
        {"artifactLocation": _artifact(path, cwd), "replacements": [_replacement(edit) for edit in edits]}
        for path, edits in by_path.items()
    ]
    return {"description": {"text": fix.description}, "artifactChanges": changes}


def _replacement(edit: Edit) -> Json:
    (line, column), (end_line, end_column) = edit.start, edit.end
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _fingerprint(finding: Finding, seen: Counter[str], cwd: str) -> str:
    """The same for the same line, also when lines above it come and go; equal lines are counted."""
    site = finding.site
    text = source_line(site.path, site.line, site.cell).strip()
    parts = (finding.code, slashed(shown_path(site.path, cwd)), text)
    digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"
