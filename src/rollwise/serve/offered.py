"""The games of a server, fixed at its start: no request names a file."""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rollwise.documents.games import games_document
from rollwise.documents.model import encode
from rollwise.errors import RollwiseError, UnknownGame, UsageError
from rollwise.faults import PASSED_ON, fault_text
from rollwise.game import Game
from rollwise.games import available, create, find, names_a_file

Key = tuple[str, tuple[tuple[str, str], ...]]  # a game and its parameters, as typed


@dataclass(frozen=True)
class Offered:
    """Games by name, and saved solutions of them.

    Attributes
    ----------
    kinds : dict
        The rules, by the name of the game.
    references : dict
        References to the same rules, for a worker.
    saved : dict
        Files of solutions, and folders of layers.
    faults : dict
        The errors of rule sheets that are left out, by file and class.
    names : sequence of str
        The arguments of `offer`.
    """

    kinds: dict[str, type[Game]]
    references: dict[str, str]
    saved: dict[Key, Path] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    names: Sequence[str] = ()
    _stamps: dict[Path, float] = field(default_factory=dict)

    @property
    def own(self) -> list[str]:
        """The names of the games with rule sheets of their own."""
        return [name for name, reference in self.references.items() if names_a_file(reference)]

    def refresh(self) -> list[str]:
        """Read changed rule sheets again; the names of games with other rules than before."""
        stamps = _stamps(self.names)
        if stamps == self._stamps:
            return []
        before = dict(self.kinds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the start page shows the faults
            kinds, known, faults = _entered(self.names, is_start=False)
        for held in (self.kinds, self.references, self.faults, self._stamps):
            held.clear()
        self.kinds.update(kinds)
        self.references.update(known)
        self.faults.update(faults)
        self._stamps.update(stamps)
        return [name for name, kind in before.items() if _rules(kinds.get(name)) != _rules(kind)]

    def game(self, name: str, values: dict[str, str]) -> Game:
        """The game of a request.

        Raises
        ------
        UnknownGame, ParameterError
        """
        if name not in self.kinds:
            raise UnknownGame(f"no game is called {name!r} here (/api/games lists them)")
        return create(self.kinds[name], values, rated=False)


def key_of(game: Game) -> Key:
    """A key of the game and its parameters."""
    return game.name, tuple(sorted((name, str(x)) for name, x in game.parameters.items()))


def offer(names: Sequence[str], solutions: Path | None = None) -> Offered:
    """The games of these names; without any, the rule sheets of this folder and the gallery.

    An unreadable rule sheet of this folder, or one with the name of another one, is omitted
    with a warning, and the start page shows its error. A game of the gallery gives way to a rule
    sheet with its name.

    Raises
    ------
    UnknownGame, UsageError
        An unreadable game, or two of the same name.
    """
    kinds, known, faults = _entered(names, is_start=True)
    saved = {} if solutions is None else _saved(solutions, kinds)
    return Offered(kinds, known, saved, faults, names, _stamps(names))


def _entered(
    names: Sequence[str], *, is_start: bool
) -> tuple[dict[str, type[Game]], dict[str, str], dict[str, str]]:
    """The rules and references of games by name, and the faults of omitted rule sheets."""
    kinds: dict[str, type[Game]] = {}
    known: dict[str, str] = {}
    faults: dict[str, str] = {}
    for reference in names or (*own_sheets(Path()), *available(), *available(hidden=True)):
        if reference in kinds:  # a rule sheet has the name of this game
            continue
        try:
            _enter(reference, kinds, known)
        except RollwiseError as error:
            if names and is_start:
                raise
            faults[reference] = " ".join(str(error).split())
            warnings.warn(f"{reference} is left out: {error}", stacklevel=2)
    return kinds, known, faults


def _rules(kind: type[Game] | None) -> tuple[str, str]:
    """The module of a game, whose name is made from the contents of its file, and its class."""
    return ("", "") if kind is None else (kind.__module__, kind.__qualname__)


def _stamps(names: Sequence[str]) -> dict[Path, float]:
    """The times of the last changes of all rule sheets."""
    files = [Path(name.rpartition(":")[0] or name) for name in names if names_a_file(name)]
    found = {}
    for path in files or (() if names else Path().glob("*.py")):
        with contextlib.suppress(OSError):
            found[path.resolve()] = path.stat().st_mtime
    return found


def _enter(reference: str, kinds: dict[str, type[Game]], known: dict[str, str]) -> None:
    """Register a game, and its reference for a worker."""
    if "=" in reference and not reference.endswith(".py"):
        raise UsageError(
            f"{reference} isn't a game; parameters are chosen in the browser, so name the "
            "games alone, as in rollwise serve pig"
        )
    kind = find(reference)
    _require_listed(kind, reference)
    name = kind.name
    if kinds.get(name, kind) is not kind:
        raise UsageError(
            f"{known[name]} and {reference} have the same name, {name!r}; "
            "name the games to serve, as in rollwise serve pig"
        )
    kinds[name] = kind
    path, colon, class_name = reference.rpartition(":")
    known[name] = f"{Path(path).resolve()}:{class_name}" if colon else reference


def _require_listed(kind: type[Game], reference: str) -> None:
    """Refuse a game without a valid description for the list of games."""
    try:
        encode(games_document([kind]))
        if not isinstance(kind.name, str):
            raise TypeError("its name isn't a text")
    except PASSED_ON:
        raise
    except Exception as error:
        raise UnknownGame(f"{reference} can't be listed: {fault_text(error)}") from error


def own_sheets(folder: Path) -> list[str]:
    """The rule sheets of a folder: files with a subclass of ``Game``, or that can't be parsed."""
    found = []
    for path in sorted(folder.glob("*.py")):
        text = b""
        with contextlib.suppress(OSError):
            text = path.read_bytes()
        try:
            # a sheet is recognized by its text: nothing of it runs before it is offered
            body = ast.parse(text).body
        except (SyntaxError, ValueError):
            found += [str(path)] if b"(Game)" in text else []
            continue
        for node in body:
            if isinstance(node, ast.ClassDef) and any(map(_is_game, node.bases)):
                found.append(f"{path}:{node.name}")
    return found


def _is_game(base: ast.expr) -> bool:
    return getattr(base, "id", getattr(base, "attr", "")) == "Game"


def _saved(folder: Path, kinds: dict[str, type[Game]]) -> dict[Key, Path]:
    """The solutions of these games in a folder: files, and folders of layers.

    Other files are ignored.
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
