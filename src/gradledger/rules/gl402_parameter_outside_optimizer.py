"""GL402 parameter-outside-optimizer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradledger.ledger.books import Balance, Books
from gradledger.ledger.record import dataclass, field
from gradledger.ledger.site import Site
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.outside import built_line, outside
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related, times


class ParameterOutsideOptimizer(Rule):
    """A trainable parameter receives gradients, and no optimizer holds it.

    What is wrong
        The model has parameters that were not given to any optimizer: layers kept in a plain list, a head
        added later, a group lost while sorting parameters. They receive gradients at every pass and keep
        their random initial values for ever.

    Why it stays silent
        The other layers learn to live with the frozen ones, so the loss falls, if not as far as it could.

    When to allow it
        When the parameters are meant to stay fixed; `requires_grad_(False)` says so and saves the work.
    """

    code = "GL402"
    name = "parameter-outside-optimizer"
    severity = Severity.ERROR
    summary = "a trainable parameter receives gradients and no optimizer holds it"
    static = "when certain"
    runtime = "yes"
    yields_to = ("GL403",)
    bad = """\
body = nn.Sequential(nn.Linear(10, 16), nn.Tanh())
head = nn.Linear(16, 1)
body_optimizer = torch.optim.SGD(body.parameters(), lr=0.01)  # <- here
for x, y in loader:
    body.zero_grad()
    head.zero_grad()
    loss_fn(head(body(x)), y).backward()
    body_optimizer.step()
"""
    good = """\
body = nn.Sequential(nn.Linear(10, 16), nn.Tanh())
head = nn.Linear(16, 1)
both_optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
for x, y in loader:
    body.zero_grad()
    head.zero_grad()
    loss_fn(head(body(x)), y).backward()
    both_optimizer.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for parameters that only their companions' optimizer leaves out."""
        if not books.ended:
            return
        groups: dict[int, _Forgotten] = {}
        for number, balance in outside(books):
            for optimizer, backward in _companions(books, number, balance):
                groups.setdefault(optimizer, _Forgotten(backward)).add(balance)
                break
        for optimizer, forgotten in groups.items():
            built = built_line(books, optimizer)
            yield Draft(
                site=built or forgotten.backward,
                message=f"was not given {forgotten.text}: gradients flow in, and nothing ever updates them"
                if built
                else f"reaches {forgotten.text}, which no optimizer holds: nothing ever updates them",
                related=related((forgotten.backward, "fills their gradients")),
                remedy="give these parameters to the optimizer, or freeze them with requires_grad_(False)",
                detail=fixed(f"{times(forgotten.passes, 'pass')} reached them, no step did"),
                optimizer=optimizer,
                count=forgotten.passes,
            )


@dataclass(slots=True)
class _Forgotten:
    backward: Site | None
    names: list[str] = field(default_factory=list)
    size: int = 0
    passes: int = 0

    def add(self, balance: Balance) -> None:
        self.names += balance.names
        self.size += balance.size
        self.passes = max(self.passes, balance.backed)

    @property
    def text(self) -> str:
        shown = [f"`{name}`" for name in self.names[:3]]
        if not shown:
            return times(self.size, "parameter")
        more = max(self.size, len(self.names)) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")


def _companions(books: Books, number: int, balance: Balance) -> Iterator[tuple[int, Site | None]]:
    """Optimizers that step parameters which the same passes reach, with the backward() line."""
    for site, tally in books.passes.items():
        mates = {mate for reached in tally.together if number in reached for mate in reached}
        for mate in sorted(mates):
            other = books.balances[mate]
            if other.optimizer is None or not other.steps or other.module is None:
                continue
            if balance.module is None or balance.training or balance.module == other.module:
                yield other.optimizer, site
