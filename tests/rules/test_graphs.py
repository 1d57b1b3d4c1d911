"""GL107 and GL108: graphs that stay, and graphs that are used twice."""

from __future__ import annotations

from gradledger.ledger import events as ev
from tests.ledger_script import Script, at

# -- GL107 graph-kept-alive -----------------------------------------------------------------------------


def test_a_variable_that_keeps_graphs() -> None:
    script = Script()
    for number in range(4):
        script.clear(2).backward(3).step(4).post(ev.GraphKept(at(5), "total", number + 2))
    finding = script.end().only("GL107", 5)
    assert finding.message == "keeps the graph of every pass alive through `total`"
    assert finding.detail == "5 graphs of finished passes still in memory"
    assert finding.severity.value == "warning"


def test_two_variables_are_two_findings() -> None:
    script = Script().post(ev.GraphKept(at(5), "total", 9)).post(ev.GraphKept(at(6), "history", 9))
    assert script.end().certain == [("GL107", 5), ("GL107", 6)]


def test_a_loop_without_such_a_variable_is_right() -> None:
    assert Script().clear(2).backward(3).step(4).end().findings == ()


# -- GL108 repeated-backward ----------------------------------------------------------------------------


def test_a_loss_inside_a_later_loss() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3, kept_graph=True).backward(5, repeats=at(3)).step(6)
    finding = script.end().only("GL108", 5)
    assert finding.message == "differentiates again what the backward() at line 3 has already added"
    assert [related.site.line for related in finding.related] == [3, 6]


def test_a_running_loss_on_one_line() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3, kept_graph=True)
        script.backward(3, kept_graph=True, repeats=at(3)).backward(3, kept_graph=True, repeats=at(3)).step(6)
    script.end().only("GL108", 3)


def test_twice_on_one_line() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3, kept_graph=True).backward(3, repeats=at(3)).step(6)
    script.end().only("GL108", 3)


def test_a_first_pass_of_the_same_line_that_was_cleared_counts_no_more() -> None:
    script = Script()
    for _ in range(3):
        script.backward(3, kept_graph=True).clear(4).backward(3, repeats=at(3)).step(6).clear(7)
    assert ("GL108", 3) not in script.end().certain


def test_two_losses_that_share_a_graph_are_right() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3, kept_graph=True).backward(4).step(5)
    assert script.end().findings == ()


def test_a_first_pass_that_was_cleared_counts_no_more() -> None:
    script = Script()
    for _ in range(3):
        script.backward(3, kept_graph=True).clear(4).backward(5, repeats=at(3)).step(6).clear(7)
    assert script.end().findings == ()
