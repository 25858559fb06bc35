"""Answers about policies at play: simulated games, told games and tournaments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import ascii_uppercase as LETTERS
from typing import TYPE_CHECKING, Annotated, Any, Self

from rollwise.documents.model import (
    ALIKE,
    UNSET,
    Bound,
    EquallyGood,
    GameDocument,
    Maybe,
    Number,
    Part,
    Rows,
    State,
    about,
    about_draws,
    as_number,
)
from rollwise.documents.solved import AVERAGE, Unit, seats_worth
from rollwise.errors import spelled
from rollwise.graph.view import worth_name
from rollwise.numbers.printed import (
    column,
    estimated,
    estimated_chance,
    how_many,
    in_common,
    percent,
    percents,
    rounded,
)

if TYPE_CHECKING:
    from rollwise.graph import StateGraph
    from rollwise.simulate import Match, ToldMove, Tournament
    from rollwise.simulate.seats import Played, SeatsTournament


SCORES_SHOWN = 30
Seats = Annotated[Maybe[list[Number] | None], about("of each seat")]
Matrix = Annotated[Maybe[list[list[Number]] | None], about("the row's policy against the column's")]


class Mean(Part, frozen=True):
    """A mean over games, beside its exact value."""

    mean: Number
    standard_error: Annotated[Number, about("null: unknown, as all games gave the same")]
    interval_95: Annotated[list[Number], about("95 % confidence interval")]
    games: int
    exact: Annotated[Number, about("null: unknown")]
    exact_bound: Bound

    @classmethod
    def from_result(cls, source: Any, **others: Any) -> Self:
        return super().from_result(source, interval_95=source.interval, **others)

    def text(self, *, is_share: bool = False) -> str:
        """The mean with its standard error, and the exact value."""
        roughly, exactly = (estimated_chance, percents) if is_share else (estimated, column)
        if self.is_alike:
            text = f"{roughly(as_number(self.mean), 0.0).number} ({ALIKE})"
        elif math.isinf(as_number(self.standard_error)):
            text = f"{as_number(self.mean):g} (a single game: error unknown)"
        else:
            text = str(roughly(as_number(self.mean), as_number(self.standard_error)))
        if self.exact is not None and self.exact_bound is not None:
            (exact,) = exactly([self.exact], self.exact_bound)
            text += f" (exact {exact.number}, {exact.sure})"
        return text

    @property
    def is_alike(self) -> bool:
        """Whether the games don't differ, so that no error can be estimated."""
        return math.isnan(as_number(self.standard_error))

    def interval(self, *, is_share: bool = False) -> str:
        """The confidence interval."""
        roughly, error = estimated_chance if is_share else estimated, as_number(self.standard_error)
        low, high = (roughly(as_number(end), error).number for end in self.interval_95)
        return f"95 % confidence interval {low} to {high}"


class PlayedLength(Mean, frozen=True):
    """The length of games."""

    standard_deviation: Number
    shortest: int
    median: int
    longest: int

    @classmethod
    def from_result(cls, source: Any, **others: Any) -> Self:
        spread = {name: getattr(source, name) for name in ("shortest", "median", "longest")}
        deviation = source.deviation
        return super().from_result(source.estimate, **spread, standard_deviation=deviation)


def _distinct(numbers: Sequence[float]) -> list[str]:
    """Different numbers in six digits, or in as many as tell them apart."""
    texts = [f"{number:g}" for number in numbers]
    for digits in range(7, 18):
        if len(set(texts)) == len(texts):
            break
        texts = [f"{number:.{digits}g}" for number in numbers]
    return texts


