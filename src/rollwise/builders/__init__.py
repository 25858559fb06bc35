"""Turning the rules of a game into a `StateGraph`.

Two builders give the same graph, byte for byte: one runs the rules as ordinary
Python, the other compiles them. A game is begun in Python; if it turns out to be
more than a small one, its rules are compiled and it is begun again
(`rollwise.builders.building`).
"""

from rollwise.builders.building import (
    BuildReport,
    CompileWarning,
    Mode,
    Progress,
    build,
    build_with_report,
    is_compiled,
)
from rollwise.errors import RulesError

__all__ = [
    "BuildReport",
    "CompileWarning",
    "Mode",
    "Progress",
    "RulesError",
    "build",
    "build_with_report",
    "is_compiled",
]
