"""The reference of the game language: language.txt, and lists of signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rollwise
from rollwise import bits, boards, dice
from rollwise.game import Game

NOT_WRITTEN = {  # by a sheet
    *("chase", "contest", "with_score", "with_beliefs", "within", "average", "cube"),
    *("derive", "base_graph", "verdicts", "policies"),
    *("numbered", "with_names", "swapped", "has_kind", "text_board"),
}
ARGUMENTS = {  # of hooks whose signature leaves them open
    "actions": "s[, throw]",
    "outcomes": "s[, throw], action",
    "reward": "s[, throw], action",
    "duration": "s[, throw], action",
    "action_text": "s[, throw], action",
    "deed": "s[, throw], action",
    "told": "s[, throw], action, then, after[, faces]",
    "final": "s[, throw], action, faces",
    "throw": "s[, throw], action",
    "fallen": "s[, throw], action, faces",
    "features": "s[, throw]",
    "action_features": "s[, throw], action",
}
RULES = ("start", "roots", "throws", "actions", "outcomes", "hidden", "deal", "together", "reward",
         "duration", "progress", "validate")  # fmt: skip
ENDS = (
    "payoff",
    "won_by",
    "shared",
    "shared_by",
    "payoffs",
    "last_left",
    "skip",
    "turned",
    "next_in",
    "replaced",
)
MARKS = ("parameter", "policy")
ATTRIBUTE = re.compile(r"^(\w+) : .*\n((?:    .*\n?)+)", re.M)

HEAD = Path(__file__).with_name("language.txt").read_text(encoding="utf-8")


def page(example: str) -> str:
    """The whole page; `example` is the text of a rule sheet."""
    hooks = {
        name: function
        for name, function in vars(Game).items()
        if inspect.isfunction(function) and not name.startswith("_") and name not in NOT_WRITTEN
    }
    words = [name for name in hooks if name not in RULES]
    parts = {
        "EXAMPLE": example,
        "RULES": _list({name: hooks[name] for name in RULES}),
        "WORDS": _list({name: hooks[name] for name in words}),
        "ATTRIBUTES": _attributes(),
        "ENDS": _list({name: getattr(rollwise, name) for name in ENDS}),
        "MARKS": _list({name: getattr(rollwise, name) for name in MARKS}),
        "DICE": _list(_functions(dice), "dice."),
        "BITS": _list(_functions(bits), "bits."),
        "BOARDS": _list(_functions(boards), "boards."),
    }
    return re.sub(r"@([A-Z]+)@", lambda found: parts[found[1]], HEAD)


def _functions(module: Any) -> dict[str, Callable[..., Any]]:
    """The public functions that a module defines."""
    return {
        name: function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and name not in NOT_WRITTEN
        and function.__module__ == module.__name__
    }


def _list(functions: dict[str, Callable[..., Any]], before: str = "") -> str:
    return "\n".join(
        f"- `{before}{name}({_arguments(name, function)})`: {_about(function)}"
        for name, function in functions.items()
    )


def _arguments(name: str, function: Callable[..., Any]) -> str:
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    texts = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind == parameter.KEYWORD_ONLY and not any("*" in text for text in texts):
            texts.append("*")
        star = "*" if parameter.kind == parameter.VAR_POSITIONAL else ""
        has_default = parameter.default is not parameter.empty
        texts.append(star + parameter.name + (f"={parameter.default!r}" if has_default else ""))
    return ", ".join(texts)


def _about(function: Callable[..., Any]) -> str:
    """The first paragraph of a docstring."""
    return _line((inspect.getdoc(function) or "").partition("\n\n")[0])


def _attributes() -> str:
    text = (inspect.getdoc(Game) or "").partition("Attributes\n----------\n")[2]
    found = ATTRIBUTE.findall(text + "\n")
    return "\n".join(
        f"- `{name}`: {_line(about).partition('. ')[0].rstrip('.')}." for name, about in found
    )


def _line(text: str) -> str:
    joined = " ".join(text.split()).replace("|", "\\|").removesuffix(":")
    return re.sub(r"(?<!`)`(\w+(?:\.\w+)*)`(?!`)", r"`\1`", joined).replace("``", "`")
