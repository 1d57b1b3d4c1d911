"""Which stages of a step are shown, and their facts in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gradledger.report.plot import number as shown
from gradledger.story.told import Stage

Likeness = tuple[str, str | None, int | None, int]
SHOWN_MICRO_BATCHES = 2
"""The first so many micro-batches of a window are shown, and the last one."""
SHOWN_ALIKE = 2
"""Of what one line does again and again before a pass, the first so many are shown, and the last one."""


def window_of(stages: Sequence[Stage]) -> int:
    """How many micro-batches the step's window has."""
    return max((stage.micro for stage in stages if stage.kind == "backward"), default=1)


def chosen(stages: Sequence[Stage]) -> Iterator[tuple[int, Stage] | str]:
    """The stages to show with their numbers, and a word for those that are left out."""
    last = window_of(stages)
    alike = Counter(map(_likeness, stages))
    met: Counter[Likeness] = Counter()
    left_out = False
    skipped: Counter[str] = Counter()
    for count, stage in enumerate(stages, 1):
        inside = SHOWN_MICRO_BATCHES < stage.micro < last
        likeness = _likeness(stage)
        met[likeness] += 1
        if not inside and SHOWN_ALIKE < met[likeness] < alike[likeness]:
            skipped[stage.title] += 1
            continue
        if skipped:
            yield f"{_listed(skipped)} likewise"
            skipped.clear()
        if not inside:
            yield count, stage
        elif not left_out:
            left_out = True
            first = SHOWN_MICRO_BATCHES + 1
            which = f"micro-batch {first}" if first == last - 1 else f"micro-batches {first} to {last - 1}"
            yield f"{which} of the window likewise"


def _likeness(stage: Stage) -> Likeness:
    return stage.kind, stage.path, stage.line, stage.micro


def _listed(skipped: Counter[str]) -> str:
    return ", ".join(f"{title} {times} more time{'s' * (times > 1)}" for title, times in skipped.items())


def title_of(stage: Stage, window: int) -> str:
    """What the stage is called; in a window also of which micro-batch it is."""
    inside = window > 1 and stage.kind in ("data", "backward")
    return f"{stage.title} (micro-batch {stage.micro} of {window})" if inside else stage.title


def shape(lengths: Sequence[int]) -> str:
    """A shape as mathematics writes it; a single number is a scalar."""
    return "×".join(map(str, lengths)) if lengths else "scalar"


def digits_of(stage: Stage) -> int:
    """How many digits its values are told with: what a small learning rate changes must be seen."""
    return 5 if stage.kind == "step" else 3


def stage_facts(stage: Stage) -> str:
    """Its numbers as a short text, or none."""
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
