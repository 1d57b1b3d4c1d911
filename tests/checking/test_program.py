"""What the rules may say of a path, by what was seen on it."""

from __future__ import annotations

from pathlib import Path

from gradledger.checking.program import judge
from gradledger.ledger.events import BackwardRan, OptimizerStepped
from gradledger.ledger.record import replace
from gradledger.static.explore import explore
from gradledger.static.parsed import parse

CLIPS_FIRST = Path(__file__).parent.parent / "corpus" / "bad" / "GL304_clip_before_backward.py"


def test_no_clip_is_early_where_no_pass_was_seen() -> None:
    traces = explore(parse(CLIPS_FIRST.read_text(), "train.py")).traces
    assert [finding.code for finding in judge(traces)] == ["GL304"]
    blind = [
        replace(
            trace, events=tuple(e for e in trace.events if not isinstance(e, BackwardRan | OptimizerStepped))
        )
        for trace in traces
    ]
    assert "GL304" not in {finding.code for finding in judge(blind)}
