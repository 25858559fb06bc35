"""Lists of games; results of `check`, `verify`, `certify`, `compare`; exports and kept answers."""

from __future__ import annotations

import contextlib
import inspect
import math
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from rollwise.analysis.records import Finding
from rollwise.documents.model import (
    UNSET,
    Bound,
    Bytes,
    DeviationGain,
    Document,
    GameDocument,
    Kind,
    Maybe,
    Number,
    Part,
    Rows,
    Seconds,
    State,
    UnsetType,
    about,
    as_number,
    bound_text,
    number_or_none,
    sizes_text,
    state_fields,
    unit,
)
from rollwise.game import Game, rules_in_words
from rollwise.graph.naming import state_text
from rollwise.numbers.printed import certified, gain_text, how_many, in_bytes, rounded_up
from rollwise.numbers.shares import seat_names
from rollwise.parameters import parameter_specs, typed

if TYPE_CHECKING:
    from rollwise.analysis.distance import Distance
    from rollwise.answer.verify import Verification
    from rollwise.graph import StateGraph
    from rollwise.many.equilibrium import Equilibrium
    from rollwise.methods import Method


class Parameter(Part, frozen=True):
    """A parameter of a game."""

    name: str
    type: str
    default: Any
    range: Annotated[str, about("the allowed values, in words")]
    among: Annotated[list[Any], about("the allowed values, where they are a list")]
    about: str


class ListedGame(Part, frozen=True):
    """A game with its parameters and policies."""

    game: str
    heading: str
    description: str
    players: int
    objective: Annotated[str, about("win, maximize or minimize")]
    parameters: list[Parameter]
    policies: Annotated[dict[str, str], about("descriptions by name")]
    presets: Annotated[dict[str, dict[str, Any]], about("parameters of versions by name")]


class Games(Document, frozen=True, tag="rollwise/games/1"):
    """The games, or one of them."""

    games: list[ListedGame]

    def blocks(self) -> Iterator[str | Rows]:
        if len(self.games) == 1:
            yield from self._one(self.games[0])
            return
        heads = ("game", "parameters", "policies", "description")
        cells = (
            (
                game.game,
                " ".join(f"{one.name}={typed(one.default)}" for one in game.parameters),
                ", ".join(game.policies),
                game.description,
            )
            for game in self.games
        )
        yield Rows(heads, cells, left=heads, fold=heads)

    def _one(self, game: ListedGame) -> Iterator[str | Rows]:
        """A game with the meanings of its parameters and policies."""
        yield f"{game.game}: {game.description}".removesuffix(": ")
        rows = [
            (one.name, str(typed(one.default)), one.range, one.about) for one in game.parameters
        ]
        if rows:
            heads = ("parameter", "default", "values", "meaning")
            yield Rows(heads, rows, left=heads, fold=("meaning",))
        if game.policies:
            words = ("policy", "meaning")
            yield Rows(words, game.policies.items(), left=words, fold=("meaning",))


def games_document(games: Iterable[type[Game]]) -> Games:
    """Games with their parameters and policies."""
    return Games([_listed(cls) for cls in games])


def _listed(cls: type[Game]) -> ListedGame:
    def first_line(of: object) -> str:
        return (inspect.getdoc(of) or "").partition("\n")[0]

    game = cls()  # players may be a parameter, and the objective can depend on their number
    return ListedGame(
        cls.name,
        cls.heading,
        rules_in_words(cls).partition("\n")[0],
        game.players,
        game.objective,
        [
            Parameter.from_result(
                spec,
                type=spec.type.__name__ if spec.type in (int, float, bool) else "str",
                range=spec.range_text,
            )
            for spec in parameter_specs(cls)
        ],
        {name: first_line(function) for name, function in cls.policies().items()},
        {name: dict(chosen) for name, chosen in cls.presets.items()},
    )


class Option(Part, frozen=True):
    """An option of a method."""

    name: str
    type: str
    default: Any
    about: str


class ListedMethod(Part, frozen=True):
    """A method with its options."""

    method: str
    about: str
    kind: Kind
    options: list[Option]


