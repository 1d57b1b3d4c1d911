"""Runs a script under audit and compares the weights of its `model` with the lesson's arithmetic.

python -m gradledger.lessons.repairing.worker SCRIPT LESSON_FOLDER RESULT.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from gradledger.audit.answer import Answer
from gradledger.host import Options, Target, run_target
from gradledger.lessons.exhibit import experiment
from gradledger.lessons.repairing.judging import as_table, findings_of


def main(arguments: list[str]) -> int:
    """Run, judge, and leave the result in a file."""
    script, folder, result = arguments

    def conclude(answer: Answer, status: int) -> int:
        told = {
            "status": status,
            "findings": [as_table(found) for found in findings_of(answer.findings)],
            "backwards": answer.checked.backwards,
            "weights": None if status else _weights(Path(folder)),
        }
        Path(result).write_text(json.dumps(told), encoding="utf-8")
        return status

    return int(run_target(Target(kind="script", name=script), Options(), conclude))


def _weights(folder: Path) -> dict[str, object]:
    """How far each parameter of the script's `model` is from the reference, relative to that one's norm."""
    model = getattr(sys.modules["__main__"], "model", None)
    if not isinstance(model, torch.nn.Module):
        return {
            "problem": 'the script has no module-level "model" any more, so its weights cannot be compared'
        }
    found = {name.removeprefix("module."): value for name, value in model.state_dict().items()}
    wanted: Mapping[str, Any] = experiment(folder)._reference()
    if found.keys() != wanted.keys() or any(found[name].shape != wanted[name].shape for name in wanted):
        return {"problem": "the model has other parameters than the lesson's: leave its layers as they were"}
    apart = {name: _distance(found[name], wanted[name]) for name in wanted}
    whole = _distance(
        *(torch.cat([table[name].double().flatten() for name in wanted]) for table in (found, wanted))
    )
    return {"whole": whole, "each": apart}


def _distance(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """The norm of the difference over the norm of what is wanted."""
    wanted = wanted.double().flatten()
    apart = (found.double().flatten() - wanted).norm().item()
    size = wanted.norm().item()
    distance = apart / size if size else apart
    return distance if distance == distance else float("inf")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
