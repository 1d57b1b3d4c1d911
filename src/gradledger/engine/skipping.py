"""What is said about a window that was not applied."""

from __future__ import annotations

import warnings

from gradledger.engine.update import Update
from gradledger.ledger.errors import LedgerError
from gradledger.ledger.site import Site


def speak_of(update: Update, site: Site, nonfinite: str) -> None:
    """Say why nothing was applied, as loudly as was asked for."""
    if update.outcome == "skipped_empty":
        text = f"{site}: the counts of this window add up to 0 (every token ignored?): no update was made"
        warnings.warn(text, RuntimeWarning, stacklevel=4)
        return
    text = (
        f"{site}: the gradient of this window is not finite (norm {update.grad_norm}, loss {update.loss}): "
        "no update was made"
    )
    if nonfinite == "raise":
        raise LedgerError(text)
    if nonfinite == "warn":
        warnings.warn(text, RuntimeWarning, stacklevel=4)
