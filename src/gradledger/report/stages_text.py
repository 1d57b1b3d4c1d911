"""The stages of a step for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradledger.audit.place import shown_place
from gradledger.audit.source import source_lines
from gradledger.ledger.details import TensorSeen
from gradledger.ledger.site import Site
from gradledger.report.cells import cells, cut, whole_words, wrap
from gradledger.report.plot import number as shown
from gradledger.report.stage_facts import chosen, digits_of, shape, stage_facts, title_of, window_of
from gradledger.report.style import StreamFacts
from gradledger.story.told import Gradients, Stage


def stages_text(stages: Sequence[Stage], facts: StreamFacts) -> list[str]:
    """Each stage with its line, what goes in and out, and the gradients on both sides."""
    lines: list[str] = []
    window = window_of(stages)
    for item in chosen(stages):
        if isinstance(item, str):
            lines += ["", f"  {facts.gap}  {item}"]
        else:
            lines += ["", *_stage(*item, window, facts)]
    return lines


def _stage(count: int, stage: Stage, window: int, facts: StreamFacts) -> Iterator[str]:
    head = f"{count:>3}  {facts.paint(title_of(stage, window), 'code')}"
    place = code = ""
    if stage.path is not None and stage.line is not None:
        place = facts.plain(shown_place(Site(stage.path, stage.line), facts.cwd))
        text = source_lines(stage.path, None)
        code = text[stage.line - 1].strip() if 1 <= stage.line <= len(text) else ""
    yield f"{head}  {facts.paint(place, 'quiet')}".rstrip()
    if code:
        yield "       " + facts.paint(cut(facts.plain(code), facts.width - 7, facts.ellipsis), "related")
    for word, tensors in (("in", stage.takes), ("out", stage.gives)):
        for index, tensor in enumerate(tensors):
            yield from _tensor("" if index else word, tensor, facts, digits_of(stage))
    told = stage_facts(stage)
    if told:
        yield cut(f"       {'out' if stage.kind == 'loss' else '':<4}{told}", facts.width, facts.ellipsis)
    yield from _gradients(stage, facts)


def _gradients(stage: Stage, facts: StreamFacts) -> Iterator[str]:
    before, after = _states(stage.before, facts), _states(stage.after, facts)
    label = "       gradients  "
    arrow = "→" if facts.unicode else "->"
    tone = "error" if stage.after.stale and stage.after.micro_batches else "good"
    if before == after:
        yield from _under(label, after)
    elif len(before + after) == 2 and cells(f"{label}{before[0]} {arrow} {after[0]}") <= facts.width:
        yield f"{label}{before[0]} {arrow} {facts.paint(after[0], tone)}"
    else:
        yield from _under(label, before)
        head = f"{' ' * (len(label) - len(arrow) - 1)}{arrow} "
        yield from _under(head, [facts.paint(line, tone) for line in after])


def _states(gradients: Gradients, facts: StreamFacts) -> list[str]:
    """Each lot of parameters on lines of its own."""
    room = facts.width - 18
    lots = gradients.parts or (gradients,)
    return [line for lot in lots for line in wrap(facts.plain(lot.text), room)]


def _under(label: str, lines: Sequence[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield f"{' ' * len(label) if index else label}{line}"


def _tensor(word: str, tensor: TensorSeen, facts: StreamFacts, digits: int) -> Iterator[str]:
    name = f"{facts.plain(tensor.name)} " if tensor.name else ""
    text = f"       {word:<4}{name}{facts.plain(shape(tensor.shape))} {tensor.dtype}"
    values = [shown(value, digits) for value in tensor.values]
    size = 1
    for length in tensor.shape:
        size *= length
    if values:
        room = facts.width - max(40, cells(text)) - 2
        told = whole_words(values, room - 1 - cells(facts.ellipsis))
        more = size > len(told.split())
        text = f"{text}{' ' * (40 - cells(text))}  {told}{' ' + facts.ellipsis if more else ''}"
    yield cut(text, facts.width, facts.ellipsis)
