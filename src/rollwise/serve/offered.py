"""The games that a server offers, which are fixed when it starts: no request names a file."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rollwise.errors import ForMorePlayers, RollwiseError, UnknownGame, UsageError
from rollwise.game import Game
from rollwise.games import available, create, find
from rollwise.graph.naming import title_of

Key = tuple[str, tuple[tuple[str, str], ...]]  # a game and its parameters, as typed


@dataclass(frozen=True)
class Offered:
    """Games by name, and the saved solutions that are used for them.

    Attributes
    ----------
    kinds : dict
        The rules, by the name of the game.
    references : dict
        What a worker finds the same rules by.
    saved : dict
        Files of solutions, and folders of layers.
    """

    kinds: dict[str, type[Game]]
    references: dict[str, str]
    saved: dict[Key, Path] = field(default_factory=dict)

    def game(self, name: str, values: dict[str, str]) -> Game:
        """The game that a request asks for.

        Raises
        ------
        UnknownGame, ParameterError
        ForMorePlayers
            It is for three or more.
        """
        if name not in self.kinds:
            raise UnknownGame(f"no game is called {name!r} here (/api/games lists them)")
        game = create(self.kinds[name], values)
        _require_two(game, title_of(name, game.parameters))
        return game


def _require_two(game: Game, typed: str) -> None:
    """Refuse a game of three or more players, and say where such games are played."""
    if game.players > 2:
        raise ForMorePlayers(
            f"{typed} is a game for {game.players}, and games in a browser are for one or two; "
            f"`rollwise play {typed}` plays it in a terminal, and `rollwise report {typed} --out "
            "FILE.html` writes a page about it",
            game,
        )


def key_of(game: Game) -> Key:
    """What tells this game from others, and from the same with other parameters."""
    return game.name, tuple(sorted((name, str(x)) for name, x in game.parameters.items()))


def offer(names: Sequence[str], solutions: Path | None = None) -> Offered:
    """The games of these names; without any, the gallery and the rule sheets of this folder.

    Raises
    ------
    UnknownGame, UsageError
        A game can't be read, or two have the same name.
    """
    references = list(names) or [*available(), *own_sheets(Path())]
    kinds: dict[str, type[Game]] = {}
    known: dict[str, str] = {}
    for reference in references:
        if "=" in reference and not reference.endswith(".py"):
            raise UsageError(
                f"{reference} isn't a game; parameters are chosen in the browser, so name the "
                "games alone, as in rollwise serve pig. Games for three or more aren't served: "
                "`rollwise play pig players=3` plays them in a terminal"
            )
        kind = find(reference)
        if kinds.get(kind.name, kind) is not kind:
            raise UsageError(
                f"{known[kind.name]} and {reference} have the same name, {kind.name!r}; "
                "name the games to serve, as in rollwise serve pig"
            )
        if isinstance(kind.players, int) and kind.players > 2:
            if not names:
                continue  # nobody asked for this one
            _require_two(create(kind, {}), reference)
        kinds[kind.name] = kind
        path, colon, class_name = reference.rpartition(":")
        known[kind.name] = f"{Path(path).resolve()}:{class_name}" if colon else reference
    saved = {} if solutions is None else _saved(solutions, kinds)
    return Offered(kinds, known, saved)


def own_sheets(folder: Path) -> list[str]:
    """The rule sheets of a folder: files with a class that is derived from ``Game``."""
    found = []
    for path in sorted(folder.glob("*.py")):
        with contextlib.suppress(SyntaxError, ValueError, OSError):
            for node in ast.parse(path.read_bytes()).body:
                if isinstance(node, ast.ClassDef) and any(map(_is_game, node.bases)):
                    found.append(f"{path}:{node.name}")
    return found


def _is_game(base: ast.expr) -> bool:
    return getattr(base, "id", getattr(base, "attr", "")) == "Game"


def _saved(folder: Path, kinds: dict[str, type[Game]]) -> dict[Key, Path]:
    """The solutions of a folder that are of these games: files, and folders of layers.

    All else in it is left alone.
    """
    from rollwise.answer.layer_folder import read_manifest
    from rollwise.answer.storage import read_facts, typed_parameters

    if not folder.is_dir():
        raise UsageError(f"--solutions {folder}: there is no such folder")
    found = {}
    for path in sorted(folder.iterdir()):
        if not path.is_dir() and path.suffix != ".parquet":
            continue
        with contextlib.suppress(RollwiseError):
            facts = read_manifest(path) if path.is_dir() else read_facts(path)
            if facts["game"] in kinds:
                game = create(kinds[facts["game"]], typed_parameters(facts))
                found[key_of(game)] = path.resolve()
    return found
