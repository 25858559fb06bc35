"""The model of all documents: an answer as one frozen record, with a rendering for each reader.

The type hints of a record are its JSON schema (`schema_of`), with the unit of each number. `encode`
renders a record as JSON. `Document.blocks` are its lines and tables for people: the command line
prints them, and `html_of` renders them for notebooks, the server and reports. The ``kind`` of a
document says whether its numbers are exact, certified (with ``error_bound``) or estimated (with a
standard error and a seed).

A tag such as ``rollwise/solve/1`` or ``rollwise/solve/contest/1`` names the command that prints a
document and the version of its keys. It is the first key of the JSON, ``schema``.

Facts and sentences of several documents follow at the end: a game's name, a state, a value.
"""

from __future__ import annotations

import functools
import html
import importlib
import inspect
import math
import operator
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec
from msgspec import UNSET as UNSET
from msgspec import UnsetType as UnsetType

from rollwise.game import Game, caps_of
from rollwise.graph.naming import title_of
from rollwise.numbers.meanings import Bound as Bound
from rollwise.numbers.meanings import Chance as Chance
from rollwise.numbers.meanings import Number as Number
from rollwise.numbers.meanings import Record
from rollwise.numbers.meanings import Value as Value
from rollwise.numbers.meanings import about as about
from rollwise.numbers.meanings import unit as unit
from rollwise.numbers.printed import (
    Printed,
    certified,
    chance,
    column,
    how_many,
    in_common,
    percents,
    rounded_up,
    with_minus,
)

if TYPE_CHECKING:
    from rollwise.answer.layered_states import LayeredStates
    from rollwise.graph import StateGraph


Kind = Literal["exact", "certified", "estimated"]
T = TypeVar("T")
Maybe: TypeAlias = T | UnsetType  # a field that a document may leave out
Cost = Annotated[Number, unit("probability, or points", "loss to the best action")]
DeviationGain = Annotated[
    Number, unit("probability, or points", "largest gain of a player by another policy; proved")
]
Seconds = Annotated[dict[str, float], unit("seconds", "run time of each stage")]
Bytes = Annotated[int, unit("bytes")]
State = Annotated[dict[str, int | bool], about("the fields of a position")]


def as_number(number: float | UnsetType | None) -> float:
    """A number of a document; infinite where it is null or left out."""
    return math.inf if number is None or isinstance(number, UnsetType) else number


def bound_text(bound: float | None) -> str:
    """A bound rounded up; "inf" where nothing is proved."""
    return rounded_up(as_number(bound))


@dataclass(frozen=True)
class Rows:
    """A table for people.

    Attributes
    ----------
    heads : sequence of str
        No line of heads is shown if all are blank.
    cells : iterable
        The texts of each row.
    left : sequence of str
        The columns aligned to the left. The others are aligned to the right.
    fold : sequence of str
        The columns broken into lines instead of cut off.
    indent : int
        Spaces before the first column.
    """

    heads: Sequence[str]
    cells: Iterable[Iterable[str]]
    left: Sequence[str] = ()
    fold: Sequence[str] = ()
    indent: int = 0


class Aligned(str):
    """Lines with columns made of spaces."""

    __slots__ = ()

    @classmethod
    def matrix(cls, matrix: Sequence[Sequence[Any]], origin: Sequence[int], form: str) -> Self:
        """A matrix with numbered rows and columns; -1 marks empty cells.

        Parameters
        ----------
        matrix : (n, m)
        origin : (2,)
            The numbers of the first row and of the first column.
        form : str
            The format of a number, for `format`.
        """
        text = [["-1" if x == -1 else format(x, form) for x in row] for row in matrix]
        row, column = map(int, origin)
        # one width for all columns, so that numbers and cells stand below each other
        width = max(len(cell) for cells in text for cell in cells)
        width = max(width, len(str(column + len(text[0]) - 1)))
        side = len(str(row + len(text) - 1))
        head = " ".join(f"{column + j:>{width}}" for j in range(len(text[0])))
        lines = [f"{'':>{side}}   {head}"]
        for i, cells in enumerate(text, row):
            lines.append(f"{i:>{side}} | {' '.join(f'{cell:>{width}}' for cell in cells)}")
        return cls("\n".join(lines))


