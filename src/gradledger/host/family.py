"""One answer for a process and the processes it started."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.audit.answer import Answer, merge
from gradledger.ledger.record import replace


def trained(answer: Answer) -> bool:
    """Whether there was anything to look at."""
    return bool(answer.checked.backwards or answer.checked.steps or answer.findings)


def labelled(answer: Answer, rank: int) -> Answer:
    """The same answer, its findings naming the rank unless they already name one."""
    findings = tuple(one if one.ranks else replace(one, ranks=(rank,)) for one in answer.findings)
    return replace(answer, findings=findings)


def counted(answer: Answer) -> Answer:
    """The same answer of one process, which counts only if it trained."""
    return replace(answer, checked=replace(answer.checked, processes=int(trained(answer))))


def family(parent: Answer, children: Sequence[Answer]) -> Answer:
    """Merge: the children stand in the order in which they were started."""
    training = [child for child in children if trained(child)]
    # Where the parent only starts them, the children are its ranks.
    if len(training) > 1 and not trained(parent):
        training = [labelled(child, number) for number, child in enumerate(training)]
    return merge([counted(parent), *map(counted, training)])


def together(answers: Sequence[Answer], notes: Sequence[str] = ()) -> Answer:
    """Merge finished answers; at least one process did whatever was done."""
    whole = merge(answers)
    processes = max(1, whole.checked.processes)
    return replace(whole, checked=replace(whole.checked, processes=processes), notes=(*whole.notes, *notes))
