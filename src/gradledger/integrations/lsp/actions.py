"""What the editor offers at a place: repairs, all of them at once, and to allow a finding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from lsprotocol import types

from gradledger.integrations.lsp.analysis import Analysis, Surroundings, analyse
from gradledger.integrations.lsp.diagnostics import Address, Diagnoser
from gradledger.integrations.lsp.measured import Measured
from gradledger.integrations.lsp.source import Source
from gradledger.ledger.record import dataclass
from gradledger.repair.text_lines import split_lines
from gradledger.rules.finding import Certainty, Edit, Finding

FIX_ALL = "source.fixAll.gradledger"
KINDS: tuple[types.CodeActionKind | str, ...] = (types.CodeActionKind.QuickFix, FIX_ALL)

_ROUNDS = 50
"""A repair may uncover another mistake; so many times that is believed."""
_ALLOWED = re.compile(r"#\s*gradledger\s*:\s*allow\s*\[[^\]#]*(?=\])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything that decides what is offered, apart from the program."""

    around: Surroundings
    encoding: str
    address: Address
    versioned: bool
    """Whether the client understands edits of a certain version of a text."""

    def actions(self, analysis: Analysis, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The actions for a range of one text, as far as the client asks for their kinds."""
        found: list[types.CodeAction] = []
        if _asked(types.CodeActionKind.QuickFix.value, params.context):
            found += self._quick(analysis, params)
        # The light bulb asks at every move of the cursor and shows no such action.
        automatic = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
        if _asked(FIX_ALL, params.context) and not (automatic and params.context.only is None):
            found += self._all(analysis)
        return found

    def _quick(self, analysis: Analysis, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        diagnoser = Diagnoser(analysis, self.encoding, self.address)
        source = analysis.source
        here: list[tuple[Finding, types.Diagnostic]] = []
        for finding in analysis.findings:
            diagnostic = diagnoser.of(finding)
            same_text = diagnoser.place(finding.site)[0] == params.text_document.uri
            if finding.site.path == source.path and same_text and _meet(diagnostic.range, params.range):
                here.append((finding, diagnostic))
        for finding, diagnostic in here:
            if finding.fix is not None:
                yield types.CodeAction(
                    f"{finding.code}: {finding.fix.description}",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    is_preferred=finding.certainty is Certainty.CERTAIN,
                    edit=self._edit(source, source.after(finding.fix.edits)),
                )
        for finding, diagnostic in here:
            after = self._allowing(analysis, finding)
            if after is not None:
                yield types.CodeAction(
                    f"{finding.code}: allow {finding.name} here",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    edit=self._edit(source, after),
                )

    def _all(self, analysis: Analysis) -> Iterator[types.CodeAction]:
        before = now = analysis.source
        for _ in range(_ROUNDS):
            able = next(filter(_repairable, analysis.findings), None)
            if able is None or able.fix is None:
                break
            now = now.after(able.fix.edits)
            analysis = analyse(now, self.around, repairs=True)
        if now != before:
            yield types.CodeAction("Fix all gradledger problems", kind=FIX_ALL, edit=self._edit(before, now))

    def _allowing(self, analysis: Analysis, finding: Finding) -> Source | None:
        """The program with a comment that allows the finding, once it is seen to do so."""
        source, site = analysis.source, finding.site
        others = _told(other for other in analysis.findings if other is not finding)
        for line in dict.fromkeys((site.line, site.end_line or site.line)):
            after = source.after([_comment(source, finding, line)])
            again = analyse(after, self.around)
            # Inside a string it is no comment; after a backslash it is a mistake.
            if again.problem is None and _told(again.findings) <= others:
                return after
        return None

    def _edit(self, before: Source, after: Source) -> types.WorkspaceEdit:
        changed = [
            (old, text_edits(old.text, new.text, self.encoding))
            for old, new in zip(before.parts, after.parts, strict=True)
            if old.text != new.text
        ]
        if not self.versioned:
            return types.WorkspaceEdit(changes={part.uri: edits for part, edits in changed})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(part.uri, part.version), list(edits)
                )
                for part, edits in changed
            ]
        )


def text_edits(before: str, after: str, encoding: str) -> list[types.TextEdit]:
    """The changed lines, as edits of the text before."""
    old, new = split_lines(before), split_lines(after)
    measured = Measured(before, encoding)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    # Only what lies between is compared: in a long file that is a few lines.
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    return [
        types.TextEdit(
            types.Range(measured.position(head + first + 1, 1), measured.position(head + last + 1, 1)),
            "".join(new[head + start : head + end]),
        )
        for kind, first, last, start, end in matcher.get_opcodes()
        if kind != "equal"
    ]


def _common(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


def _comment(source: Source, finding: Finding, line: int) -> Edit:
    """What to write at a line's end, or into the comment of this kind that stands there."""
    text = Measured(source.part(finding.site.cell).text, "utf-32").line(line)
    there = _ALLOWED.search(text)
    if there is not None:
        place = (line, there.end() + 1)
        return Edit(source.path, place, place, f", {finding.name}", finding.site.cell)
    start, end = (line, len(text.rstrip()) + 1), (line, len(text) + 1)
    return Edit(source.path, start, end, f"  # gradledger: allow[{finding.name}]", finding.site.cell)


def _told(findings: Iterable[Finding]) -> set[tuple[object, ...]]:
    return {(f.code, f.certainty, f.site.path, f.site.cell, f.site.line) for f in findings}


def _repairable(finding: Finding) -> bool:
    return finding.fix is not None and finding.certainty is Certainty.CERTAIN


def _asked(kind: str, context: types.CodeActionContext) -> bool:
    """Whether the client wants actions of this kind; it may name a more general one."""
    if context.only is None:
        return True
    # Those that the protocol knows come as members of an enumeration.
    wanted = [only.value if isinstance(only, types.CodeActionKind) else only for only in context.only]
    return any(f"{kind}.".startswith(f"{only}.") for only in wanted)


def _meet(one: types.Range, other: types.Range) -> bool:
    return one.start.line <= other.end.line and other.start.line <= one.end.line
