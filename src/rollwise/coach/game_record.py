"""Games written down: a small text format, for review and for continuing a game.

    @game pig target=20
    Ann: roll 4, roll 6, hold
    Bob: roll 1
    Ann: roll 5, ...

A line is a player's name, a colon and moves with commas between. A move is the
action's name, then its outcome: the faces of the dice (``roll 3 4 1``), the throw
in a game with throws before choices (``throw 3``), the number of the outcome (``throw #2``, as
`rollwise play` lists them), or nothing for an action with a single outcome. A name may stand
in quotation marks, and must if it contains a comma. An empty line, or ``@game``, begins
another game. ``#`` at the beginning of a line is a comment. For other lines with
``@`` see docs/play.md.

`replay` plays a written game again, and `written` writes a session down.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from rollwise.coach.session import Session
from rollwise.coach.table import Table
from rollwise.derive.forms import split_form
from rollwise.errors import ParameterError, UnknownGame, UsageError, spelled
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.graph import title_of
from rollwise.graph.policies import Policy
from rollwise.parameters import parameter_specs

FORMAT = "1"
# Headers that one game may have each.
KEYS = ("format", "game", "rules", "seed", "players", "dice")
_MOVE = re.compile(r'\s*((?:"(?:[^"]|"")*"|[^",])*)(,|$)')


class RecordError(UsageError):
    """A written game that is unreadable or impossible; names the line."""


@dataclass
class Record:
    """One written game.

    Attributes
    ----------
    source : str
        Its file or origin, for messages.
    line : int
        Number of its first line.
    unit : str
        The unit of `line`.
    headers : dict
    moves : list of (line, player, move)
    """

    source: str
    line: int
    headers: dict[str, str] = field(default_factory=dict)
    moves: list[tuple[int, str, str]] = field(default_factory=list)
    unit: str = "line"

    @property
    def where(self) -> str:
        """The place of the game, for messages."""
        return self.place_of(self.line)

    def place_of(self, line: int) -> str:
        """The place of a move, for messages."""
        return f"{self.source}, {self.unit} {line}"

    @property
    def players(self) -> list[str]:
        """The players, the first to move first."""
        seats = [name for name, _ in self.seats]
        return list(dict.fromkeys([*seats, *(player for _, player, _ in self.moves)]))

    @property
    def seats(self) -> list[tuple[str, str]]:
        """The seats in ``@players``: names and policies."""
        parts = self.headers.get("players", "").split(";")
        pairs = [part.partition("=") for part in parts if part.strip()]
        return [(name.strip(), policy.strip()) for name, _, policy in pairs]

    @property
    def game(self) -> str | None:
        """The name of the game, if the file says it."""
        words = self._game_words
        return words[0] if words else None

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the game in the file."""
        pairs = [word.partition("=") for word in self._game_words[1:]]
        for name, equals, _ in pairs:
            if not name or not equals:
                raise RecordError(f"{self.where}: in @game, {name!r} isn't a parameter name=value")
        return {name: value for name, _, value in pairs}

    @property
    def _game_words(self) -> list[str]:
        try:
            return shlex.split(self.headers.get("game", ""))
        except ValueError:
            raise RecordError(f"{self.where}: in @game a quotation mark isn't closed") from None


def records_of_text(text: str, source: str) -> list[Record]:
    """The games in a text.

    Raises
    ------
    RecordError
        Names the line and its fault.
    """
    records: list[Record] = []
    current: Record | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        where = f"{source}, line {number}"
        if not line:
            current = current if current is None or not current.moves else None
        elif line.startswith("@"):
            key, value = _header(line, where)
            # a header after moves, or a second one of its kind, belongs to another game
            if current is None or current.moves or key in current.headers:
                records.append(current := Record(source, number))
            current.headers[key] = value
        elif not line.startswith("#"):
            player, colon, moves = line.partition(":")
            if not colon or not player.strip():
                raise RecordError(f"{where}: {line!r} isn't a player's name, a colon and moves")
            if current is None:
                records.append(current := Record(source, number))
            current.moves += [(number, player.strip(), move) for move in _moves(moves, where)]
    for before, record in pairwise(records):
        if "game" not in record.headers:  # it is played like the one before it
            kept = {"game": before.headers["game"]} if "game" in before.headers else {}
            record.headers = kept | record.headers
    return records


def _header(line: str, where: str) -> tuple[str, str]:
    key, _, value = line[1:].partition(" ")
    if key not in KEYS:
        raise RecordError(f"{where}: there is no @{key} ({', '.join(KEYS)})")
    if key == "format" and value.strip() != FORMAT:
        raise RecordError(
            f"{where}: this game was written in format {value.strip()}, "
            f"by another version of rollwise; this one reads format {FORMAT}"
        )
    return key, value.strip()


def _moves(text: str, where: str) -> list[str]:
    moves, end = [], 0
    # a comma in quotation marks doesn't end a move
    while end < len(text):
        match = _MOVE.match(text, end)
        if match is None:
            raise RecordError(f"{where}: a quotation mark isn't closed")
        moves.append(match[1].strip())
        end = match.end()
    return [move for move in moves if move]


def as_word(text: str, *, always: bool = False) -> str:
    """A text as a part of a move: in quotation marks, where it needs them or always."""
    if always or re.search(r'[,"#]', text):
        return '"' + text.replace('"', '""') + '"'
    return text


def split_move(move: str) -> tuple[str | None, list[str]]:
    """A move as its action, if in quotation marks, and the words after it."""
    match = re.fullmatch(r'"((?:[^"]|"")*)"(.*)', move)
    if match is None:
        return None, move.split()
    return match[1].replace('""', '"'), match[2].split()


def clean_name(name: str) -> str:
    """A player's name without the special characters of a record."""
    return " ".join(re.sub(r'[:;=@#,"]', " ", name).split()) or "player"


def players_text(seats: Sequence[tuple[str, str]]) -> str:
    """Names and policies as ``@players`` holds them."""
    return "; ".join(f"{name} = {policy}" for name, policy in seats)


def agreed_game(
    records: Sequence[Record],
    kind: type[Game] | None,
    values: Mapping[str, str],
    typed: str = "review {game} {file}",
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
    typed : str
        The command that reads the records, for messages.

    Raises
    ------
    RecordError
        The records disagree, or name no game; names the line.
    """
    if kind is None:
        kind = _named_kind(records[0], typed)
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


def _named_kind(record: Record, typed: str) -> type[Game]:
    name, fault = record.game, "there is no line @game"
    what, example = "which game it is", "pig"
    if name is not None:
        if ".py" not in name:
            with suppress(UnknownGame):
                return find(name)
        fault = f"the game {name!r} isn't installed"
        what, example = "which rules it has", "rules.py:ClassName"
    command = typed.format(game=example, file=record.source)
    say = spelled(
        python="give its class as `kind`", command_line=f"say {what}, as in rollwise {command}"
    )
    raise RecordError(f"{record.where}: {fault}; {say}")


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
            # another spelling of the same value is no contradiction
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
