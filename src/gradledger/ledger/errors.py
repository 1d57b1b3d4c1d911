"""The errors gradledger raises on purpose."""

from __future__ import annotations


class LedgerError(RuntimeError):
    """A rule of the gradient's books was broken; the text names the lines involved."""


class AuditError(LedgerError):
    """Raised inside the audited program at the first certain error when it was asked to fail fast."""
