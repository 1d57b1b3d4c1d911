"""GL309: clip what the step updates."""

from __future__ import annotations

from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.construction import parameters_given
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import CLIP, stepped
from gradledger.repair.scope import reaches
from gradledger.rules.finding import Fix


class ClipTheStepped(Repairer):
    """Gives the clip the parameters that the optimizer was built from."""

    code = "GL309"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Where the optimizer was built from one module's parameters."""
        clip, step = case.call(*CLIP), case.step()
        optimizer = None if step is None else stepped(case.program, step)
        if clip is None or optimizer is None or not clip.args:
            return
        for parameters in parameters_given(case.program, optimizer):
            if reaches(case.program, parameters, clip):
                text = case.program.text_of(parameters)
                yield case.fix(f"clip `{text}`, which is stepped", case.editor.replace(clip.args[0], text))
        if reaches(case.program, optimizer, clip):
            name = case.program.text_of(optimizer)
            text = f'[p for group in {name}.param_groups for p in group["params"]]'
            yield case.fix(f"clip what `{name}` updates", case.editor.replace(clip.args[0], text))
