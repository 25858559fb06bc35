"""Builders of a `StateGraph` from the rules of a game.

Two builders give the same graph, byte for byte: one runs the rules as ordinary Python, the other
compiles them. A build begins in Python. If the game turns out to be large, its rules are compiled
and the build begins again (`rollwise.builders.building`).
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
