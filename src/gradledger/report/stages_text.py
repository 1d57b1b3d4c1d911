"""The stages of a step for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradledger.audit.place import shown_place
from gradledger.audit.source import source_lines
from gradledger.ledger.details import TensorSeen
from gradledger.ledger.site import Site
from gradledger.report.cells import cells, cut
from gradledger.report.plot import number as shown
from gradledger.report.style import StreamFacts
from gradledger.story.told import Stage

SHOWN_MICRO_BATCHES = 2
"""The first so many micro-batches of a window are shown, and the last one."""


def stages_text(stages: Sequence[Stage], facts: StreamFacts) -> list[str]:
    """Each stage with its line, what goes in and out, and the gradients on both sides."""
    last = max((stage.micro for stage in stages if stage.kind == "backward"), default=1)
    lines: list[str] = []
    shown = 0
    left_out = False
    for count, stage in enumerate(stages, 1):
        if SHOWN_MICRO_BATCHES < stage.micro < last:
            if not left_out:
                first = SHOWN_MICRO_BATCHES + 1
                which = (
                    f"micro-batch {first}" if first == last - 1 else f"micro-batches {first} to {last - 1}"
                )
                lines += ["", f"  {facts.gap}  {which} of the window likewise"]
            left_out = True
            continue
        shown += 1
        lines += ["", *_stage(stage, count, last, facts)]
    return lines


def _stage(stage: Stage, count: int, window: int, facts: StreamFacts) -> Iterator[str]:
    title = stage.title
    if window > 1 and stage.kind in ("data", "backward"):
        title += f" (micro-batch {stage.micro} of {window})"
    head = f"{count:>3}  {facts.paint(title, 'code')}"
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
            yield from _tensor("" if index else word, tensor, facts)
    told = _facts(stage)
    if told:
        yield cut(f"       {'out' if stage.kind == 'loss' else '':<4}{told}", facts.width, facts.ellipsis)
    yield from _gradients(stage, facts)


def _gradients(stage: Stage, facts: StreamFacts) -> Iterator[str]:
    before, after = facts.plain(stage.before.text), facts.plain(stage.after.text)
    label = "       gradients  "
    arrow = "→" if facts.unicode else "->"
    painted = facts.paint(after, "error" if stage.after.stale and stage.after.micro_batches else "good")
    if before == after:
        yield f"{label}{after}"
    elif cells(f"{label}{before} {arrow} {after}") <= facts.width:
        yield f"{label}{before} {arrow} {painted}"
    else:
        yield f"{label}{before}"
        yield f"{' ' * (len(label) - len(arrow) - 1)}{arrow} {painted}"


def _tensor(word: str, tensor: TensorSeen, facts: StreamFacts) -> Iterator[str]:
    name = f"{facts.plain(tensor.name)} " if tensor.name else ""
    text = f"       {word:<4}{name}{facts.plain(shape(tensor.shape))} {tensor.dtype}"
    values = " ".join(shown(value) for value in tensor.values)
    size = 1
    for length in tensor.shape:
        size *= length
    if values:
        text = f"{text:<40}  {values}{' ' + facts.ellipsis if size > len(tensor.values) else ''}"
    yield cut(text, facts.width, facts.ellipsis)


def shape(lengths: Sequence[int]) -> str:
    """A shape as mathematics writes it; a single number is a scalar."""
    return "×".join(map(str, lengths)) if lengths else "scalar"


def _facts(stage: Stage) -> str:
    facts = stage.facts
    number = _precise if stage.kind in ("step", "schedule") else shown
    value = {name: number(fact) if isinstance(fact, (int, float)) else fact for name, fact in facts.items()}
    match stage.kind:
        case "loss":
            by = f" by {value['function']}" if "function" in value else ""
            return f"{value['loss']}{by}"
        case "forward":
            return f"model: {value['model']}"
        case "data":
            return f"no loader: {value['source']}" if "source" in value else ""
        case "backward":
            parts = [f"starts from {value['starts from']}"] if "starts from" in value else []
            parts += [f"gradients now take {facts['bytes']:,} bytes"] if facts.get("bytes") else []
            return "; ".join(parts)
        case "zero":
            freed = "; their memory is given back" if facts.get("bytes") == 0 else ""
            return f"set to {value['to']}{freed}"
        case "clip" | "measure":
            return f"norm {value['norm']} becomes {value['becomes']}" if len(value) == 2 else ""
        case "step":
            told = [f"{name} {value[key]}" for key, name in _OF_STEP if key in value]
            return ", ".join(told)
        case "schedule" | "update":
            now = value.get("rate", value.get("scale", ""))
            name = "learning rate" if stage.kind == "schedule" else "scale"
            if not now:
                return ""
            return f"{name} {value['was']} becomes {now}" if "was" in value else f"{name} stays {now}"
        case "scale" | "unscale":
            word = "times" if stage.kind == "scale" else "divided by"
            return f"{word} {value['scale']}" if "scale" in value else ""
        case _:
            return ""


def _precise(value: float) -> str:
    return f"{value:.4g}"


_OF_STEP = ("norm", "gradient norm"), ("rate", "learning rate")