class Methods(Document, frozen=True, tag="rollwise/methods/1"):
    """The methods of solving."""

    methods: list[ListedMethod]

    def blocks(self) -> Iterator[str | Rows]:
        heads = ("option", "default", "meaning")
        for i, method in enumerate(self.methods):
            yield f"{chr(10) if i else ''}{method.method}: {method.about}"
            rows = [
                (one.name, "" if one.default is None else typed(one.default), one.about)
                for one in method.options
            ]
            if rows:
                yield Rows(heads, rows, left=heads, fold=("meaning",), indent=2)


def methods_document(methods: Iterable[Method]) -> Methods:
    """Methods with their options."""
    return Methods(
        [
            ListedMethod(
                method.name,
                method.about,
                "estimated" if method.estimates else "certified",
                [
                    Option.from_result(one, type=one.type.__name__)
                    for one in method.settings().values()
                ],
            )
            for method in methods
        ]
    )


class Checked(Document, frozen=True, tag="rollwise/check/1"):
    """The findings in the rules of a game."""

    game: str
    passed: Annotated[bool, about("whether no finding is an error")]
    findings: list[Finding]

    def blocks(self) -> Iterator[str | Rows]:
        for one in self.findings:
            yield f"{one.level:>7}  {one.topic}: {one.text}"


class MethodRow(Part, frozen=True):
    """The run of a method."""

    method: str
    status: str
    sweeps: int | None
    seconds: Annotated[Number, unit("seconds")]
    error: Annotated[Number, unit("value", "largest error of any state")]
    claimed_error: Annotated[Number, unit("value", "see claim_is_bound")]
    optimal_policy: Annotated[bool | None, about("whether the chosen actions have no loss")]
    claim_is_bound: Annotated[
        bool, about("whether the method proves its claimed error; else it stopped there")
    ]
    note: Annotated[Maybe[str], about("the reason for the status, or the sample of estimates")] = (
        UNSET
    )

    @classmethod
    def from_result(cls, source: Any, **others: Any) -> Self:
        return super().from_result(source, note=source.note or UNSET, **others)


class Compared(GameDocument, frozen=True, kw_only=True, tag="rollwise/compare/1"):
    """The methods side by side; of three or more players on the game of one seat."""

    of_best_play: ClassVar[bool] = True

    states: Annotated[int, about("of the compared game")]
    error_bound: Annotated[Bound, about("of the values that measure the errors")]
    time_limit: Annotated[float, unit("seconds", "for each method")]
    rows: list[MethodRow]

    def blocks(self) -> Iterator[str | Rows]:
        cells = (
            (
                row.method,
                row.status,
                "" if row.sweeps is None else f"{row.sweeps:,}",
                "" if row.seconds is None else f"{row.seconds:.3f}",
                "" if row.error is None else rounded_up(row.error),
                "" if row.claimed_error is None else rounded_up(row.claimed_error),
                "" if row.optimal_policy is None else ("yes" if row.optimal_policy else "no"),
            )
            for row in self.rows
        )
        heads = ("method", "status", "sweeps", "seconds", "error", "claimed error")
        yield Rows((*heads, "optimal policy"), cells, left=("method",))
        if self.players:
            yield (
                "the game of the first player, where all others play the equilibrium: a state for "
                "each position and each player to move"
            )
        yield from (f"{row.method}: {row.status}: {row.note}" for row in self.rows if row.note)
        if any(row.status == "out of time" for row in self.rows):
            yield f"out of time: each method had {self.time_limit:g} s (--time-limit)"
        yield (
            f"error: the largest of {how_many(self.states, 'state')}, from values certified "
            f"± {bound_text(self.error_bound)}"
        )
        yield from self._claims()

    def _claims(self) -> Iterator[str]:
        """The meaning of the claimed errors: a bound of some methods, a threshold of others."""
        said = [row for row in self.rows if row.claimed_error is not None]
        proved = [row.method for row in said if row.claim_is_bound]
        if len(proved) < len(said):
            but = f" (that of {' and '.join(proved)} is proved)" if proved else ""
            yield (
                "claimed error: the threshold at which the method stopped, a solver's tolerance or "
                f"a standard error; no bound{but}"
            )
        elif proved:
            yield "claimed error: a bound that the method proves"