class PlayedSide(Part, frozen=True):
    """The games in which one of the policies moved first."""

    first: str
    second: str | None
    games: int
    wins: Annotated[int | None, about("of the first player; null in a game for points")]
    draws: int | None
    losses: Annotated[int | None, about("of the first player")]
    win_rate: Mean | None
    score: Annotated[Mean | None, about("of the first player: points, or the gain")]
    scores: Annotated[
        list[tuple[float, int]] | None, about("each score with its games; null: too many")
    ]
    turns: PlayedLength
    moves: PlayedLength

    @classmethod
    def from_result(cls, source: Any, **others: Any) -> Self:
        scores = None if source.scores is None else list(source.scores.items())
        return super().from_result(source, second=source.second or None, scores=scores, **others)

    def lines(self, score: str) -> Iterator[str]:
        """Wins, scores and lengths; `score` is the word for a score."""
        pair = f"{self.first} first, {self.second} second" if self.second else self.first
        yield f"{pair}: {how_many(self.games, 'game')}"
        if self.win_rate is not None:
            who = "the first player wins" if self.second else "wins"
            yield f"  {who} {self.win_rate.text(is_share=True)}"
            yield f"    {self.win_rate.interval(is_share=True)}"
            draws = f", {how_many(self.draws, 'draw')}" if self.draws else ""
            yield f"    {self.wins:,} won, {self.losses:,} lost{draws}"
        if self.score is not None:
            of = " of the first player" if self.second else ""
            yield f"  {score}{of} {self.score.text()}"
            if math.isfinite(as_number(self.score.standard_error)):
                yield f"    {self.score.interval()}"
            yield from self._score_lines()
        lengths = {"turns": self.turns, "moves": self.moves}
        if not self.second and self.turns.longest == 1:  # one player, whose game is one turn
            del lengths["turns"]
        for name, one in lengths.items():
            yield f"  {name} {one.text()}; {one.shortest} to {one.longest}, median {one.median}"

    def _score_lines(self) -> Iterator[str]:
        if self.scores is None:
            yield "    too many different scores to count one by one"
            return
        # the likeliest scores are chosen, and then stand in the order of the scores
        likely = sorted(sorted(self.scores, key=lambda item: -item[1])[:SCORES_SHOWN])
        texts = _distinct([score for score, _ in likely])
        width = max(8, *map(len, texts))
        for text, (_, count) in zip(texts, likely, strict=True):
            share = count / self.games
            yield f"    {text:>{width}}  {percent(share):>10}  {'#' * round(60 * share)}"
        if len(self.scores) > len(likely):
            every = spelled(python="side.scores", command_line="--json")
            yield f"    and {len(self.scores) - len(likely):,} rarer scores ({every} for all)"


class Simulated(GameDocument, frozen=True, kw_only=True, tag="rollwise/simulate/1"):
    """Many games between policies, with the exact figures beside the simulated ones."""

    policy: Maybe[str] = UNSET
    against: Annotated[Maybe[str | None], about("null: one player")] = UNSET
    policies: Annotated[Maybe[list[str]], about("of all seats")] = UNSET
    unit: Unit
    games: int
    games_asked: Maybe[int] = UNSET
    seed: int
    win_rate: Annotated[Maybe[Mean | None], about("over both seats")] = UNSET
    payoff: Annotated[Maybe[Mean], about("over both seats")] = UNSET
    sides: Maybe[list[PlayedSide]] = UNSET
    disagreements: Annotated[Maybe[list[str]], about("figures that chance doesn't explain")] = UNSET
    notes: Annotated[Maybe[list[str]], about("reasons for missing exact figures")] = UNSET
    equally_good: Maybe[EquallyGood | None] = UNSET
    win_rates: Seats = UNSET
    payoff_means: Seats = UNSET
    standard_errors: Seats = UNSET
    moves: Annotated[Maybe[float], about("actions in a game, on average")] = UNSET
    moves_standard_error: Annotated[
        Maybe[Number], about("null: unknown, as all games had as many")
    ] = UNSET
    win_probabilities: Annotated[Seats, about("exact, of each seat")] = UNSET
    payoffs: Annotated[Seats, about("exact, of each seat")] = UNSET
    error_bound: Maybe[Bound] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        if self.policies:
            yield from self._seats(self.policies)
            return
        sides, asked = self.sides or [], self.games_asked or 0
        yield self.title
        stopped = f" of the {asked:,} asked for" if self.games < asked else ""
        draws = about_draws(any(side.draws for side in sides if side.win_rate is not None))
        sure = f"estimated ± standard error{draws}"
        yield f"{how_many(self.games, 'game')}{stopped}, seed {self.seed} ({sure})"
        if self.win_rate:
            yield f"  {self.policy} wins {self.win_rate.text(is_share=True)} over both seats"
        if self.payoff:
            yield f"  {self.policy} gains {self.payoff.text()} a game over both seats"
        for side in sides:
            yield from side.lines(self.unit.removeprefix("expected "))
        yield from (f"  {note}" for note in self.notes or ())
        if self.equally_good:
            yield f"  {self.equally_good.text}"

    def _moves_text(self, moves: float) -> str:
        """The moves in a game, with their standard error."""
        error = as_number(self.moves_standard_error)
        if not math.isfinite(error):
            return f"{estimated(moves, 0.0).number} moves in a game ({ALIKE})"
        return f"{estimated(moves, error)} moves in a game (estimated)"

    def _seats(self, policies: list[str]) -> Iterator[str]:
        yield f"{self.title}: {how_many(self.games, 'game')}, seed {self.seed}"
        means, gets = self.win_rates or [], "wins"
        roughly, exactly = estimated_chance, percents
        if self.payoff_means:
            means, gets = self.payoff_means, "gets on average"
            roughly, exactly = estimated, column  # type: ignore[assignment]
        errors, worth = self.standard_errors or [], self.payoffs or self.win_probabilities
        for seat, name in enumerate(policies):
            mean, error = as_number(means[seat]), as_number(errors[seat])
            line = f"  seat {seat + 1}, {name}, {gets} {roughly(mean, error)} (estimated"
            if math.isnan(error):
                line = f"  seat {seat + 1}, {name}, {gets} {roughly(mean, 0.0).number} ({ALIKE}"
            if worth:
                (sure,) = exactly([worth[seat]], as_number(self.error_bound))
                line += f"; exact {sure.number}, {sure.sure}"
            yield f"{line})"
        if self.moves is not UNSET:
            yield f"  {self._moves_text(self.moves)}"


