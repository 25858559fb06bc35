"""Rules that draw random numbers: they would say something else each time they are asked."""

from __future__ import annotations

import random
import sys
import types
from typing import Any

import numpy as np

from rollwise.builders.compiled.cache_key import closure_read, globals_read, names_in
from rollwise.game import Game

RULES = ("start", "roots", "throws", "actions", "outcomes", "reward", "progress")


def drawn_by(game: Game) -> tuple[str, str] | None:
    """The rule of a game that draws, and with what; None where none does."""
    for rule in RULES:
        pending, seen = [getattr(type(game), rule)], set()
        while pending:
            function = pending.pop()
            if not isinstance(function, types.FunctionType) or function in seen:
                continue
            seen.add(function)
            names = names_in(function.__code__)
            for name, value in (globals_read(function) | closure_read(function)).items():
                drawing = _drawing(name, value, names)
                if drawing:
                    return rule, drawing
                pending.append(value)
            methods = (getattr(type(game), name, None) for name in names)
            pending += [m for m in methods if m not in (Game.start, Game.roots)]
    return None


def _drawing(name: str, value: Any, names: set[str]) -> str:
    """What draws random numbers, if a value that a function reads does."""
    if value is random:
        used = sorted(names.intersection(random.__all__))
        return f"{name}.{used[0]}" if used else ""
    if value is np and "random" in names:
        return f"{name}.random"
    owner = getattr(value, "__self__", value)
    if isinstance(owner, random.Random):
        return name
    if "numpy.random" not in sys.modules:  # it takes a while to import
        return ""
    return name if isinstance(owner, np.random.Generator | np.random.RandomState) else ""
