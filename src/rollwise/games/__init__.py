"""The rule sheets, one game a file, and the look-up of games by name.

Every `Game` defined in a module of this package is available under its name. Other
distributions register games under the entry point group ``rollwise.games``.
``path/to/file.py:ClassName`` names a game in a file, and a path ending in ``.drn``, ``.tra`` or
``.umb`` a model of another tool.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
import os
import pkgutil
import re
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rollwise.errors import ClusterError, ParameterError, UnknownGame, suggestion
from rollwise.faults import PASSED_ON, fault_text, one_line, shown
from rollwise.game import Game, with_an_end
from rollwise.hooks import HOOKS
from rollwise.machine.atomic_files import require_file
from rollwise.parameters import parameter_specs, with_remedy
from rollwise.then import THEN_NAMES

MODELS = (".drn", ".tra", ".umb")  # endings of files with models of other tools
READ = "rollwise_rules_"  # begins the names of modules that were read from files


def available(hidden: bool = False) -> dict[str, type[Game]]:
    """All games by name, in alphabetical order.

    Parameters
    ----------
    hidden : bool
        Games with hidden dice or simultaneous choices (`rollwise.hidden`), and not the others.
    """
    games: dict[str, type[Game]] = {}
    from importlib.metadata import entry_points  # takes longer than all the rest

    for entry in entry_points(group="rollwise.games"):
        try:
            cls = entry.load()
        except PASSED_ON:
            raise
        except BaseException as error:
            warnings.warn(f"the game {entry.value} is left out: {fault_text(error)}", stacklevel=2)
        else:
            games[cls.name] = cls
    for module in pkgutil.iter_modules(__path__):
        games |= _own(module.name)
    return {name: cls for name, cls in sorted(games.items()) if cls.has_secrets() == hidden}


def _own(module: str) -> dict[str, type[Game]]:
    """The games of a module of this package, by name."""
    games = _games_of(importlib.import_module(f"{__name__}.{module}"))
    return {cls.name: cls for cls in games if cls.start is not Game.start}  # no bases of others


@functools.cache
def _of_this_package(name: str) -> type[Game] | None:
    """A game of this package. Modules without its name, or such a class, are not loaded."""
    modules = {info.name for info in pkgutil.iter_modules(__path__)}
    module = name.replace("-", "_")
    if module in modules and (game := _own(module).get(name)) is not None:
        return game
    for module in sorted(modules):
        text = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8").lower()
        is_in = name in text or name.replace("-", "") in text  # a class TwoDicePig is two-dice-pig
        if is_in and (game := _own(module).get(name)) is not None:
            return game
    return None


def names_a_file(reference: str) -> bool:
    """Whether a game is given by a path, to rules or to a model."""
    return reference.endswith((".py", *MODELS)) or ".py:" in reference


def find(reference: str | Path) -> type[Game]:
    """The game with this name, or in a file: ``path/to/file.py:game``, or a model.

    Raises
    ------
    UnknownGame
        There is none, or its file can't be read as rules.
    """
    if isinstance(reference, Path):
        reference = str(reference)
    if not isinstance(reference, str):
        raise UnknownGame(f"a game has a name, such as 'pig', or a path, not {shown(reference)}")
    if reference.endswith(MODELS):
        from rollwise.models import find_model

        return find_model(Path(reference))
    path, colon, class_name = reference.rpartition(":")
    if colon and path.endswith(".py"):
        return _in_file(Path(path), class_name)
    if reference.endswith(".py"):
        classes = _games_of(_load(Path(reference)))
        if len(classes) == 1:
            return classes[0]
        if not classes:
            raise UnknownGame(f"{reference} has no game; a game is a class such as class Own(Game)")
        names = ", ".join(cls.__name__ for cls in classes)
        raise UnknownGame(
            f"{reference}: which game? Write {reference}:ClassName (games in it: {names})"
        )
    return find_installed(reference)


def find_installed(name: str) -> type[Game]:
    """The game with this name in this package or another installed distribution.

    Raises
    ------
    UnknownGame
    """
    game = _of_this_package(name)
    if game is not None:
        return game
    games = available() | available(hidden=True)
    if name in games:
        return games[name]
    is_file = os.path.isfile(f"{name}.py")  # also answers names that no file can have
    hint = f"; did you mean {name}.py?" if is_file else suggestion(name, games)
    raise UnknownGame(
        f"no game is called {name!r}{hint} (`rollwise games` lists them; a game in a file "
        "is path/to/file.py:ClassName, and a model of another tool ends in .umb, .drn or .tra)"
    )


@dataclass(frozen=True)
class Sheet:
    """The rules of a game in a form to send to another process.

    Attributes
    ----------
    rules : type of Game, or str
        A class for other processes to import, or ``/path/to/file.py:ClassName`` or a model for them
        to read.
    module : str
        The name of the module of such a file, made from its contents.
    """

    rules: type[Game] | str
    module: str = ""

    @classmethod
    def of(cls, kind: type[Game]) -> Sheet:
        """The sheet of a game."""
        if (file := getattr(kind, "file", None)) is not None:  # a model
            return cls(str(file), kind.__module__.partition(".")[0])
        if not kind.__module__.startswith(READ):
            return cls(kind)
        module = kind.__module__.partition(".")[0]  # a neighbour of it may have the game
        sheet = sys.modules[module]
        qualified = kind.__module__, kind.__qualname__  # equal for a class read twice
        name = next(
            name
            for name, value in vars(sheet).items()
            if inspect.isclass(value) and (value.__module__, value.__qualname__) == qualified
        )
        return cls(f"{Path(str(sheet.__file__)).resolve()}:{name}", module)

    @property
    def kind(self) -> type[Game]:
        """The rules.

        Raises
        ------
        ClusterError
            Their file is missing on this machine, or differs.
        """
        if not isinstance(self.rules, str):
            return self.rules
        path = self.rules.rpartition(":")[0] or self.rules
        if not Path(path).is_file():
            raise ClusterError(
                f"a worker has no file {path}; rules lie at the same path on all machines"
            )
        kind = find(self.rules)
        if kind.__module__.partition(".")[0] != self.module:
            raise ClusterError(
                f"{path} of a worker has other rules than the one here; copy it to all machines"
            )
        return kind


def _in_file(path: Path, name: str) -> type[Game]:
    """The game of a file with this class, or this name."""
    module = _load(path)
    cls = getattr(module, name, None)
    if inspect.isclass(cls) and issubclass(cls, Game):
        return cls
    games = _games_of(module)
    for cls in games:
        if cls.name == name:
            return cls
    names = ", ".join(cls.__name__ for cls in games) or "none"
    raise UnknownGame(f"{path} has no game {name!r} (games in it: {names})")


def _games_of(module: object) -> list[type[Game]]:
    """The games defined in a module, or else the imported games of its neighbours."""
    name = getattr(module, "__name__", "")
    games = [cls for _, cls in inspect.getmembers(module, inspect.isclass) if issubclass(cls, Game)]
    own = [cls for cls in games if cls.__module__ == name]
    return own or [cls for cls in games if cls.__module__.startswith(f"{name}.")]


def _load(path: Path) -> object:
    if not os.path.exists(path):  # also answers names that no file can have
        sheets = [sheet.name for sheet in path.parent.glob("*.py")]
        raise UnknownGame(f"there is no file {path}{suggestion(path.name, sheets)}")
    require_file(path, "a rule sheet", UnknownGame)
    try:
        contents = hashlib.blake2b(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise UnknownGame(f"{path} can't be read: {error.strerror}") from error
    # a changed file is another module, also where the old one is still in use
    name = READ + re.sub(r"\W", "_", f"{path.stem}_{contents}")
    try:
        with contextlib.redirect_stdout(sys.stderr):  # stdout is for the answer of the command
            from rollwise.machine.neighbours import read_file

            return read_file(name, path)
    except SyntaxError as error:
        file = Path(error.filename) if error.filename else path
        where = path if file.name == path.name else f"{path} fails: {file.name}"
        line = f", line {error.lineno}" if error.lineno else ""
        raise UnknownGame(f"{where}{line}: {one_line(str(error.msg))}") from error
    except PASSED_ON:
        raise
    except BaseException as error:
        raise UnknownGame(f"{path} fails: {_with_remedy(fault_text(error))}") from error


def _with_remedy(fault: str) -> str:
    """The error of a rule sheet as it is read, with advice for rules."""
    missing = re.search(r"cannot import name '(\w+)' from '(rollwise[\w.]*)' \(.*?\)", fault)
    if missing:
        names = [name for name in dir(sys.modules[missing[2]]) if not name.startswith("_")]
        hint = suggestion(missing[1], names) or suggestion(missing[1].upper(), names)
        thens = f"; an outcome goes on or ends by {', '.join(THEN_NAMES)}, payoff(x)"
        words = "" if hint or missing[2] != "rollwise" else thens
        return fault.replace(missing[0], f"{missing[2]} has no {missing[1]}{hint}{words}")
    return with_remedy(fault)


def create(cls: type[Game], values: Mapping[str, str], *, rated: bool = True) -> Game:
    """A game with parameters given as text.

    Parameters
    ----------
    values : mapping
        By name. ``as`` names a form of a solitaire game (see `rollwise.derive.forms`).
    rated : bool
        Find the best average of a game without an end, and caps of rising fields, which takes a
        while.

    Raises
    ------
    ParameterError
        There is no such parameter, or the value doesn't fit it.
    """
    form = values.get("as")
    made: Game = HOOKS.create_form(cls, values, _create) if form else _create(cls, values)
    if not rated:
        return made
    made = with_an_end(made)
    is_average = made.objective == "average" or (form == "average" and "rate" not in values)
    return HOOKS.average(made) if is_average else made


def _create(cls: type[Game], values: Mapping[str, str]) -> Game:
    """A game with parameters given as text, without a form."""
    specs = {spec.name: spec for spec in parameter_specs(cls)}
    parsed = {}
    for name, text in values.items():
        if name not in specs:
            names = f"its parameters: {', '.join(specs)}" if specs else "it has none"
            hint = suggestion(name, specs)
            if name in ("target", "ties"):
                hint = f"; a form of a solitaire game has it: as=chase {name}={text}"
            is_number = isinstance(vars(cls).get(name), int | float)
            if is_number or name in getattr(cls, "__annotations__", {}):
                hint = f"; write it in the class as {name}: int = parameter(...)"
            raise ParameterError(f"{cls.name} has no parameter {name!r} ({names}){hint}")
        parsed[name] = specs[name].parse(cls.name, text)
    missing = [spec.name for spec in specs.values() if spec.default is None]
    missing = [name for name in missing if name not in parsed]
    if missing:
        raise ParameterError(f"{cls.name} needs a value for {missing[0]}: {missing[0]}=...")
    try:
        made = cls(**parsed)
        if not isinstance(made, cls):
            raise TypeError(f"{cls.__name__}() gives {shown(made)}, which is no game")
        return made
    except (ParameterError, *PASSED_ON):
        raise
    except BaseException as error:
        given = ", ".join(f"{name}={value}" for name, value in parsed.items())
        raise ParameterError(
            f"{cls.name} can't be made with {given or 'its defaults'}: {fault_text(error)}"
        ) from error
