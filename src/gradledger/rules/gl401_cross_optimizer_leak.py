"""GL401 cross-optimizer-leak."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.account import Account, Posting
from gradledger.ledger.events import OptimizerStepped
from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft
from gradledger.rules.finding import Certainty, Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related


class CrossOptimizerLeak(Rule):
    """An optimizer also applies gradients that another optimizer's loss left in its parameters.

    What is wrong
        `backward()` fills every parameter the loss depends on, whichever optimizer holds it. A generator's
        loss passes through the critic and leaves gradients there; if the critic is not cleared before its
        own backward(), its step applies both, and the two losses usually pull in opposite directions.

    Why it stays silent
        Both losses are finite and both networks move. The training is merely unstable, as such trainings
        often are anyway.

    When to allow it
        When both losses are meant to train the shared parameters.
    """

    code = "GL401"
    name = "cross-optimizer-leak"
    severity = Severity.ERROR
    summary = "an optimizer steps on gradients that another optimizer's loss left in its parameters"
    static = "yes"
    runtime = "yes"
    bad = """\
critic = nn.Linear(1, 1)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)
for x, y in loader:
    optimizer.zero_grad()
    critic(model(x)).mean().backward()
    optimizer.step()
    (critic(y) - critic(model(x).detach())).mean().backward()
    critic_optimizer.step()  # <- here
    critic_optimizer.zero_grad()
"""
    good = """\
critic = nn.Linear(1, 1)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)
for x, y in loader:
    optimizer.zero_grad()
    critic(model(x)).mean().backward()
    optimizer.step()
    critic_optimizer.zero_grad()
    (critic(y) - critic(model(x).detach())).mean().backward()
    critic_optimizer.step()
"""

    def on_window(self, window: Window) -> Iterable[Draft]:
        """Look for another optimizer's entries below this one's own."""
        step = window.step
        if step.optimizer is None:
            return
        for account in window.accounts:
            found = _waiting(account, step) or _left_over(account, step)
            if found is None:
                continue
            foreign, own = found
            at = line(foreign.site, step.site)
            yield Draft(
                site=step.site,
                message=f"also applies what the backward() at {at} left for another optimizer",
                related=related(
                    (foreign.site, "fills these parameters too"), (own.site, "the loss this step is for")
                ),
                remedy="clear this optimizer's gradients right before "
                f"the backward() at {line(own.site, step.site)}",
                # A kept graph may mean that one forward serves both losses on purpose.
                certainty=Certainty.POSSIBLE if foreign.ran.kept_graph else Certainty.CERTAIN,
                optimizer=step.optimizer,
            )


def _waiting(account: Account, step: OptimizerStepped) -> tuple[Posting, Posting] | None:
    """An entry that only another optimizer has used, with one of this optimizer's own after it."""
    postings = list(account.postings())
    used = [posting for posting in postings if posting.used_by not in (None, step.optimizer)]
    own = [posting for posting in postings if posting.used_by is None]
    # One loss that trains both is no leak: the other optimizer has merely stepped on it more often.
    foreign = [posting for posting in used if not any(_same_loss(one, posting) for one in own)]
    own = [posting for posting in own if not any(_same_loss(posting, other) for other in used)]
    for other in foreign:
        after = postings[postings.index(other) :]
        later = next((posting for posting in own if posting in after), None)
        if later is not None:
            return other, later
    return None


def _same_loss(own: Posting, foreign: Posting) -> bool:
    """Whether both come from one line, and the own one reaches all that the foreign one does."""
    return own.site == foreign.site and set(own.ran.accounts) >= set(foreign.ran.accounts)


def _left_over(account: Account, step: OptimizerStepped) -> tuple[Posting, Posting] | None:
    """An entry of these very parameters that another optimizer applied and nobody cleared."""
    applied = account.applied
    if not account.stale or not account.fresh or account.changed:
        return None
    if not isinstance(applied, OptimizerStepped) or applied.optimizer in (None, step.optimizer):
        return None
    return account.stale[-1], account.fresh[0].posting