class Verified(GameDocument, frozen=True, kw_only=True, tag="rollwise/verify/1"):
    """The check of a saved answer."""

    of_best_play: ClassVar[bool] = True

    verified: bool
    exact: Annotated[Maybe[bool], about("whether in exact arithmetic too; files")] = UNSET
    states: int
    layers: Annotated[Maybe[int], about("folders")] = UNSET
    proved_layers: Annotated[Maybe[int], about("proved again; folders")] = UNSET
    damaged_layers: Annotated[
        Maybe[list[Any]], about("the progress of layers with a wrong checksum; folders")
    ] = UNSET
    error_bound: Bound
    residual: Annotated[Maybe[Number], unit("value", "largest change by one look ahead; files")] = (
        UNSET
    )
    difference: Annotated[
        Maybe[Number], unit("value", "largest distance to a proved value; folders")
    ] = UNSET
    deviation_gain: Maybe[DeviationGain] = UNSET
    endless: Annotated[
        Maybe[tuple[float, float] | None],
        unit(
            "value",
            "of endless play for the mover and the other role, which in a game of one player never "
            "moves; certificates",
        ),
    ] = UNSET
    rounding: Annotated[
        Maybe[str], about("of a model's numbers when it was read; with --exact")
    ] = UNSET
    rules: Annotated[str, about("the compared rules: a rule sheet, or a model with roundings")]
    fault: Annotated[str, about("the reason for refusing the answer, or empty")]
    state: Annotated[dict[str, int] | None, about("the position at fault")]
    seconds: Seconds

    def blocks(self) -> Iterator[str | Rows]:
        if self.fault:
            yield f"{self.title} is refused: {self.fault}"
            return
        spent, size = self.seconds, how_many(self.states, "state")
        checked = f"checked in {spent['check']:.3f} s" if "check" in spent else ""
        sure = f"the largest ± {bound_text(self.error_bound)}"
        if self.layers:
            how, size = "verified, each layer proved again from the rules", f"{size} in "
            size += how_many(self.layers, "layer")
            checked = (
                f"checksums compared in {spent['checksums']:.3f} s, states found in "
                f"{spent['states']:.3f} s, layers proved in {spent['proof']:.3f} s"
            )
        elif math.isfinite(as_number(self.residual)):
            how = "verified, without a solver"
            sure += f", residual {as_number(self.residual):.1e}"
            exactly = f"; and on the {self.rules}, in exact arithmetic" if self.exact else ""
            checked += f", in doubles, with every rounding counted{exactly}; the graph was built "
            checked += f"from the rules in {spent['build']:.3f} s"
        else:
            how = "proved in whole numbers"
            rules = self.rules.removesuffix(" itself")
            how += f"; its game is the one of the {rules}" if self.exact else ""
            size = how_many(self.states, "position")
        yield f"{self.title}: {how}"
        yield f"  {size}: every value is within its bound of the true one ({sure})"
        yield f"  {checked}"
        if not isinstance(self.deviation_gain, UnsetType):
            gain = bound_text(self.deviation_gain)
            yield f"  no player gains more than {gain} by another policy"
        if self.endless:
            yield f"  endless play counts {_endless_text(*self.endless)}"


def _endless_text(mover: float, other: float) -> str:
    """The worth of endless play in a certificate, which may be of a game for one player."""
    if not mover and not other:
        return "0"
    if mover == -other:  # of one player: the other role, which never moves, has the opposite
        return f"{mover:g} for the player, where more is better"
    return f"{mover:g} for the mover, {other:g} for the opponent"


def verification_document(found: Verification) -> Verified:
    """The result of verifying a saved answer."""
    from rollwise.answer.verify import FolderVerification

    more: dict[str, Any] = {"parameters": dict(found.parameters), "states": found.n_states}
    more["kind"] = "exact" if found.exact and not found.rounding else "certified"
    more["rounding"], more["caps"] = found.rounding or None, dict(found.caps) or None
    if found.deviation_gain is None:
        more["deviation_gain"] = UNSET
    if isinstance(found, FolderVerification):
        more |= {"exact": UNSET, "residual": UNSET, "difference": found.residual}
        more |= {"layers": found.n_layers, "proved_layers": found.n_proved}
        more["damaged_layers"] = found.damaged
    return Verified.from_result(found, **more)