class Part(Record, frozen=True):
    """A part of a document. A field that is UNSET is left out of the JSON."""

    @classmethod
    def from_result(cls, source: object, **others: Any) -> Self:
        """The part with the attributes of a result, and other fields.

        A result in the place of a part, or in a list of parts, becomes a part in the same way. None
        leaves out a field that may be left out, and is no null.
        """
        names = [name for name in cls.__struct_fields__ if name not in others]
        facts = {n: getattr(source, n) for n in names if hasattr(source, n)} | others
        parts, left_out = _parts_of(cls)
        facts = {n: fact for n, fact in facts.items() if fact is not None or n not in left_out}
        return cls(**{n: parts[n](fact) if n in parts else fact for n, fact in facts.items()})


@functools.cache
def _parts_of(kind: type[Part]) -> tuple[dict[str, Callable[[Any], Any]], set[str]]:
    """How results become parts, by the fields that hold parts; and the fields that None omits."""
    found: dict[str, Callable[[Any], Any]] = {}
    left_out = set()
    for field in msgspec.structs.fields(kind):
        alternatives = _alternatives(field.type)
        if UnsetType in alternatives and type(None) not in alternatives:
            left_out.add(field.name)
        kinds = [field.type]
        for one in kinds:  # grows by the types inside a type, as in `list[Figure] | None`
            if isinstance(one, type) and issubclass(one, Part):
                found[field.name] = functools.partial(_as_part, one)
            kinds += get_args(one)
    return found, left_out


