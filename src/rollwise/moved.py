"""Modules under the names that they had in version 0.1: each works, and says once where it went.

They go in version 0.3.
"""

from __future__ import annotations

import importlib
import warnings
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "atomic_files": "machine.atomic_files",
    "certificate": "proofs.bounds",
    "chase": "derive.chase",
    "evaluation": "answer.evaluation",
    "filters": "answer.filters",
    "intervals": "numbers.intervals",
    "layers": "answer.solve_by_layers",
    "play": "coach",
    "policies": "graph.policies",
    "policy_references": "answer.references",
    "printed": "numbers.printed",
    "scores": "derive.by_score",
    "seats": "derive.seats",
    "solution": "answer.solution",
    "storage": "answer.storage",
}


class MovedModules:
    """Finds a module by its old name, for ``sys.meta_path``."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package, _, module = name.partition(".")
        if package != "rollwise" or module not in MOVED:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Python's own will do."""

    def exec_module(self, module: ModuleType) -> None:
        new = f"rollwise.{MOVED[module.__name__.partition('.')[2]]}"
        warnings.warn(
            f"{module.__name__} is now {new}; the old name goes in version 0.3",
            DeprecationWarning,
            stacklevel=2,
        )
        names = vars(importlib.import_module(new)).items()
        vars(module).update({name: value for name, value in names if name[:2] != "__"})