def match_document(match: Match) -> Simulated:
    """Many games between policies, with the exact figures beside the simulated ones."""
    game = match.subject
    assert game is not None
    has_score = any(side.score is not None for side in match.sides)
    counts = {} if game.objective == "win" else dict.fromkeys(("wins", "draws", "losses"))
    return Simulated.on(
        game,
        match,
        kind="estimated",
        unit=worth_name(game.objective, has_score and game.objective == "win"),
        games_asked=match.asked,
        against=match.against if match.sides[0].second else None,
        sides=[PlayedSide.from_result(side, **counts) for side in match.sides],
        disagreements=match.disagreements(),
        equally_good=match.ties,
    )


def seats_match_document(played: Played) -> Simulated:
    """Many games of several seats, with the exact figures beside them."""
    graph = played.subject
    assert graph is not None
    (name,) = seats_worth(graph, ())
    rates = "payoff_means" if name == "payoffs" else "win_rates"
    facts: dict[str, Any] = {"win_rates": UNSET, rates: played.win_rates}
    facts |= {name: None, "error_bound": None}
    if (exact := played.exact) is not None:
        facts |= {name: list(exact.win_probabilities), "error_bound": exact.error_bound}
    return Simulated.on(graph, played, kind="estimated", **facts)


class Move(Part, frozen=True):
    """A move and its outcome, in the eyes of the mover."""

    turn: int
    seat: int
    policy: str
    state: State
    action: str
    outcome: Annotated[str, about("again, pass, win, lose, draw or end")]
    next_state: Annotated[dict[str, int] | None, about("in the eyes of the next mover")]
    reward: float
    dice: list[int]
    text: Annotated[str, about("the move in words")]


class Play(Part, frozen=True):
    """A game, move by move."""

    seed: int
    moves: list[Move]


class ToldGames(GameDocument, frozen=True, kw_only=True, tag="rollwise/simulate/told/1"):
    """Games move by move (--tell)."""

    policies: Annotated[list[str], about("of each seat")]
    seed: Annotated[int, about("of the first game")]
    moves: Annotated[list[Move], about("of the first game")]
    plays: Annotated[list[Play], about("all games")]

    def blocks(self) -> Iterator[str | Rows]:
        playing = ", ".join(map("{} plays {}".format, LETTERS, self.policies))
        for number, play in enumerate(self.plays):
            yield f"{chr(10) if number else ''}{self.title}, seed {play.seed}: {playing}"
            yield from (f"  {move.text}" for move in play.moves)


def told_games_document(
    graph: StateGraph, policies: list[str], games: Mapping[int, Sequence[ToldMove]]
) -> ToldGames:
    """Games move by move, by their seeds: all of them as `plays`, and the first one besides."""
    plays = [Play.from_result(None, seed=seed, moves=moves) for seed, moves in games.items()]
    return ToldGames.on(graph, plays[0], policies=policies, plays=plays)


class Standing(Part, frozen=True):
    """A policy with its result."""

    policy: str
    result: Annotated[Number, about("win probability, payoff or score, over all opponents")]
    error: Annotated[Number, about("certified bound, or standard error")]