def _alternatives(kind: Any) -> set[Any]:
    """The types that a type allows."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return set().union(*map(_alternatives, get_args(kind)))
    return {kind}


def _as_part(kind: type[Part], result: Any) -> Any:
    if isinstance(result, list | tuple) and not hasattr(result, "_fields"):
        return [_as_part(kind, one) for one in result]
    is_ready = result is None or isinstance(result, Part | UnsetType)
    return result if is_ready else kind.from_result(result)


class Figure(Part, frozen=True):
    """A number with its proved error bound."""

    value: Number
    error_bound: Bound

    @classmethod
    def from_result(cls, source: Any, **others: Any) -> Self:
        return cls(source.value, source.bound, **others)


# a mean without a standard error
ALIKE = "the same in every game: error unknown"


class EquallyGood(Part, frozen=True):
    """Ties of an optimal policy; other choices in them may give other figures."""

    states: Annotated[int, about("reached states with several equally good actions")]
    reached: Annotated[int, about("all reached states")]

    @property
    def text(self) -> str:
        """The same in one line."""
        from rollwise.graph.policies import Ties

        return Ties(self.states, self.reached).text


Caps = Annotated[
    Maybe[dict[str, int]],
    about("of fields without an end: only stopping is allowed from these numbers on"),
]


def about_caps(*games: dict[str, int] | UnsetType) -> Iterator[str]:
    """A line about the figures of games with caps, unless they are values of best play."""
    capped = [one for one in games if one and not isinstance(one, UnsetType)]
    if capped:
        caps = [" or ".join(f"{name}={number}" for name, number in one.items()) for one in capped]
        yield (
            f"the figures are of play that stops from {', '.join(dict.fromkeys(caps))} on; how "
            "much play that goes on there changes them is unknown"
        )


class Document(Part, frozen=True, tag_field="schema"):
    """The answer of a command."""

    def blocks(self) -> Iterator[str | Rows]:
        """The lines and tables for people."""
        raise NotImplementedError

    def told(self) -> Iterator[str | Rows]:
        """The same, and notes about the game."""
        yield from self.blocks()

    def _repr_html_(self) -> str:
        """The notebook view."""
        return html_of(self.told())


def html_of(blocks: Iterable[str | Rows], name: str = "table") -> str:
    """Blocks as HTML: paragraphs, and tables that scroll where the screen is narrow.

    Parameters
    ----------
    name : str
        The name of the tables for screen readers.
    """
    parts = []
    for block in blocks:
        if not isinstance(block, str):
            parts.append(_html_table(block, name))
        elif isinstance(block, Aligned):
            parts.append(f"<pre>{html.escape(block)}</pre>")
        elif block.strip():
            parts.append(f"<p>{html.escape(with_minus(block.strip()))}</p>")
    return "\n".join(parts)


def text_of(blocks: Iterable[str | Rows]) -> str:
    """Blocks as text: lines, and tables with columns made of spaces."""
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, str):
            lines.append(block)
            continue
        table = [list(cells) for cells in (block.heads, *block.cells)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for cells in table if any(map(str.strip, block.heads)) else table[1:]:
            aligned = (
                cell.ljust(width) if head in block.left else cell.rjust(width)
                for head, cell, width in zip(block.heads, cells, widths, strict=True)
            )
            lines.append((" " * block.indent + "  ".join(aligned)).rstrip())
    return "\n".join(lines)


def _html_table(rows: Rows, name: str) -> str:
    """A table; columns of text have the class ``text``."""
    texts = [head in rows.left for head in rows.heads]

    def line(cells: Iterable[str], tag: str, more: str = "") -> str:
        return "".join(
            f"<{tag}{more} class='text'>{html.escape(cell)}</{tag}>"
            if is_text
            else f"<{tag}{more}>{html.escape(with_minus(cell))}</{tag}>"
            for is_text, cell in zip(texts, cells, strict=True)
        )

    head = ""
    if any(map(str.strip, rows.heads)):
        heads = line(rows.heads, "th", " scope='col'")
        head = f"<thead><tr>{heads}</tr></thead>"
    body = "\n".join(f"<tr>{line(cells, 'td')}</tr>" for cells in rows.cells)
    return scrolling(f"<table>{head}<tbody>{body}</tbody></table>", name)


def scrolling(table: str, name: str) -> str:
    """A table that scrolls where the screen is narrow, with its name for screen readers."""
    region = f"<div class='scroll' tabindex='0' role='region' aria-label='{html.escape(name)}'>"
    return f"{region}{table}</div>"


class GameDocument(Document, frozen=True, kw_only=True):
    """An answer about a game."""

    game: str
    parameters: Annotated[dict[str, Any], about("also the form of the game, as `as`")]
    players: Annotated[Maybe[int], about("left out for one and two")] = UNSET
    kind: Annotated[Maybe[Kind], about("the kind of the numbers")] = UNSET
    caps: Caps = UNSET
    of_best_play: ClassVar[bool] = False  # it has values of best play, which caps leave as they are

    def told(self) -> Iterator[str | Rows]:
        yield from self.blocks()
        if not (self.of_best_play and "as" not in self.parameters):
            yield from about_caps(self.caps)

    @property
    def title(self) -> str:
        """The game and its parameters, as typed on the command line."""
        return title_of(self.game, self.parameters)

    @classmethod
    def on(cls, game: StateGraph | Game | None, source: object = None, **others: Any) -> Self:
        """The document about this game with the attributes of a result, and other fields.

        Unless given, the unit of values, and whether games can be drawn, are those of the graph.
        """
        assert game is not None
        facts = game_head(game)
        if not isinstance(game, Game):
            known = {"unit": game.view.worth_name, "draws": game.has_draws}
            facts |= {name: fact for name, fact in known.items() if name in cls.__struct_fields__}
        return cls.from_result(source, **facts | others)


def encode(document: Any) -> str:
    """A document, or plain data with documents, as one line of JSON."""
    return msgspec.json.format(msgspec.json.encode(document, enc_hook=_plain), indent=0).decode()


def _plain(part: Any) -> Any:
    """Numbers and arrays of NumPy as Python's, and paths as texts."""
    return str(part) if isinstance(part, Path) else part.tolist()


def documents_of(command: str) -> list[type[Document]]:
    """The documents that a command prints, from all modules of this room, by their names."""
    import rollwise.documents as room

    for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
        importlib.import_module(module.name)
    found = (one for one in _below(Document) if _tag(one).split("/")[1:2] == [command])
    return sorted(found, key=_tag)


