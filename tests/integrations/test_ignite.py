"""Ignite: one line attaches the audit."""

from __future__ import annotations

import pytest
import torch
from ignite.engine import Engine, Events, create_supervised_trainer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gradledger import AuditError
from gradledger.integrations.ignite import attach

pytestmark = pytest.mark.libraries


@pytest.fixture
def engine() -> Engine:
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    trainer = create_supervised_trainer(model, optimizer, nn.MSELoss(), gradient_accumulation_steps=2)
    trainer.optimizer = optimizer
    return trainer


def loader() -> DataLoader[tuple[torch.Tensor, ...]]:
    x = torch.randn(32, 5)
    return DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4)


def test_findings_are_warnings_of_the_engines_logger(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.add_event_handler(Events.ITERATION_COMPLETED(every=2), lambda _: engine.optimizer.step())
    audit = attach(engine)
    engine.run(loader(), max_epochs=2)
    assert [finding.code for finding in audit.findings] == ["GL105"]
    assert engine.state.gradledger == audit.findings
    assert "gradledger: GL105 repeated-step" in caplog.text
    assert __file__ in caplog.text
    assert not hasattr(torch.Tensor.backward, "__gradledger__")


def test_right_training_is_left_in_peace_run_after_run(engine: Engine) -> None:
    audit = attach(engine, fail=True)
    for _ in range(2):
        engine.run(loader(), max_epochs=2)
        assert audit.answer is not None
        assert audit.answer.checked.steps == 8
        assert audit.findings == ()
    engine.add_event_handler(Events.ITERATION_COMPLETED(every=2), lambda _: engine.optimizer.step())
    with pytest.raises(AuditError, match="GL105"):
        engine.run(loader(), max_epochs=2)


@pytest.mark.parametrize("handled", [False, True])
def test_errors_stay_what_they_are(engine: Engine, handled: bool) -> None:
    @engine.on(Events.ITERATION_STARTED(once=3))
    def _broken(_: Engine) -> None:
        raise RuntimeError("broken")

    caught: list[BaseException] = []
    attach(engine)
    if handled:
        engine.add_event_handler(Events.EXCEPTION_RAISED, lambda _, error: caught.append(error))
        engine.run(loader())
        assert [str(error) for error in caught] == ["broken"]
    else:
        with pytest.raises(RuntimeError, match="broken"):
            engine.run(loader())
    assert not hasattr(torch.Tensor.backward, "__gradledger__")


def test_a_terminated_run_ends_the_audit(engine: Engine) -> None:
    audit = attach(engine)
    engine.add_event_handler(Events.ITERATION_COMPLETED(once=4), lambda _: engine.terminate())
    engine.run(loader(), max_epochs=2)
    assert audit.answer is not None
    assert not hasattr(torch.Tensor.backward, "__gradledger__")
