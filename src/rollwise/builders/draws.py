"""Rules that draw random numbers or read a clock: they say something else each time."""

from __future__ import annotations

import dis
import random
import sys
import types
from typing import Any

import numpy as np

from rollwise.builders.compiled.cache_key import (
    attributes_read,
    closure_read,
    globals_read,
    goes_with_version,
    names_in,
)
from rollwise.game import Game

# What answers otherwise each time, of modules that have other uses.
CHANGING = {
    "datetime": {"now", "today", "utcnow"},
    "os": {"getpid", "getrandom", "urandom"},
    "secrets": {"choice", "randbelow", "randbits", "token_bytes", "token_hex"},
    "time": {"ctime", "gmtime", "localtime", "monotonic", "monotonic_ns", "perf_counter"}
    | {"perf_counter_ns", "process_time", "process_time_ns", "strftime", "time", "time_ns"},
    "uuid": {"uuid1", "uuid4"},
}
RULES = ("start", "roots", "throws", "actions", "outcomes", "reward", "progress")


def drawn_by(game: Game) -> tuple[str, str] | None:
    """The rule of a game that draws or reads a clock, and what it does; None where none does."""
    for rule in RULES:
        pending, seen = [getattr(type(game), rule)], set()
        while pending:
            function = pending.pop()
            if not isinstance(function, types.FunctionType) or function in seen:
                continue
            seen.add(function)
            names = names_in(function.__code__)
            for name, value in (globals_read(function) | closure_read(function)).items():
                if drawing := _drawing(name, value, names):
                    return rule, f"draws with {drawing}"
                reading = _reading(name, value, names)
                if reading and _is_loaded(function.__code__, name):
                    return rule, f"reads {reading}"
                pending.append(value)
                if isinstance(value, types.ModuleType) and not goes_with_version(value):
                    pending += attributes_read(value, names).values()
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


def _reading(name: str, value: Any, names: set[str]) -> str:
    """What reads a clock or the like, if a value that a function reads does."""
    if isinstance(value, types.ModuleType):
        used = sorted(names & CHANGING.get(value.__name__, set()))
        return f"{name}.{used[0]}" if used else ""
    changing = CHANGING.get(getattr(value, "__module__", None) or "", set())
    if isinstance(value, type):  # datetime.datetime
        used = sorted(names & changing)
        return f"{name}.{used[0]}" if used else ""
    return name if getattr(value, "__name__", "") in changing else ""


def _is_loaded(code: types.CodeType, name: str) -> bool:
    """Whether a name stands for itself in a function, and not only behind a dot."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return any(
        step.argval == name and step.opname in ("LOAD_GLOBAL", "LOAD_DEREF")
        for step in dis.get_instructions(code)
    ) or any(_is_loaded(part, name) for part in inner)
