from __future__ import annotations

import pytest

import gradledger
from gradledger.ledger.errors import AuditError, LedgerError


@pytest.mark.parametrize("error", [LedgerError, AuditError])
def test_who_guards_against_the_books_or_against_any_failure_catches_both(error: type[Exception]) -> None:
    for guard in (gradledger.LedgerError, RuntimeError):
        with pytest.raises(guard, match="lines 3 and 4"):
            raise error("lines 3 and 4")