class Ranked(GameDocument, frozen=True, kw_only=True, tag="rollwise/tournament/1"):
    """Every policy against every other, or in every seating."""

    unit: Unit
    games: Annotated[int | None, about("of each pair or seating; none where certified")]
    seatings: Maybe[int] = UNSET
    seed: int | None
    policies: list[str]
    standings: Annotated[Maybe[list[Standing]], about("the best first")] = UNSET
    first: Annotated[Matrix, about("results of the row's policy, moving first")] = UNSET
    both: Annotated[Matrix, about("results of the row's policy, over both seats")] = UNSET
    errors: Matrix = UNSET
    equally_good: Maybe[EquallyGood | None] = UNSET
    results: Annotated[
        Maybe[list[Number]], about("of a seat with the policy, over all seatings")
    ] = UNSET
    among: Annotated[Matrix, about("of the row's policy among the column's")] = UNSET
    error_bound: Maybe[Bound] = UNSET
    standard_errors: Maybe[list[Number] | None] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        is_score, simulated = self.unit != "win probability", self.kind == "estimated"
        exactly, roughly = (column, estimated) if is_score else (percents, estimated_chance)
        cell: Callable[[Any], str] = rounded if is_score else percent
        if self.seatings:
            yield from self._seatings(exactly, roughly, cell)
            return
        yield self.title
        sure = "exact, certified ± the error before rounding"
        if simulated:
            each = "pair" if self.both else "policy"
            games = how_many(self.games or 0, "game")
            sure = f"{games} a {each}, seed {self.seed}, ± the standard error"
        yield f"{self.unit}, {sure}" if self.unit == AVERAGE else sure
        standings = self.standings or []
        results = [as_number(one.result) for one in standings]
        errors = [as_number(one.error) for one in standings]
        shown = list(map(roughly, results, errors)) if simulated else exactly(results, errors)
        heads = ["policy", "result", "error"]
        heads += [f"vs {name}" for name in self.policies] if self.both else []
        rows = []
        for one, result in zip(standings, shown, strict=True):
            pairs = list[str]()
            if self.both:
                place = self.policies.index(one.policy)
                pairs = [*map(cell, self.both[place])]
                if simulated and self.errors:
                    errors_of = map(as_number, self.errors[place])
                    off = zip(pairs, map(as_number, self.both[place]), errors_of, strict=True)
                    # nothing is estimated of a policy against itself
                    pairs = [str(roughly(at, error)) if error else text for text, at, error in off]
            rows.append([one.policy, result.number, result.bound, *pairs])
        yield Rows(heads, rows, left=("policy",))
        if self.both:
            draws = "" if is_score else " (a draw is half a win)"
            yield f"{'payoffs' if is_score else 'wins'} over both seats{draws}, rounded"
        if self.equally_good:
            yield self.equally_good.text

    def _seatings(
        self, exactly: Any, roughly: Any, cell: Callable[[Any], str]
    ) -> Iterator[str | Rows]:
        results, among = self.results or [], self.among or []
        if self.standard_errors:
            numbers = list(map(str, map(roughly, results, self.standard_errors)))
            games = f" of {how_many(self.games or 0, 'game')} each, seed {self.seed}"
            sure = "estimated ± the standard error"
        else:
            numbers, worst = in_common(exactly(results, as_number(self.error_bound)))
            games, sure = "", worst.sure
        yield f"{self.title}: {self.seatings:,} seatings{games}"
        order = sorted(range(len(results)), key=lambda i: -as_number(results[i]))
        rows = [[self.policies[i], numbers[i], *map(cell, among[i])] for i in order]
        heads = ("policy", "in a seat", *(f"among {name}" for name in self.policies))
        yield Rows(heads, rows, left=("policy",))
        yield (
            f"{'wins' if self.unit == 'win probability' else self.unit} of a seat ({sure}), over "
            "all seatings with different policies; and of one policy among others that are all "
            "alike, rounded"
        )


def tournament_document(results: Tournament | SeatsTournament) -> Ranked:
    """Every policy against every other, or in every seating."""
    from rollwise.simulate.tournament import Tournament

    facts: dict[str, Any] = {}
    if isinstance(results, Tournament):
        facts = {"unit": AVERAGE} if results.is_average else {}
        lists = _lists(results, "first", "both", "errors") | {"equally_good": results.ties}
    else:
        lists = _lists(results, "results", "among", "standard_errors")
    kind = "certified" if results.exact else "estimated"
    facts |= {"kind": kind, "games": results.games or None}
    return Ranked.on(results.subject, results, **facts, **lists)


def _lists(found: object, *names: str) -> dict[str, Any]:
    """Arrays of a result as lists."""
    arrays = {name: getattr(found, name) for name in names}
    return {name: None if array is None else array.tolist() for name, array in arrays.items()}
