"""Between a session and its record: which game was played, playing it again, writing it down."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rollwise.coach.game_record import (
    FORMAT,
    Record,
    RecordError,
    as_word,
    players_text,
    split_move,
)
from rollwise.coach.session import Session
from rollwise.coach.table import Table
from rollwise.errors import ParameterError, UnknownGame, UsageError
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.graph import title_of
from rollwise.graph.policies import Policy
from rollwise.parameters import parameter_specs


def agreed_game(
    records: Sequence[Record], kind: type[Game] | None, values: Mapping[str, str]
) -> Game:
    """The game that records were played at, as they and the user say.

    Parameters
    ----------
    records : sequence of Record
        What they say of the game and its parameters counts.
    kind : type of Game, optional
        What the user says. Without it the records must name a game that is installed:
        a file isn't asked for rules, which would be run.
    values : mapping
        Parameters that the user gives, as text. They may add to the records, and not
        contradict them.

    Raises
    ------
    RecordError
        They don't agree, or don't say; names the line.
    """
    if kind is None:
        kind = _named_kind(records[0])
    specs = {spec.name: spec for spec in parameter_specs(kind)}
    for name, text in values.items():
        if name not in specs:
            create(kind, values)  # which says so
        specs[name].parse(kind.name, text)
    games = [_game_of(record, kind, values) for record in records]
    for record, game in zip(records, games, strict=True):
        if _title(game) != _title(games[0]):
            raise RecordError(
                f"{record.where}: this is a game of {_title(game)}, and the one in "
                f"{records[0].where} of {_title(games[0])}; games that are reviewed together are "
                "of one kind: review these apart"
            )
    return games[0]


def agreed_form(records: Sequence[Record], **asked: Any) -> dict[str, Any]:
    """How the game was played: as a chase, a contest, or (empty) as it is.

    Parameters
    ----------
    **asked
        What the user says: chase, contest, target, ties; None or False where nothing.

    Raises
    ------
    RecordError
        The records and the user don't agree; names the line.
    """
    asked = {name: value for name, value in asked.items() if value not in (None, False)}
    kept = records[0].form
    for record in records:
        if record.form != kept:
            raise RecordError(
                f"{record.where}: this game was played {_form_text(record.form)}, and the one in "
                f"{records[0].where} {_form_text(kept)}; review them apart"
            )
    if not kept and "rules" not in records[0].headers:
        return asked  # written by hand, where nobody says so
    for name, value in asked.items():
        if kept.get(name) != value:
            raise RecordError(
                f"{records[0].where}: this game was played {_form_text(kept)}; leave --{name} out"
            )
    return kept


def _form_text(form: Mapping[str, Any]) -> str:
    if not form:
        return "neither as a chase nor as a contest"
    kind = "a chase" if "chase" in form else "a contest"
    told = [f"{name} {form[name]}" for name in ("target", "ties") if form.get(name) is not None]
    return f"as {kind} with {' and '.join(told)}"


def _named_kind(record: Record) -> type[Game]:
    name = record.game
    if name is None:
        raise RecordError(
            f"{record.where}: there is no line @game; say which game it is, as in "
            f"rollwise review pig {record.source}"
        )
    if ".py" not in name:
        try:
            return find(name)
        except UnknownGame:
            pass
    raise RecordError(
        f"{record.where}: the game {name!r} isn't installed; say which rules it has, as in "
        f"rollwise review rules.py:ClassName {record.source}"
    )


def _game_of(record: Record, kind: type[Game], values: Mapping[str, str]) -> Game:
    name = record.game
    if name is not None and not _is_named(kind, name):
        raise RecordError(f"{record.where}: this is a game of {name}, not of {kind.name}")
    kept = record.parameters
    specs = {spec.name: spec for spec in parameter_specs(kind)}
    try:
        game = create(kind, {**values, **kept})
        for name in values.keys() & kept.keys():
            asked = specs[name].parse(kind.name, values[name])
            if asked != getattr(game, name):
                raise RecordError(
                    f"{record.where}: this game was played with {name}={kept[name]}, not "
                    f"{name}={values[name]}; leave {name} out"
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


def _title(game: Game) -> str:
    return title_of(game.name, game.parameters)


def replay(
    record: Record,
    table: Table,
    *,
    policies: Sequence[Policy | None] | None = None,
) -> Session:
    """Play a written game again.

    Raises
    ------
    RecordError
        A move can't have happened; names the line and the reason.
    """
    graph = table.graph
    rules = record.headers.get("rules")
    if rules is not None and rules != graph.content_hash:
        raise RecordError(
            f"{record.where}: this game was kept under other rules than those of {graph.title}: "
            "the rule sheet has changed since (leave out the line @rules to read it all the same)"
        )
    seed = record.headers.get("seed", "0")
    if not re.fullmatch("[0-9]{1,30}", seed):
        raise RecordError(f"{record.where}: {seed!r} is no seed")
    names = _names(record, graph.players)
    session = Session(
        table, names, [None] * len(names) if policies is None else policies, seed=int(seed)
    )
    for line, player, move in record.moves:
        try:
            if session.is_over:
                raise UsageError("the game is over already")
            if player != session.mover:
                raise UsageError(f"it is {session.mover}'s turn, not {player}'s")
            action, number, faces = read_move(table, session.state, move)
            session.choose(action)
            session.fall(number, faces, line=line)
        except UsageError as error:
            raise RecordError(f"{record.source}, line {line}: {error}") from error
    return session


def _names(record: Record, players: int) -> list[str]:
    names = record.players
    if len(names) > players:
        raise RecordError(
            f"{record.where}: {', '.join(names)} play, but the game has "
            f"{players} player{'s' if players > 1 else ''}"
        )
    return [*names, *(f"player {i + 1}" for i in range(len(names), players))]


def read_move(table: Table, state: int, move: str) -> tuple[int, int, tuple[int, ...]]:
    """A written move: the action, the number of its outcome, and the faces of dice.

    Raises
    ------
    UsageError
        It can't be done, or it can't have come of it.
    """
    name, words = split_move(move)
    if name is not None:
        action = table.action_at(state, name)
        return action, *_what_came(table, action, words)
    for split in range(len(words), 0, -1):  # the longest beginning that names an action
        try:
            action = table.action_at(state, " ".join(words[:split]))
        except UsageError:
            continue
        return action, *_what_came(table, action, words[split:])
    table.action_at(state, move)
    raise AssertionError("action_at must have failed")


def _what_came(table: Table, action: int, words: list[str]) -> tuple[int, tuple[int, ...]]:
    name = table.graph.action_text(action)
    outcomes = len(table.outcomes(action))
    if not words:
        if outcomes == 1 and not table.dice(action):
            return 0, ()
        raise UsageError(f"what came of {name!r}? Write the faces of the dice, or #N")
    if len(words) == 1 and re.fullmatch("#[0-9]+", words[0]):
        number = int(words[0][1:])
        if not 1 <= number <= outcomes:
            raise UsageError(f"{name} has the outcomes #1 to #{outcomes}, not {words[0]}")
        return number - 1, ()
    if not all(re.fullmatch("[0-9]+", word) for word in words):
        raise UsageError(f"{' '.join(words)!r} after {name!r} isn't what dice show")
    if not table.dice(action):
        raise UsageError(
            f"{name} throws no dice that rollwise can read; write the outcome as #1 to #{outcomes}"
        )
    faces = tuple(int(word) for word in words)
    return table.fall_of(action, faces), faces


def written(session: Session, headers: Mapping[str, str] | None = None) -> str:
    """A session as text, headers first; `replay` reads it back.

    Parameters
    ----------
    headers : mapping, optional
        What the session doesn't know: ``dice``, and ``target`` and ``ties`` of a chase
        or contest.
    """
    graph = session.table.graph
    policies = ["human" if policy is None else policy.name for policy in session.policies]
    names = [clean_name(name) for name in session.names]
    known = {
        "format": FORMAT,
        "game": _title(session.table.rules),
        "players": players_text(list(zip(names, policies, strict=True))),
        **(headers or {}),
        "rules": graph.content_hash,
        "seed": str(session.seed),
    }
    lines = [f"@{key} {value}" for key, value in known.items()]
    seat = -1
    for entry in session.accounts:
        move = _written_move(session.table, entry.state, entry.action, entry.outcome, entry.faces)
        if entry.seat != seat:
            seat = entry.seat
            lines.append(f"{names[seat]}: {move}")
        else:
            lines[-1] += f", {move}"
    return "\n".join(lines) + "\n"


def clean_name(name: str) -> str:
    """A player's name without what means something in a record."""
    return " ".join(re.sub(r'[:;=@#,"]', " ", name).split()) or "player"


def _written_move(table: Table, state: int, action: int, outcome: int, faces: Sequence[int]) -> str:
    place = table.actions(state).index(action)
    name = " ".join(table.graph.action_texts(state)[place].split())
    came = "".join(f" {face}" for face in faces)
    if not faces and len(table.outcomes(action)) > 1:
        came = f" #{outcome + 1}"
    move = as_word(name) + came
    try:
        if read_move(table, state, move) == (action, outcome, tuple(faces)):
            return move
    except UsageError:
        pass
    return as_word(name, always=True) + came  # "take 2": a name, or one and what a die shows?
