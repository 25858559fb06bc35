"""Options that the docstring of a command describes, one a line, as its help page shows them.

::

    --games N      How many games are played.
    --best         Also the best chance.

A longer text goes on in the next lines, indented. An option belongs to the parameter of its name.
Types and defaults stand in the signature. A parameter that Typer has to know more of, such as the
least number, is annotated with a `typer.Option` too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

# Texts that several options share; a docstring names them in braces.
POLICIES = (
    "optimal, random, longest, shortest (most, fewest moves), a policy of the game, a .csv or "
    ".parquet table, a file of `learn --save` (.npz), a rule of thumb (.json), or a mixture: "
    "0.9*optimal+0.1*random."
)
AIMS = "score<=N, variance, win (win:first, win:win-or-tie), draw, moves, rolls, or an action."
_SHARED = {"{POLICIES}": POLICIES, "{AIMS}": AIMS}
_OPTION = re.compile(r"(--[\w-]+)(?: (\S+))?(?:  +|$)(.*)")


def describe(function: Callable[..., Any]) -> None:
    """Move the options out of the docstring of a command, to the parameters in its signature.

    Raises
    ------
    KeyError
        A described option has no parameter.
    """
    about, *lines = re.split(r"^(?=--)", inspect.getdoc(function) or "", flags=re.MULTILINE)
    if not lines:
        return
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    names = {flag: name for name, hint in hints.items() for flag in _flags(name, hint)}
    for line in lines:
        found = _OPTION.match(" ".join(line.split("\n")).strip())
        assert found is not None
        flag, metavar, text = found.groups()
        for name, shared in _SHARED.items():
            text = text.replace(name, shared)
        hint = hints[names[flag]]
        kind, option = get_args(hint) if get_origin(hint) is Annotated else (hint, None)
        if option is None:
            is_on = parameters[names[flag]].default is True
            option = typer.Option(f"{flag}/--no-{flag[2:]}" if is_on else flag)
        option.metavar, option.help = metavar, " ".join(text.split())
        function.__annotations__[names[flag]] = Annotated[kind, option]
    function.__doc__ = about.strip()


def _flags(name: str, hint: Any) -> list[str]:
    """The name of an option on the command line; one that is a word of Python ends in a dash."""
    given = [get_args(hint)[1].default] if get_origin(hint) is Annotated else []
    flags = [text for text in given if isinstance(text, str) and text.startswith("--")]
    return flags or ["--" + name.rstrip("_").replace("_", "-")]
