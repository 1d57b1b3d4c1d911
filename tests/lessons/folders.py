"""A tiny lesson and a tiny myth in a folder of the test's own."""

from __future__ import annotations

from pathlib import Path

LESSON = """\
+++
title = "Adding"
summary = "Two and two."
minutes = 3
needs = []
next = ["l02"]
codes = ["GL101"]
+++

## Sums

Before **anything** runs, `{{}}` are braces.

<!-- predict: sums.total | What is two and two? | 0.1 -->
<!-- run: sums -->

It is {sums.total:.2f}; the second is {sums.each[1]}.

```python
<!-- run: nothing -->
```

<!-- plot: sums.each | Each | which | how much -->
"""

EXPERIMENT = '''\
"""Adding."""

HIDDEN = 2.0


def _scaffold():
    return HIDDEN


def sums():
    """Adds two numbers."""
    total = _scaffold() + 2.0  # two and two
    print("total", total)
    return {"total": total, "each": [2.0, 2.0], "even": total % 2 == 0}
'''

QUIZ = """\
[[question]]
id = "sum"
text = "Two and two?"
answer = "b"
exhibit = "sums.total"

[[question.option]]
key = "a"
text = "Three"
why = "One too few."
value = 3.0

[[question.option]]
key = "b"
text = "Four"
why = "Count them."
value = 4.0
"""

MYTH = """\
+++
claim = "Two and two are five"
truth = false
lesson = "l01"
+++
Look.

<!-- run: decide -->

It is {decide.total}.
"""

DECIDE = '''\
"""Whether it holds."""


def decide():
    """Adds."""
    total = 2 + 2
    return {"holds": total == 5, "total": total}
'''


def lesson_folder(root: Path, **files: str) -> Path:
    """A folder with a lesson; other texts for some of its files."""
    folder = root / "l01_adding"
    folder.mkdir(parents=True)
    texts = {"lesson.md": LESSON, "experiment.py": EXPERIMENT, "quiz.toml": QUIZ}
    texts |= {{"lesson": "lesson.md", "quiz": "quiz.toml"}.get(k, f"{k}.py"): v for k, v in files.items()}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def myth_folder(root: Path) -> Path:
    """A folder with a myth."""
    folder = root / "m01_adding"
    folder.mkdir(parents=True)
    (folder / "myth.md").write_text(MYTH, encoding="utf-8")
    (folder / "experiment.py").write_text(DECIDE, encoding="utf-8")
    return folder
