"""GL306 nonfinite-step."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft, Numbers
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related


class NonfiniteStep(Rule):
    """A step applies gradients that hold NaN or Inf.

    What is wrong
        One NaN in a gradient makes the parameter NaN, and with it every later output, loss and gradient.
        Typical sources are the logarithm, the square root or a division at zero, and overflow in half
        precision. From this step on the model is lost.

    Why it stays silent
        NaN is a legal number: nothing raises, and metrics that count or compare go on with wrong values.

    When to allow it
        When the optimizer itself leaves out gradients that are not finite.
    """

    code = "GL306"
    name = "nonfinite-step"
    severity = Severity.ERROR
    summary = "a step applies NaN or Inf gradients"
    static = "no"
    runtime = "yes"
    bad = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(torch.log(model(x)), y)
    loss.backward()
    optimizer.step()  # <- here
"""
    good = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(torch.log(nn.functional.softplus(model(x)) + 1e-3), y)
    loss.backward()
    optimizer.step()
"""

    def on_window(self, window: Window) -> Iterable[Draft]:
        """Take the step's word."""
        if window.step.nonfinite:
            backward = next((posting.site for posting in window.postings()), None)
            yield Draft(
                site=window.step.site,
                message="applies gradients that hold NaN or Inf: the parameters are lost from here on",
                related=related((backward, "posts them")),
                remedy="find the operation that is not finite with torch.autograd.set_detect_anomaly(True), "
                "and leave out the step where torch.isfinite(loss) is false",
                detail=_detail,
                optimizer=window.step.optimizer,
            )


def _detail(numbers: Numbers) -> str:
    return f"{numbers.often}, first at step {numbers.first}"
