"""Ignite: `attach(engine)` audits every run of a trainer."""

from __future__ import annotations

from typing import Any

from gradledger.integrations.needs import needs

_events: Any = needs("ignite.engine", "ignite").Events

from gradledger.integrations.attached import Attached  # noqa: E402  torch is loaded by Ignite first


def attach(engine: Any, *things: Any, fail: bool = False) -> Attached:
    """Audit this engine's runs; findings are warnings of its logger, and `engine.state.gradledger` has them.

    Args:
        engine: The trainer.
        things: Models and optimizers to know from the start.
        fail: Raise `gradledger.AuditError` at the end if there are findings that fail a run.
    """
    audit = Attached(engine.logger.warning, fail=fail)

    def ended(_: Any) -> None:
        audit.end()
        engine.state.gradledger = audit.findings

    def broke(_: Any, error: BaseException) -> None:
        audit.end(error)
        # Without any handler Ignite raises the error itself; beside others, theirs decide what becomes of it.
        if len(engine._event_handlers[_events.EXCEPTION_RAISED]) == 1:
            raise error

    engine.add_event_handler(_events.STARTED, lambda _: audit.begin(*things))
    engine.add_event_handler(_events.EPOCH_COMPLETED, lambda _: audit.news())
    engine.add_event_handler(_events.COMPLETED, ended)
    engine.add_event_handler(_events.EXCEPTION_RAISED, broke)
    return audit
