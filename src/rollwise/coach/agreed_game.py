"""The game of written records, as the records and the user name it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path

from rollwise.coach.game_record import Record, RecordError
from rollwise.derive.forms import split_form
from rollwise.errors import ParameterError, UnknownGame, spelled
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.graph import title_of
from rollwise.parameters import parameter_specs


def agreed_game(
    records: Sequence[Record], kind: type[Game] | None, values: Mapping[str, str]
) -> Game:
    """The game of some records, with the user's parameters.

    Parameters
    ----------
    records : sequence of Record
        They give the game and its parameters.
    kind : type of Game, optional
        The user's choice. By default the records must name an installed game. Rules in a
        file named by records are never run.
    values : mapping
        Parameters given by the user, as text. They may add to the records, but not
        contradict them.

    Raises
    ------
    RecordError
        The records disagree, or name no game; names the line.
    """
    if kind is None:
        kind = _named_kind(records[0])
    inner = split_form(kind, values)[0] if "as" in values else values
    specs = {spec.name: spec for spec in parameter_specs(kind)}
    for name, text in inner.items():
        if name not in specs:
            create(kind, values)  # raises the error
        specs[name].parse(kind.name, text)
    games = [_game_of(record, kind, values) for record in records]
    for record, game in zip(records, games, strict=True):
        if title(game) != title(games[0]):
            raise RecordError(
                f"{record.where}: this is a game of {title(game)}, and the one in "
                f"{records[0].where} of {title(games[0])}; games that are reviewed together are "
                "of one kind: review these apart"
            )
    return games[0]


def _named_kind(record: Record) -> type[Game]:
    name = record.game
    if name is None:
        say = spelled(
            python="give its class as `kind`",
            command_line=f"say which game it is, as in rollwise review pig {record.source}",
        )
        raise RecordError(f"{record.where}: there is no line @game; {say}")
    if ".py" not in name:
        try:
            return find(name)
        except UnknownGame:
            pass
    say = spelled(
        python="give its class as `kind`",
        command_line="say which rules it has, as in "
        f"rollwise review rules.py:ClassName {record.source}",
    )
    raise RecordError(f"{record.where}: the game {name!r} isn't installed; {say}")


def _game_of(record: Record, kind: type[Game], values: Mapping[str, str]) -> Game:
    name = record.game
    if name is not None and not _is_named(kind, name):
        raise RecordError(f"{record.where}: this is a game of {name}, not of {kind.name}")
    kept = record.parameters
    if "as" in values and "as" not in kept and "rules" in record.headers:
        raise RecordError(
            f"{record.where}: this game was played neither as a chase nor as a contest; leave "
            f"as={values['as']} out"
        )
    try:
        game = create(kind, {**values, **kept})
        for name in values.keys() & kept.keys():
            text = values[name]
            if text != kept[name] and create(kind, {**values, **kept, name: text}) != game:
                raise RecordError(
                    f"{record.where}: this game was played with {name}={kept[name]}, not "
                    f"{name}={text}; leave {name} out"
                )
    except ParameterError as error:
        raise RecordError(f"{record.where}: {error}") from error
    return game


def _is_named(kind: type[Game], name: str) -> bool:
    """Whether a game goes by this name, or by this path of a file of rules."""
    if ".py" not in name:
        return name == kind.name
    path, colon, class_name = name.rpartition(":")
    if colon and path.endswith(".py"):
        return class_name == kind.__name__
    return Path(name).stem == Path(inspect.getfile(kind)).stem


def title(game: Game) -> str:
    """A game and its parameters, as ``@game`` holds them."""
    return title_of(game.name, game.parameters)
