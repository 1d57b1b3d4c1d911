"""The rules as SARIF descriptors."""

from __future__ import annotations

import inspect
from textwrap import dedent

from gradledger.rules.finding import Severity
from gradledger.rules.rule import HEADINGS, Rule

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.PERFORMANCE: "note"}


def level(severity: Severity) -> str:
    """SARIF's word for how bad it is."""
    return _LEVELS[severity]


def descriptor(rule: Rule) -> dict[str, object]:
    """Everything about one rule that a service shows beside its results."""
    lead, sections = _explanation(rule)
    pascal = "".join(word.capitalize() for word in rule.name.split("-"))
    severity = rule.severity.value
    return {
        "id": rule.code,
        "name": pascal,
        "shortDescription": {"text": f"{rule.name}: {rule.summary}"},
        "fullDescription": {"text": lead},
        "help": {"text": _text(rule, sections), "markdown": _markdown(rule, sections)},
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {
            "tags": ["pytorch", "gradients", severity],
            "precision": "very-high",
            "problem.severity": "recommendation" if severity == "performance" else severity,
        },
    }


def _text(rule: Rule, sections: list[tuple[str, str]]) -> str:
    parts = [f"{heading}: {' '.join(body.split())}" for heading, body in sections]
    parts += [f"Wrong:\n{rule.bad.strip()}", f"Right:\n{rule.good.strip()}"]
    return "\n\n".join(parts)


def _markdown(rule: Rule, sections: list[tuple[str, str]]) -> str:
    parts = [f"**{heading}.** {body}" for heading, body in sections]
    examples = (("Wrong", rule.bad), ("Right", rule.good))
    parts += [f"{title}:\n\n```python\n{code.strip()}\n```" for title, code in examples]
    return "\n\n".join([*parts, f"To allow it on one line: `# gradledger: allow[{rule.name}]`"])


def _explanation(rule: Rule) -> tuple[str, list[tuple[str, str]]]:
    """The lead and the sections of the rule's docstring."""
    text = inspect.cleandoc(type(rule).__doc__ or "")
    heading, body = "", list[str]()
    blocks: list[tuple[str, str]] = []
    for line in [*text.splitlines(), ""]:
        if line in HEADINGS:
            blocks.append((heading, dedent("\n".join(body)).strip()))
            heading, body = line, []
        else:
            body.append(line)
    blocks.append((heading, dedent("\n".join(body)).strip()))
    return " ".join(blocks[0][1].split()), blocks[1:]
