"""What a `with` statement enters and leaves."""

from __future__ import annotations

import ast

from gradledger.static.methods import Methods
from gradledger.static.values import Accelerator, Context, Instance, Model, Unknown, Value


class Contexts(Methods):
    """The part of the machine that enters contexts."""

    def enter(self, value: Value, node: ast.AST) -> Value:
        """`with value as …`."""
        if not isinstance(value, Context):
            if isinstance(value, Instance):
                start = value.cls.find("__enter__")
                if start is not None:
                    return self.apply(start, [value], {}, node)
            return value
        match value.kind:
            case "no_grad":
                self.no_grad += 1
            case "grad":
                value.owner = self.no_grad
                self.no_grad = 0
            case "no_sync":
                if isinstance(value.owner, (Model, Instance)):
                    value.owner.local += 1
            case "accumulate":
                self._accumulate(value.owner)
            case "source":
                self.around_yield(value, before=True)
        return value

    def leave(self, value: Value, node: ast.AST) -> None:
        """The end of the `with`."""
        if not isinstance(value, Context):
            if isinstance(value, Instance):
                end = value.cls.find("__exit__")
                if end is not None:
                    self.apply(end, [value, None, None, None], {}, node)
            return
        match value.kind:
            case "no_grad":
                self.no_grad -= 1
            case "grad":
                self.no_grad = value.owner
            case "no_sync":
                if isinstance(value.owner, (Model, Instance)):
                    value.owner.local -= 1
            case "stack":
                while value.owner:
                    self.leave(value.owner.pop(), node)
            case "source":
                self.around_yield(value, before=False)

    def _accumulate(self, accelerator: Accelerator) -> None:
        every = accelerator.every
        if isinstance(every, Unknown):
            self.learnt.unknown[every.label] = None
            every = self.scale.values.get(every.label, 3)
        elif isinstance(every, int):
            if every > 8:
                self.learnt.large[every] = None
            elif every > 1:
                self.learnt.windows.add(every)
            every = self.scale.number(every)
        if not isinstance(every, int):
            every = 1
        accelerator.turn += 1
        accelerator.sync = accelerator.last or accelerator.turn % max(every, 1) == 0
        if accelerator.last:
            accelerator.turn = 0
