"""Imports: found by their path in the source, never executed by Python."""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradledger.static.externals import Externals
from gradledger.static.leaving import Leave
from gradledger.static.parsed import parse
from gradledger.static.unit import Unit
from gradledger.static.values import External, Namespace, Scope, Value

FindModule = Callable[[str, str, int], "tuple[str, str] | None"]

_ALIASES = {
    "torch.cuda.amp": "torch.amp",
    "pytorch_lightning": "lightning",
    "lightning.pytorch": "lightning",
}
MOST_MODULES = 24
_KNOWN = frozenset(
    {
        "torch",
        "numpy",
        "transformers",
        "accelerate",
        "lightning",
        "pytorch_lightning",
        "torchvision",
        "sklearn",
        "os",
        "sys",
    }
)


class Imports(Externals):
    """The part of the machine that imports."""

    find_module: FindModule | None = None
    units: dict[str, Unit | None]
    modules: dict[str, Namespace]

    def import_module(self, node: ast.Import | ast.ImportFrom) -> None:
        """An import statement."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name
                if alias.asname is None and "." in name:
                    self.scope.names[name.split(".")[0]] = External(name.split(".")[0])
                    continue
                self.scope.names[alias.asname or name] = self._module(name, 0) or External(name)
            return
        base = node.module or ""
        namespace = self._module(base, node.level) if base or node.level else None
        for alias in node.names:
            if alias.name == "*":
                if namespace is not None:
                    self.scope.names.update(namespace.scope.names)
                continue
            name = alias.asname or alias.name
            self.scope.names[name] = self._member(namespace, base, alias.name, node.level)

    def _member(self, namespace: Namespace | None, base: str, name: str, level: int) -> Value:
        if namespace is not None and name in namespace.scope.names:
            return namespace.scope.names[name]
        if level or not is_known(base):
            inner = self._module(f"{base}.{name}" if base else name, level)
            if inner is not None:
                return inner
        return External(f"{base}.{name}" if base else name)

    def _module(self, name: str, level: int) -> Namespace | None:
        if self.find_module is None or (not level and is_known(name)):
            return None
        found = self.find_module(name, self.unit.path, level)
        if found is None or found[0] == self.unit.path:
            return None
        path, text = found
        known = self.modules.get(path)
        if known is not None:
            return known
        if len(self.modules) >= MOST_MODULES:
            return None
        unit = self._unit(path, text)
        if unit is None:
            return None
        namespace = self.modules[path] = Namespace(unit, Scope())
        saved = self.scope, self.unit, self.function, self.loops
        self.scope, self.unit, self.function, self.loops = namespace.scope, unit, "<module>", []
        namespace.scope.names["__name__"] = name
        try:
            self.execute(unit.tree.body)
        except Leave:
            pass
        finally:
            self.scope, self.unit, self.function, self.loops = saved
        return namespace

    def _unit(self, path: str, text: str) -> Unit | None:
        if path not in self.units:
            try:
                self.units[path] = parse(text, path)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self.units[path] = None
        return self.units[path]


def is_known(name: str) -> bool:
    """Whether a module belongs to a library that the model knows, or to Python."""
    return name.split(".", 1)[0] in _KNOWN
