"""Values that something unseen may have changed: what they were is not known any more."""

from __future__ import annotations

import ast
import re

from gradledger.static.reach import within
from gradledger.static.state import State
from gradledger.static.values import Bound, Function, Instance, Value

_CHANGES = r"(?i)push|set(?!up)|update|merge|overr|parse_args|fill|inject|insert"
"""What is given things in order to change them, by its name."""
_PLAIN = (bool, int, float, str, type(None))


class Changes(State):
    """The part of the machine that forgets."""

    def forget(self, value: Value) -> None:
        """Plain values in a container or an object are open from now on."""
        label = f"changed {self.fresh()}"
        if isinstance(value, dict):
            for key, held in value.items():
                if isinstance(held, _PLAIN):
                    value[key] = self.unknown(f"{label}[{key}]")
        elif isinstance(value, list):
            for number, held in enumerate(value):
                if isinstance(held, _PLAIN):
                    value[number] = self.unknown(f"{label}[{number}]")
            if not value:
                value.append(self.unknown(f"{label}[0]"))
        elif isinstance(value, Instance):
            inherited = {name: held for cls in value.cls.lineage()[::-1] for name, held in cls.attrs.items()}
            for name, held in (inherited | value.attrs).items():
                if isinstance(held, _PLAIN):
                    value.attrs[name] = self.unknown(f"{label}.{name}")

    def forget_given(self, name: str, given: list[Value]) -> None:
        """Something unseen was given values: it may change them, or call functions that change others."""
        changes = re.search(_CHANGES, name) is not None
        for value in given:
            if changes and isinstance(value, (dict, list, Instance)):
                self.forget(value)
            for part in within(value) if not isinstance(value, _PLAIN) else ():
                self._forget_written(part)

    def _forget_written(self, value: Value) -> None:
        """What a function writes outside itself."""
        function = value.target if isinstance(value, Bound) else value
        if not isinstance(function, Function):
            return
        names = function.node.args.args
        for node in ast.walk(function.node):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                for name in node.names:
                    home = function.scope.find(name)
                    if home is not None and isinstance(home.names[name], _PLAIN):
                        home.names[name] = self.unknown(f"changed {name}", fleeting=False)
            elif (
                isinstance(value, Bound)
                and isinstance(value.owner, Instance)
                and isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and names
                and node.value.id == names[0].arg
                and isinstance(value.owner.attrs.get(node.attr), _PLAIN)
            ):
                value.owner.attrs[node.attr] = self.unknown(f"changed {value.owner.serial}.{node.attr}")
