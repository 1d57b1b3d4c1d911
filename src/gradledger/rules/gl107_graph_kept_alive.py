"""GL107 graph-kept-alive."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import times


class GraphKeptAlive(Rule):
    """A variable collects loss tensors and keeps the graph of every pass in memory.

    What is wrong
        A loss refers to the graph that computed it. `total += loss` or `losses.append(loss)` keeps all of
        these graphs: memory grows with every batch, and a later backward() through the sum would visit
        them all.

    Why it stays silent
        backward() frees the largest buffers of each graph, so the growth is slow, and the program ends
        or runs out of memory far from the line that caused it.

    When to allow it
        When the sum is differentiated later, as in back-propagation through time.
    """

    code = "GL107"
    name = "graph-kept-alive"
    severity = Severity.WARNING
    summary = "`total += loss` without `.item()`/`.detach()`: every graph stays in memory"
    static = "yes"
    runtime = "yes"
    bad = """\
total = 0.0
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss  # <- here
print(float(total) / len(loader))
"""
    good = """\
total = 0.0
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
print(total / len(loader))
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Name each variable that holds graphs of finished passes."""
        for kept in books.kept.values():
            yield Draft(
                site=kept.site,
                message=f"keeps the graph of every pass alive through `{kept.name}`",
                remedy="store the number, not the tensor: loss.item(), or loss.detach() on the device",
                detail=fixed(f"{times(kept.held, 'graph')} of finished passes still in memory"),
                count=kept.held,
            )
