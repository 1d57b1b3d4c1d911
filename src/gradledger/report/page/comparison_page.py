"""Right against wrong as one HTML file: a section with curves for each mistake, and what all came to."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger._version import __version__
from gradledger.report.comparison_text import Comparison, chosen_steps, late, mean
from gradledger.report.page.assets import asset, digest, filled
from gradledger.report.page.line_plot import line_plot
from gradledger.report.page.safe import text
from gradledger.report.plot import Line, number


def comparison_page(comparisons: Sequence[Comparison]) -> str:
    """The whole file; it runs no script."""
    style = asset("page.css")
    policy = f"default-src 'none'; style-src '{digest(style)}'; base-uri 'none'; form-action 'none'"
    return filled(
        "comparison.html",
        {
            "policy": text(policy),
            "style": style,
            "version": text(__version__),
            "summary": _all(comparisons),
            "sections": "".join(_one(each, at) for at, each in enumerate(comparisons, 1)),
        },
    )


def _one(each: Comparison, at: int) -> str:
    steps = range(1, len(each.distances) + 1)
    plots = (
        ("Gradient norm", (Line("right", steps, each.right_norms), Line("wrong", steps, each.wrong_norms))),
        ("Loss", (Line("right", steps, each.right_losses), Line("wrong", steps, each.wrong_losses))),
        ("Distance between the weights", (Line("distance", steps, each.distances),)),
    )
    heads = ("step", "norm, wrong", "right", "loss, wrong", "right", "distance")
    rows = [
        (
            str(step + 1),
            *map(number, (each.wrong_norms[step], each.right_norms[step])),
            *map(number, (each.wrong_losses[step], each.right_losses[step], each.distances[step])),
        )
        for step in chosen_steps(len(each.distances))
    ]
    return (
        f'<section aria-labelledby="mistake-{at}"><div class="head"><h2 id="mistake-{at}">'
        f'{text(each.mistake.capitalize())}</h2><p class="lead">{text(each.meaning)}.</p></div>'
        f'<div class="plots three">{"".join(line_plot(title, lines, "step") for title, lines in plots)}</div>'
        f"{_table('The first steps, and then ever fewer', heads, rows)}</section>"
    )


def _all(comparisons: Sequence[Comparison]) -> str:
    heads = ("mistake", "gradient norm", "right", "loss at the end", "right", "distance")
    rows = [
        (
            each.mistake,
            *map(number, (mean(each.wrong_norms), mean(each.right_norms))),
            *map(number, (late(each.wrong_losses), late(each.right_losses))),
            f"{each.distances[-1] / each.size:.0%}",
        )
        for each in comparisons
    ]
    caption = (
        "What each mistake came to: the norm is the mean of all steps, the loss that of the last tenth, the "
        "distance that between the weights as a share of the right ones' norm"
    )
    return _table(caption, heads, rows)


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{text(word)}</th>' for word in heads)
    body = "".join(f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="layers"><div class="scroller" tabindex="0" role="region" aria-label="{text(caption)}">'
        f"<table><caption>{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        "</table></div></div>"
    )
