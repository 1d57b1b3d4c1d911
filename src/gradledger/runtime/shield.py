"""A fault in the audit must never become a fault of the audited program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from gradledger.ledger.errors import AuditError
from gradledger.runtime.cohort import Gone

Method = TypeVar("Method", bound=Callable[..., Any])


def shielded(method: Method) -> Method:
    """Let a probe's method fail without harm: the audit ends there, the program goes on."""

    @functools.wraps(method)
    def safe(self: Any, *args: Any, **kwargs: Any) -> Any:
        observer = self.observer
        if observer.trouble is not None:
            return None
        try:
            with observer.lock:
                if observer.cruise.on:
                    observer.cruise.leave()
                return method(self, *args, **kwargs)
        except AuditError:
            raise
        except Gone:
            # A model died in the middle of a look: what is left is looked at next time.
            with observer.lock:
                observer.sweep()
            return None
        except Exception as trouble:
            observer.trouble = trouble
            return None

    return safe  # type: ignore[return-value]
