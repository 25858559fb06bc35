"""Between a session and its record: playing a written game again, and writing one down."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rollwise.coach.game_record import (
    FORMAT,
    Record,
    RecordError,
    as_word,
    clean_name,
    players_text,
    split_move,
    title,
)
from rollwise.coach.session import Session
from rollwise.coach.table import Table
from rollwise.errors import UsageError
from rollwise.graph.policies import Policy


def replay(
    record: Record,
    table: Table,
    *,
    policies: Sequence[Policy | str | None] | None = None,
) -> Session:
    """Play a written game again.

    Raises
    ------
    RecordError
        A move can't have happened; names the line and the reason.
    """
    graph = table.graph
    rules = record.headers.get("rules")
    if rules is not None and rules != table.fingerprint:
        raise RecordError(
            f"{record.where}: this game was kept under other rules than those of {graph.title}: "
            "the rule sheet has changed since (to read it all the same, leave out the line @rules, "
            "or in JSON the key rules)"
        )
    seed = record.headers.get("seed", "0")
    if not re.fullmatch("[0-9]{1,30}", seed):
        raise RecordError(f"{record.where}: {seed!r} is no seed")
    names = _names(record, graph.players)
    session = Session(
        table, names, [None] * len(names) if policies is None else policies, seed=int(seed)
    )
    # each move is checked like one at the table, so a record can't break the rules
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
            raise RecordError(f"{record.place_of(line)}: {error}") from error
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
    name = table.graph.view.action(action).name
    outcomes = len(table.outcomes(action))
    if not words:
        if outcomes == 1 and not table.narrator.dice(action):
            return 0, table.narrator.shown(action, 0)
        raise UsageError(f"what came of {name!r}? Write the faces of the dice, or #N")
    if len(words) == 1 and re.fullmatch("#[0-9]+", words[0]):
        number = int(words[0][1:])
        if not 1 <= number <= outcomes:
            raise UsageError(f"{name} has the outcomes #1 to #{outcomes}, not {words[0]}")
        return number - 1, table.narrator.shown(action, number - 1)
    if not all(re.fullmatch("-?[0-9]+", word) for word in words):
        raise UsageError(f"{' '.join(words)!r} after {name!r} isn't a face of a die")
    if not table.narrator.dice(action) and not table.narrator.is_throw(action):
        raise UsageError(
            f"{name} throws no dice that rollwise can read; write the outcome as #1 to #{outcomes}"
        )
    faces = tuple(int(word) for word in words)
    number = table.narrator.fall_of(action, faces)
    return number, table.narrator.shown(action, number) or faces


def written(session: Session, headers: Mapping[str, str] | None = None) -> str:
    """A session as text, headers first; `replay` reads it back.

    Parameters
    ----------
    headers : mapping, optional
        Further headers, such as ``dice``.
    """
    names = [clean_name(name) for name in session.names]
    given = {
        "format": FORMAT,
        "game": title(session.table.game),
        "players": players_text(list(zip(names, policy_names(session), strict=True))),
        **(headers or {}),
        "rules": session.table.fingerprint,
        "seed": str(session.seed),
    }
    lines = [f"@{key} {value}" for key, value in given.items()]
    # moves of one player in a row share a line
    seat = -1
    for entry in session.accounts:
        move = _written_move(session.table, entry.state, entry.action, entry.outcome, entry.faces)
        if entry.seat != seat:
            seat = entry.seat
            lines.append(f"{names[seat]}: {move}")
        else:
            lines[-1] += f", {move}"
    return "\n".join(lines) + "\n"


def policy_names(session: Session) -> list[str]:
    """The player of each seat: the name of a policy, or ``human``."""
    return [
        policy if isinstance(policy, str) else "human" if policy is None else policy.name
        for policy in session.policies
    ]


def _written_move(table: Table, state: int, action: int, outcome: int, faces: Sequence[int]) -> str:
    name = " ".join(table.graph.view.action(action).distinct_name.split())
    came = "".join(f" {face}" for face in faces)
    if not faces and len(table.outcomes(action)) > 1:
        came = f" #{outcome + 1}"
    move = as_word(name) + came
    try:
        if read_move(table, state, move) == (action, outcome, tuple(faces)):
            return move
    except UsageError:
        pass
    return as_word(name, always=True) + came  # "take 2" is ambiguous: a name, or a name and a face
