"""Others who do everything right, before the program with the mistake: nobody may stop looking at them."""

from __future__ import annotations

from gradledger.ledger import events as ev
from tests.ledger_script import Script


def company(script: Script) -> None:
    _by_hand(script, 80)
    _plain(script, 81)
    _windows(script, 82, flush=True)
    _windows(script, 83, flush=False)
    _first_step_alone(script, 84)
    _tuned_for_the_sum(script, 85)
    _schedules(script)
    _clipped(script, 95)
    _scaled(script, 96)
    _replaced_in_part(script, 97)
    _moved_by_the_program(script, 99)
    script.post(ev.ClearNotCalled(None, "opt.zero_grad"))


def _opened(script: Script, number: int) -> Script:
    return script.optimizer(800, number).open(number, optimizer=number, module=number)


def _by_hand(script: Script, number: int) -> None:
    script.open(number)
    for _ in range(3):
        script.clear(805, number, owner=None).backward(806, number).step(807, number, optimizer=None)
    script.clear(805, number, owner=None)


def _plain(script: Script, number: int) -> None:
    _opened(script, number)
    for _ in range(3):
        script.clear(801, number, owner=number).backward(802, number).step(803, number, optimizer=number)
    script.clear(801, number, owner=number)


def _windows(script: Script, number: int, *, flush: bool) -> None:
    _opened(script, number)
    for _ in range(3):
        for batch in range(1, 6 if flush else 5):
            script.backward(812, number, loader=number)
            script.post(ev.LossMeasured(None, (number,), "mean", 1 / 2, 8))
            if batch % 2 == 0:
                script.step(813, number, optimizer=number, windowed=True).clear(814, number, owner=number)
        script.post(ev.EpochEnded(None, number))
        if flush:
            script.step(815, number, optimizer=number, windowed=True).clear(816, number, owner=number)


def _first_step_alone(script: Script, number: int) -> None:
    _opened(script, number)
    for size in (1, 2, 2, 2):
        for _ in range(size):
            script.backward(822, number, loader=number)
        script.step(823, number, optimizer=number).clear(824, number, owner=number)


def _tuned_for_the_sum(script: Script, number: int) -> None:
    script.post(ev.OptimizerBuilt(script.at(800), number, "SGD", divided_rate=True))
    script.open(number, optimizer=number, module=number)
    for _ in range(3):
        for _ in range(2):
            script.backward(827, number, loader=number)
            script.post(ev.LossMeasured(None, (number,), "mean", 1.0, 8))
        script.step(828, number, optimizer=number, windowed=True).clear(829, number, owner=number)


def _schedules(script: Script) -> None:
    """For each reason why a schedule is right, one that is so."""
    script.post(ev.SchedulerStepped(script.at(839), 89, 89))  # nobody saw it being made
    script.scheduler(830, number=88)  # of an optimizer that nobody knows
    plans: dict[int, dict[str, object]] = {
        86: {"kind": "StepLR"},
        87: {"kind": "StepLR"},
        90: {"per_batch": True},
        91: {"kind": "StepLR"},
        92: {"kind": "StepLR"},
        93: {"kind": "StepLR"},
        94: {"horizon": 1000},
        98: {"kind": "StepLR"},
    }
    for number, plan in plans.items():
        _opened(script, number).scheduler(830, number=number, **plan)  # type: ignore[arg-type]
        for _ in range({86: 2, 87: 1}.get(number, 0)):
            script.advance(837, number=number)  # sets it up
        for turn in range(6):
            advances = {86: 1, 87: 1, 91: 1, 92: (2, 2, 2, 2, 4, 5)[turn], 98: 1}.get(number, 2)
            for batch in range(max(advances, 2)):
                script.backward(832, number, loader=number)
                if batch < advances - 1:
                    script.advance(838, number=number, explicit=number == 93)
                if number == 98 and not batch:
                    script.advance(839, number=number)
            script.step(833, number, optimizer=number, windowed=True).clear(834, number, owner=number)
            script.advance(838, number=number, explicit=number == 93)


def _clipped(script: Script, number: int) -> None:
    _opened(script, number)
    for _ in range(3):
        script.clear(841, number, owner=number).backward(842, number).clip(843, (number,))
        script.step(844, number, optimizer=number)
    script.clear(841, number, owner=number)


def _scaled(script: Script, number: int) -> None:
    _opened(script, number).scaler(850, number)
    for _ in range(3):
        script.clear(851, number, owner=number).backward(852, number, scaled_by=number)
        script.post(ev.ScalerStepped(script.at(853), number, number))
        script.step(853, number, optimizer=number, scaler=number).update(854, number)
    script.clear(851, number, owner=number)


def _replaced_in_part(script: Script, number: int) -> None:
    _opened(script, number).open(number + 1, optimizer=number, module=number)
    script.post(ev.ParametersOrphaned(None, (number + 1,), number))
    for _ in range(3):
        script.clear(861, number, owner=number).backward(862, number)
        script.step(863, number, number + 1, optimizer=number)
    script.clear(861, number, owner=number)


def _moved_by_the_program(script: Script, number: int) -> None:
    _opened(script, number)
    for _ in range(4):
        script.clear(871, number, owner=number).backward(872, number)
        script.post(ev.ParametersMoved(None, (number,)))
