"""The playground: blocks on the left, what a real run of them shows on the right."""

from __future__ import annotations

from importlib.resources import files

from gradledger.lessons.playground.blocks import BLOCKS, LANES
from gradledger.lessons.playground.link import query
from gradledger.lessons.playground.pages.frame import Page
from gradledger.lessons.playground.presets import PRESETS, Preset
from gradledger.lessons.playground.program import shown_code
from gradledger.lessons.playground.reference import right
from gradledger.lessons.playground.setup import CHOICES, MOST_ALIKE, MOST_BLOCKS, RANGES, Setup, written
from gradledger.report.page.safe import text


def playground_page(setup: Setup, trouble: str, root: str) -> Page:
    """The page, which begins with this set-up; `trouble` says why the link's own could not be used."""
    presets = "".join(_preset(preset, root) for preset in PRESETS)
    template = (files("gradledger.lessons.playground.assets") / "playground.html").read_text(encoding="utf-8")
    note = f"The link could not be used: {trouble}. This is the right loop instead." if trouble else ""
    body = template.replace("{{presets}}", presets).replace("{{trouble}}", text(note))
    return Page(
        "Playground",
        "playground",
        body,
        ("playground.js",),
        ("page.css", "course.css", "playground.css"),
        data=_data(setup),
        kind="playground",
    )


def _preset(preset: Preset, root: str) -> str:
    codes = "".join(f'<span class="code-tag">{text(code)}</span>' for code in preset.codes)
    return (
        f'<li><a href="{text(root)}/playground?{text(query(preset.setup))}" '
        f'data-preset="{text(preset.name)}" title="{text(preset.about)}">{text(preset.title)}{codes}</a></li>'
    )


def _data(setup: Setup) -> dict[str, object]:
    return {
        "setup": written(setup),
        "blocks": [
            {
                "name": block.name,
                "label": block.label,
                "about": block.about,
                "tone": block.tone,
                "world": block.world,
                "code": shown_code(block.name),
            }
            for block in BLOCKS
        ],
        "lanes": [
            {"name": lane.name, "title": lane.title, "about": lane.about, "window": lane.window}
            for lane in LANES
        ],
        "presets": {preset.name: written(preset.setup) for preset in PRESETS},
        "worlds": {
            name: written(right(beginning))
            for name, beginning in (("pair", _PAIR), ("amp", _AMP), ("single", PRESETS[0].setup))
        },
        "ranges": RANGES,
        "choices": CHOICES,
        "most": {"blocks": MOST_BLOCKS, "alike": MOST_ALIKE},
    }


_EMPTY = ((),) * len(LANES)
_PAIR = Setup(_EMPTY, every=1, second=True)
_AMP = Setup(_EMPTY, amp=True)