class Exported(GameDocument, frozen=True, kw_only=True, tag="rollwise/export/1"):
    """An exported game."""

    format: str
    file: str
    states: int
    actions: int
    outcomes: int
    note: Annotated[
        Maybe[str], about("how values of the file differ from those of the game, by lines")
    ] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        yield f"wrote {self.file}; the game has {sizes_text(self)}"
        if self.note is not UNSET:
            yield from (f"  {line}" for line in self.note.splitlines())


class Plotted(GameDocument, frozen=True, kw_only=True, tag="rollwise/plot/1"):
    """A written picture."""

    file: str
    bytes: Bytes

    @classmethod
    def at(cls, of: StateGraph | Game, file: Path) -> Self:
        """A written file about a game."""
        return cls.on(of, file=str(file), bytes=file.stat().st_size)

    def blocks(self) -> Iterator[str | Rows]:
        yield f"wrote {self.file}"


class Reported(Plotted, frozen=True, kw_only=True, tag="rollwise/report/1"):
    """A written report."""


class PageWritten(Plotted, frozen=True, kw_only=True, tag="rollwise/page/1"):
    """A written page."""

    def blocks(self) -> Iterator[str | Rows]:
        yield f"wrote {self.file} ({self.bytes / 1000:,.0f} kB)"


class KeptFile(Part, frozen=True, order=True):
    """A cached graph or answer."""

    game: str
    kept: Annotated[str, about("graph or values")]
    bytes: Bytes
    used: Annotated[str, about("local time of the last use")]


class Cache(Document, frozen=True, tag="rollwise/cache/1"):
    """The cached graphs and answers."""

    folder: Annotated[str | None, about("null without a cache")]
    most_bytes: Annotated[Bytes, about("the largest size of the cache")]
    bytes: Bytes
    cleared: Annotated[bool, about("whether the files are removed now")]
    kept: list[KeptFile]

    @classmethod
    def at(cls, folder: Path | None, most_bytes: int, cleared: bool) -> Self:
        """The files of a folder; None without a cache."""
        rows = [] if folder is None else sorted(_kept(folder))
        size = sum(row.bytes for row in rows)
        return cls(None if folder is None else str(folder), most_bytes, size, cleared, rows)

    def blocks(self) -> Iterator[str | Rows]:
        size = in_bytes(self.bytes)
        if self.folder is None:
            yield "No answers are kept: there is no private folder, or ROLLWISE_NO_CACHE is set"
        elif self.cleared:
            yield f"Removed {how_many(len(self.kept), 'file')}, {size}, from {self.folder}"
        else:
            if self.kept:
                cells = [(one.game, one.kept, in_bytes(one.bytes), one.used) for one in self.kept]
                heads = ("game", "kept", "size", "last used")
                yield Rows(heads, cells, left=("game", "kept", "last used"))
            yield (
                f"{size} of at most {in_bytes(self.most_bytes)} in {self.folder}; the files that "
                "were used longest ago go first, --clear removes all"
            )


def _kept(folder: Path) -> Iterator[KeptFile]:
    for path in folder.glob("*.npz"):
        with contextlib.suppress(OSError):
            facts = path.stat()
            used = time.strftime("%Y-%m-%d %H:%M", time.localtime(facts.st_mtime))
            name, kind = path.name.split(".")[:2]
            game = name.rsplit("-", 2 if kind == "values" else 1)[0]
            yield KeptFile(game, kind, facts.st_size, used)


Error = Annotated[Number, unit("probability, or points"), about("null: infinite")]


LARGE = 1e-3  # errors and losses from here on have more digits


