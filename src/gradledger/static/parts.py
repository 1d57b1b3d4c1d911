"""What the parts of the machine ask of each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.static.leaving import Way
from gradledger.static.operators import Operators
from gradledger.static.values import (
    Args,
    ClassValue,
    Gradient,
    Iteration,
    Named,
    Optimizer,
    Tensor,
    Unknown,
    Value,
)


class Parts(Operators):
    """Declarations of what other files provide."""

    def call(self, node: ast.Call) -> Value:
        """A call expression."""
        raise NotImplementedError

    def apply(self, function: Value, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """Call a value."""
        raise NotImplementedError

    def iterate(self, value: Value) -> Iterator[Value]:
        """The items of a value, for a comprehension or a small loop."""
        raise NotImplementedError

    def lookup(self, name: str) -> Value:
        """What a name means that no scope holds."""
        raise NotImplementedError

    def read_gradient(self, value: Gradient, node: ast.AST) -> None:
        """`.grad` is used as a tensor."""
        raise NotImplementedError

    def iteration(self, value: Value, node: ast.AST) -> Iteration:
        """How a value is iterated over."""
        raise NotImplementedError

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign to a target."""
        raise NotImplementedError

    def call_agent(self, agent: Tensor, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """A call of something that was made of a model."""
        raise NotImplementedError

    def leave_alone(self) -> None:
        """Something that cannot be seen takes part in the cycle: nothing can be said of these optimizers."""
        raise NotImplementedError

    def is_model(self, value: Unknown) -> bool:
        """Whether something unseen is used as a model."""
        raise NotImplementedError

    def enter(self, value: Value, node: ast.AST) -> Value:
        """`with value as …`."""
        raise NotImplementedError

    def leave(self, value: Value, node: ast.AST) -> None:
        """The end of the `with`."""
        raise NotImplementedError

    def import_module(self, node: ast.Import | ast.ImportFrom) -> None:
        """An import statement."""
        raise NotImplementedError

    def method(self, owner: Value, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """A method of something that is not in the source."""
        raise NotImplementedError

    def external(self, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """Something imported."""
        raise NotImplementedError

    def forward(self, model: Value, args: Args, kwargs: Named, node: ast.AST, name: str = "forward") -> Value:
        """`model(x)`."""
        raise NotImplementedError

    def as_optimizer(self, cls: ClassValue, args: Args, kwargs: Named, node: ast.AST) -> Optimizer | None:
        """An optimizer of the user's own making."""
        raise NotImplementedError

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def truth(self, node: ast.expr, *, relevant: bool = False, default: bool = True) -> bool:
        """Which way a condition goes."""
        raise NotImplementedError

    def execute(self, body: list[ast.stmt]) -> Way | None:
        """Run statements until one leaves."""
        raise NotImplementedError