def _below(kind: type[Document]) -> Iterator[type[Document]]:
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


def _tag(kind: type[Document]) -> str:
    return str(kind.__struct_config__.tag or "")


def union_of(kinds: Sequence[type[Document]]) -> Any:
    """The type of any of several documents."""
    return functools.reduce(operator.or_, kinds)


def schema_of(kinds: Sequence[type[Document]]) -> dict[str, Any]:
    """The JSON schema of one or several documents."""
    schema: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema |= msgspec.json.schema(union_of(kinds))
    for one in schema["$defs"].values():
        if "description" in one:
            one["description"] = inspect.cleandoc(one["description"])
    return schema


def game_head(of: StateGraph | Game) -> dict[str, Any]:
    """The first keys of a document about a game."""
    name = of.name if isinstance(of, Game) else of.game
    more: dict[str, Any] = {"players": of.players} if of.players > 2 else {}
    if caps := caps_of(of) if isinstance(of, Game) else of.caps:
        more["caps"] = dict(caps)
    return {"game": name, "parameters": dict(of.parameters), **more}


def sizes(graph: StateGraph | LayeredStates) -> dict[str, int]:
    """The size of a graph."""
    return {"states": graph.n_states, "actions": graph.n_actions, "outcomes": graph.n_outcomes}


def state_fields(graph: StateGraph, state: int) -> dict[str, int]:
    """The fields of a state by name."""
    return graph.view[state].named


def number_or_none(value: float | None) -> float | None:
    """A number as JSON knows it: infinities and NaN become null."""
    return None if value is None or not math.isfinite(value) else value


def sizes_text(of: Any) -> str:
    """The size of a document's graph: "3 states, 4 actions, 6 outcomes"."""
    counts = [how_many(getattr(of, f"{one}s"), one) for one in ("state", "action", "outcome")]
    if after := getattr(of, "after_throws", UNSET) or 0:
        counts[0] += f" and {after:,} after a throw"
    return ", ".join(counts)


def about_draws(has_draws: bool) -> str:
    """The words behind a chance to win where games can be drawn."""
    return "; a draw is half a win" if has_draws else ""


def about_wins(unit: str) -> str:
    """The words behind a payoff in a game that is won or lost; none where payoffs are others."""
    return "a win counts 1, a loss -1" if unit == "win probability" else ""


def seconds_text(seconds: Mapping[str, float], kept_from: str | UnsetType = UNSET) -> str:
    """The run time of each stage, and the origin of a kept answer."""
    kept = f"kept from {kept_from}, " if kept_from else ""
    return kept + ", ".join(f"{name} {spent:.2f} s" for name, spent in seconds.items())


def seats_text(of: Any, bound: float | None) -> tuple[list[str], Printed]:
    """The results of all seats of a document, and the one whose bound is valid for all."""
    written = column if of.payoffs else percents
    return in_common(written(of.win_probabilities or of.payoffs or [], bound))


def worth_lines(
    place: str, value: float, bound: float | None, *, name: str, draws: bool
) -> Iterator[str]:
    """The certified value of the start, in two lines.

    Parameters
    ----------
    name : str
        The name of a value; see `rollwise.graph.view.worth_name`.
    """
    worth = certified(value, bound)
    if bound is None or not math.isfinite(bound):
        yield f"  {name} from the start ({place}): unknown, without a proved bound"
    elif name != "win probability":
        yield f"  {name} from the start ({place}): {worth.number} ({worth.sure})"
    else:
        wins = chance(value, bound)
        sure = f"{wins.sure}{about_draws(draws)}"
        yield f"  the mover at the start ({place}) wins {wins.number} ({sure})"
        yield f"  value {worth.number} ({worth.sure} in every state)"


def undecided_lines(states: int | UnsetType) -> Iterator[str]:
    """The number of states with an undecided best action, if there are any."""
    if states:
        yield (
            f"in {how_many(states, 'state')} several actions may be best within the error "
            "bounds (advise gives their costs); the optimal policy takes one of them"
        )