class Certified(GameDocument, frozen=True, kw_only=True, tag="rollwise/certify/1"):
    """The largest error of given values, or the largest loss of a policy."""

    subject: Annotated[Literal["values", "policy"], about("what was given")]
    name: Annotated[str, about("the file or the policy")]
    unit: Annotated[str, about("the name of a value: win probability, expected score or payoff")]
    compared: Annotated[int, about("states with a given value")]
    states: int
    largest_error: Error
    at_least: Annotated[Error, about("proved lower end of the largest error")]
    state: Annotated[State, about("the position of the largest error")]
    given: Number
    value: Annotated[
        Number,
        about("the true value there; of three or more players the best response to a policy"),
    ]
    error_bound: Annotated[Bound, about("of the difference to the true value")]
    seat: Annotated[
        Maybe[int], about("of three or more players: the seat of these, 0 for the mover")
    ] = UNSET
    to_move: Annotated[
        Maybe[int], about("the seat to move there, from 1, if seats have different policies")
    ] = UNSET
    deviation_gain: Annotated[
        Maybe[DeviationGain], about("of the equilibrium whose values are the true ones")
    ] = UNSET
    claim: Annotated[float | UnsetType, about("the claimed precision")] = UNSET
    is_met: Annotated[
        bool | UnsetType | None, about("whether the claim is true; null: undecided")
    ] = UNSET

    @classmethod
    def of_distance(
        cls,
        found: Distance,
        of: str,
        claim: float | None,
        profile: Equilibrium | None = None,
    ) -> Certified:
        worst, high, low = found.worst, found.high, found.low
        largest, least = float(high[worst]), float(low[found.compared].max())
        met: bool | UnsetType | None = UNSET
        mover = found.mover if found.mover is not None and found.mover.any() else None
        if claim is not None:
            met = True if largest <= claim else False if least > claim else None
        return cls.on(
            found.graph,
            kind="certified",
            subject=of,
            name=found.name,
            compared=len(found.compared),
            states=found.graph.n_states,
            largest_error=number_or_none(largest),
            at_least=number_or_none(least),
            state=state_fields(found.graph, worst),
            given=number_or_none(float(found.given[worst])),
            value=number_or_none(float(found.true[worst])),
            error_bound=number_or_none(float(found.bounds[worst])),
            seat=None if found.seat is None else int(found.seat[worst]),
            to_move=None if mover is None else int(mover[worst]) + 1,
            deviation_gain=UNSET if profile is None else number_or_none(profile.deviation_gain),
            claim=claim,
            is_met=met,
        )

    def blocks(self) -> Iterator[str]:
        what = "values" if self.subject == "values" else "policy"
        yield f"{self.title}: {what} {self.name}"
        count = how_many(self.compared, "state")
        if self.compared < self.states:
            count = f"{self.compared:,} of {how_many(self.states, 'state')}"
        kind = "error" if self.subject == "values" else "loss"
        error = as_number(self.largest_error)
        largest = rounded_up(error, digits=6 if error >= LARGE else 2)
        place = state_text(self.state)
        if not isinstance(self.to_move, UnsetType):
            place += f" with seat {self.to_move} to move"
        if not isinstance(self.seat, UnsetType):
            place += f", of {seat_names(self.seat + 2)[self.seat]}"
        yield f"  largest {kind} of {count}: at most {largest} (proved), at {place}"
        given = "infinite" if self.given is None else repr(self.given)
        if self.value is None:
            yield f"  given {given}, and the true {self.unit} is infinite"
        else:
            true = certified(self.value, self.error_bound)
            own = "given" if self.subject == "values" else "with the policy"
            best = not isinstance(self.seat, UnsetType) and self.subject == "policy"
            whose = "by the best response" if best else "true"
            yield f"  {own} {given}, {whose} {self.unit} {true.number} (certified ± {true.bound})"
        if not isinstance(self.deviation_gain, UnsetType):
            gain = gain_text(as_number(self.deviation_gain), " by another policy")
            yield f"  true are the values of an equilibrium, which need not be the only one: {gain}"
        if not isinstance(self.claim, UnsetType):
            words = {True: "met", False: "not met", None: "undecided"}
            yield f"  claim {self.claim:g}: {words[self.is_met]}"  # type: ignore[index]
