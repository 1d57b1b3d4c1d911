"""The story of a run for a person at a terminal."""

from __future__ import annotations

from pathlib import PurePath

from gradledger.report.cells import wrap
from gradledger.report.epochs_text import epochs_text
from gradledger.report.layers_text import layers_text
from gradledger.report.plot import Line, plot
from gradledger.report.stages_text import stages_text
from gradledger.report.style import StreamFacts
from gradledger.report.summary import NOTHING_TRAINED
from gradledger.story.told import Curve, Story


def story_text(story: Story, facts: StreamFacts, *, asked: int | None = None) -> str:
    """Stages, layers, epochs and the loss; `asked` is the step that somebody wanted to see."""
    if not story.passes and not story.steps:
        return f"Nothing to trace: {NOTHING_TRAINED}.\n"
    blocks: list[list[str]] = []
    if asked is not None and asked != story.step:
        made = "1 step" if story.steps == 1 else f"{story.steps} steps"
        instead = "the first is shown instead" if story.step else "there is none to show"
        blocks.append([f"There is no step {asked}: the script made {made}; {instead}."])
    if story.stages:
        whole = f"Step {story.step} of {story.steps}" if story.step else "Before any step"
        blocks.append([_title(f"{whole}, stage by stage", facts), *stages_text(story.stages, facts)])
    if story.layers:
        title = "One sample through the model, layer by layer, and its batch's gradients on the way back"
        blocks.append(
            [*_titles(title, facts), "", *layers_text(story.layers, story.loss, story.scale, facts)]
        )
    if story.epochs:
        title = "Steps, a stretch at a time" if story.by_steps else "Epoch by epoch"
        rows = epochs_text(story, facts)
        if story.observation:
            rows += ["", *(f"  {line}" for line in wrap(story.observation, facts.width - 2))]
        blocks.append([_title(title, facts), "", *rows])
    drawn = plot(_losses(story), facts, below="micro-batch")
    if drawn:
        blocks.append([_title("Loss", facts), "", *drawn])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _losses(story: Story) -> list[Line]:
    """The loss as one line, or each line of the program that gave losses as its own."""
    single = [curve for name, curve in story.curves.items() if name.startswith("loss ")]
    drawn = single or [curve for curve in (story.curves.get("loss"),) if curve is not None]
    return [Line(_name(curve), curve.at, curve.values) for curve in drawn]


def _name(curve: Curve) -> str:
    return "loss" if curve.path is None else f"{PurePath(curve.path).name}:{curve.line}"


def _title(text: str, facts: StreamFacts) -> str:
    return facts.paint(text, "code")


def _titles(text: str, facts: StreamFacts) -> list[str]:
    return [_title(line, facts) for line in wrap(text, facts.width)]
