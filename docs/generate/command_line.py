"""The page on the command line: an introduction, and the purpose and options of each command."""

from __future__ import annotations

import inspect
import types
import typing
from collections import Counter
from pathlib import Path
from typing import Any

from typer.models import ArgumentInfo, OptionInfo

OFTEN = 3  # commands have an option that is common

INTRODUCTION = """\
# Which commands and options are there?

Type `rollwise COMMAND GAME [NAME=VALUE]... [options]`. `rollwise --help` lists commands by purpose,
`rollwise help COMMAND` explains all options of a command.

- **GAME** is the name of a [game](games/README.md), a [model](models.md), or a file of your own:
  `dragon.py`, or `dragon.py:Dragon` if the file has several games. A rule sheet may import modules
  beside it. [Recorded games](records.md) name their game, unless its rules are in a file of yours.
- **Parameters** follow the game: `rollwise solve pig target=50`. `rollwise games GAME` lists them
  with their defaults, ranges and meanings.
- **Forms** make another game. `as=chase target=7` reaches a score, `as=contest` is a contest of
  two; `solve` also takes `as=contest players=N` and `as=blind`, a simultaneous contest
  ([scores](threes.md)). `as=score` keeps the points made so far in the state. `as=within turns=10`
  wins within ten turns, those of both players counted. `as=cube` adds a
  [doubling cube](faq.md#how-do-i-play-for-a-stake-with-a-doubling-cube).
- **States** name every field: `--state banked=50,rival=50,turn=20`.
- **Policies** are `optimal`, `random`, a policy of the rule sheet (`hold-at-20`), a table
  (`.csv` or `.parquet` with the fields of the state, `action`, and `probability` if it mixes), an
  array of actions or Q-values (`.npy`), a saved learner (`.npz`), a rule of thumb (`.json`), or a
  mixture: `0.9*optimal+0.1*random`. With `longest` and `shortest` all players prolong or shorten
  the game. Games with hidden dice have `optimal`, `random` and the policies of the rule sheet.
- **Output** goes to stdout, warnings and progress bars to stderr. `--json` prints one
  [document](json.md); `help`, `new`, `schema` and `serve` have none. Files are written completely
  or not at all.
- **Kept answers.** rollwise keeps graphs and answers in the user's cache folder. "Kept from" marks
  them, `--no-cache` ignores them, and `rollwise cache` lists or clears them. The environment
  variable `ROLLWISE_CACHE_DIR` names another folder; `ROLLWISE_NO_CACHE=1` stands for `--no-cache`.
- **Exit codes**: 0 success; 1 a correct request failed (a method gave up, a tolerance was missed,
  `check` found errors); 2 wrong use, with one line of advice; 130 stopped by Ctrl-C.
- **Ctrl-C** ends a command. `simulate`, `thumb` and `tune` print their results so far, `drill` its
  tally; `learn --save FILE` keeps the games played; `play` saves the game and prints how to resume
  it (not a game with hidden dice or simultaneous choices).
"""


def page() -> str:
    """The whole page, in Markdown."""
    from rollwise.cli.app import GROUPS, all_functions, of_all_commands

    commands = all_functions()
    times = Counter(line for function in commands.values() for line in _options(function).values())
    often = sorted(line for line, number in times.items() if number >= OFTEN)
    common = [line for line in often if line.startswith("- `-")]  # no arguments
    lines = [
        INTRODUCTION,
        "## Options of all commands",
        "",
        *_options(of_all_commands).values(),
        "",
    ]
    lines += ["## Common options", "", *common, "", "## Commands", ""]
    for group, listed in GROUPS.items():
        names = [one for main, related in listed.items() for one in (main, *related)]
        lines.append(f"- {group}: {', '.join(f'[{name}](#{name})' for name in names)}")
    for name, function in sorted(commands.items()):
        text = (inspect.getdoc(function) or "").strip()
        rows = _options(function).values()
        usage = [row.partition("`:")[0].removeprefix("- ") + "`" for row in rows]
        usage = [one for one in usage if one not in ("`GAME`", "`[NAME=VALUE]...`")]
        usage.sort(key=lambda one: one.startswith("`-"))  # arguments first
        lines += ["", f"### {name}", "", text, *(["", ", ".join(usage)] if usage else [])]
    return "\n".join(lines) + "\n"


def _options(function: Any) -> dict[str, str]:
    """The line of each argument and option of a command, by its flags."""
    hints = typing.get_type_hints(function, include_extras=True)
    lines = {}
    for key, parameter in inspect.signature(function).parameters.items():
        if not typing.get_args(hints[key]):  # the context, which Typer gives
            continue
        kind, info = typing.get_args(hints[key])
        if isinstance(info, ArgumentInfo):
            flags, takes = [str(info.metavar)], ""
        else:
            flags, takes = _flags(key, info), _takes(kind, info)
        default = "" if isinstance(info, ArgumentInfo) else _default(parameter.default)
        line = f"- `{'`, `'.join(flags)}{takes}`: {_text(info.help)}{default and f' ({default})'}"
        lines["`, `".join(flags)] = line
    return lines


def _flags(key: str, info: OptionInfo) -> list[str]:
    """What an option is called; Typer takes the first of its names for its default."""
    named = isinstance(info.default, str) and info.default.startswith("-")
    names = [info.default] * named + list(info.param_decls) or [f"--{key.replace('_', '-')}"]
    return [name for declared in names for name in declared.split("/")]


def _takes(kind: Any, info: OptionInfo) -> str:
    """The value of an option, as `` N``; empty for a switch."""
    kinds = [one for one in typing.get_args(kind) if one is not type(None)]
    one = kinds[0] if isinstance(kind, types.UnionType) else kind
    if one is bool:
        return ""
    if typing.get_origin(one) is list:
        (one,) = typing.get_args(one)
    words = {int: "N", float: "X", str: "TEXT", Path: "FILE"}
    return f" {info.metavar or words[one]}"


def _default(default: Any) -> str:
    if default is ... or default is inspect.Parameter.empty:
        return "needed"
    return "" if default in (None, False) else f"default `{default}`"


def _text(text: str | None) -> str:
    return " ".join((text or "").split()).removesuffix(".")
