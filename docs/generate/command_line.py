"""The page on the command line: an introduction, then every command as the program declares it."""

from __future__ import annotations

import inspect
import types
import typing
from pathlib import Path
from typing import Any

from typer.models import ArgumentInfo, OptionInfo

INTRODUCTION = """\
# The command line

`rollwise COMMAND GAME [name=value ...] [options]`. Every command says what it takes with `--help`;
this page is made from the same source.

**Games.** GAME is the name of a game that comes with rollwise ([list](games/README.md)), or a
file of yours: `dragon.py` where it holds one game, else `dragon.py:Dragon`.

**Parameters** are written `name=value` after the game: `rollwise solve pig target=50`. A value that
is out of the game's range is refused, and the range told. `rollwise games` lists them all.

**Forms** make another game of a solitaire game, and are written like parameters. `as=chase
target=7` is played to reach a score (`ties=win`, `draw` or `lose`: what exactly that score counts
as). `as=contest` lets two players take a whole turn each, and the better score wins (`ties=shared`,
`first` or `win-or-tie`). `as=score` keeps the points made so far in the states. `solve` also takes
`as=contest players=N` and `as=blind`, a contest of two who don't see each other's score.

**States** are written with every field once: `--state banked=50,rival=50,turn=20`.

**Policies**, wherever one is asked for, are `random`, a policy written beside the game's rules
(`hold-at-20`), or a table in a `.csv` or `.parquet` file: a column for each field of the state,
one named `action`, and `probability` where it mixes. What `rollwise table GAME --out mine.csv`
writes is such a table. Where the help says so, also `optimal`, `longest` and `shortest` (what all
do who want the game to last, or to end), a learner that `learn --save` kept (`.npz`), a rule of
thumb that `thumb --save` kept or you wrote (`.json`), and mixtures such as
`0.9*optimal+0.1*random`.

**Output.** What was asked for goes to stdout, and nothing else does. With `--json` that is one JSON
document; numbers that there aren't (an infinite bound, a value that a method didn't find) are
`null`. Progress bars and warnings go to stderr, bars only if that is a terminal. Files are written
all at once or not at all.

**Exit codes.**

| code | meaning |
|---|---|
| 0 | done |
| 1 | a right request that failed: a method gave up, a tolerance was missed, `check` found errors |
| 2 | wrong use: an unknown game, a value out of range, faulty rules; one line says what to do |
| 130 | stopped by Ctrl-C |

**Ctrl-C** stops at once, but for what plays games: `learn` and `simulate` end after the game in
hand and give what they have, `thumb` prints the rules that it has found, and `play` keeps the game
and prints how to go on with it.
"""


def page() -> str:
    """The whole page, in Markdown."""
    from rollwise.cli.app import GROUPS, all_functions

    commands = all_functions()
    lines = [INTRODUCTION, "## The commands", "", "| purpose | command | |", "|---|---|---|"]
    for group, listed in GROUPS.items():
        for name in (one for main, related in listed.items() for one in (main, *related)):
            about = _cell(_first_line(commands[name]))
            lines.append(f"| {group.lower()} | [`{name}`](#{name}) | {about} |")
    for name, function in sorted(commands.items()):
        lines += ["", *_section(name, function)]
    return "\n".join(lines) + "\n"


def _section(name: str, function: Any) -> list[str]:
    """A command from its function's signature, which is what Typer reads too."""
    hints = typing.get_type_hints(function, include_extras=True)
    words, rows = ["rollwise", name], []
    for key, parameter in inspect.signature(function).parameters.items():
        if not typing.get_args(hints[key]):  # the context, which Typer gives
            continue
        kind, info = typing.get_args(hints[key])
        text = _cell(info.help)
        if isinstance(info, ArgumentInfo):
            words.append(str(info.metavar))
            rows.append(f"| `{info.metavar}` | {text} | |")
            continue
        flags = "`, `".join(_flags(key, info))
        takes = _takes(kind, info)
        rows.append(f"| `{flags}{takes}` | {text} | {_default(parameter.default)} |")
    about = (inspect.getdoc(function) or "").strip()
    usage = " ".join(words)
    head = [f"### {name}", "", about, "", f"`{usage} [options]`", ""]
    return [*head, "| | | unless given |", "|---|---|---|", *rows]


def _flags(key: str, info: OptionInfo) -> list[str]:
    """What an option is called; Typer takes the first of its names for its default."""
    named = isinstance(info.default, str) and info.default.startswith("-")
    names = [info.default] * named + list(info.param_decls) or [f"--{key.replace('_', '-')}"]
    return [name for declared in names for name in declared.split("/")]


def _takes(kind: Any, info: OptionInfo) -> str:
    """What follows an option, as `` N``; nothing after a switch."""
    kinds = [one for one in typing.get_args(kind) if one is not type(None)]
    one = kinds[0] if isinstance(kind, types.UnionType) else kind
    if one is bool:
        return ""
    if typing.get_origin(one) is list:
        (one,) = typing.get_args(one)
    words = {int: "N", float: "X", str: "WORD", Path: "FILE"}
    return f" {info.metavar or words[one]}"


def _default(default: Any) -> str:
    if default is ... or default is inspect.Parameter.empty:
        return "(needed)"
    return "" if default in (None, False) else f"`{default}`"


def _first_line(function: Any) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")
