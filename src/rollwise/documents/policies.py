"""Documents of policies at play: simulations, tournaments, learners and rules of thumb."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Self

import msgspec
import numpy as np

from rollwise.documents.answers import with_rows
from rollwise.documents.model import (
    ALIKE,
    UNSET,
    Aligned,
    Bound,
    Chance,
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
    place_text,
    state_fields,
    unit,
)
from rollwise.documents.solved import AVERAGE, Unit, seats_worth
from rollwise.graph.view import worth_name
from rollwise.numbers.printed import (
    POINTS,
    Printed,
    column,
    estimated,
    estimated_chance,
    in_common,
    percent,
    percents,
    rounded_up,
)

if TYPE_CHECKING:
    from rollwise.analysis.learning import Assessment, LearnedAgainst, LearnedSeats
    from rollwise.analysis.thumb.frontier import Frontier
    from rollwise.analysis.thumb.seats import SeatsFrontier
    from rollwise.answer.evaluation import Shares
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Ties
    from rollwise.learn import Learned
    from rollwise.simulate import Match, ToldMove, Tournament
    from rollwise.simulate.seats import Played, SeatsTournament

SCORES_SHOWN, ROWS_SHOWN, WRONG_SHOWN = 30, 40, 5
Seats = Annotated[Maybe[list[Number] | None], about("of each seat")]
Matrix = Annotated[Maybe[list[list[Number]] | None], about("the row's policy against the column's")]
Loss = Annotated[Number, unit("probability, or points", "against optimal play")]


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
        else:
            text = str(roughly(as_number(self.mean), as_number(self.standard_error)))
        if self.exact is not None and self.exact_bound is not None:
            (exact,) = exactly([self.exact], [self.exact_bound])
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
    wins: Annotated[int, about("of the first player")]
    draws: int
    losses: Annotated[int, about("of the first player")]
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
        return super().from_result(source, second=source.second or None, scores=scores)

    def lines(self, score: str) -> Iterator[str]:
        """Wins, scores and lengths; `score` is the word for a score."""
        pair = f"{self.first} first, {self.second} second" if self.second else self.first
        yield f"{pair}: {self.games:,} games"
        if self.win_rate is not None:
            who = "the first player wins" if self.second else "wins"
            yield f"  {who} {self.win_rate.text(is_share=True)}"
            yield f"    {self.win_rate.interval(is_share=True)}"
            draws = f", {self.draws:,} draws" if self.draws else ""
            yield f"    {self.wins:,} won, {self.losses:,} lost{draws}"
        if self.score is not None:
            of = " of the first player" if self.second else ""
            yield f"  {score}{of} {self.score.text()}"
            if not self.score.is_alike:
                yield f"    {self.score.interval()}"
            yield from self._score_lines()
        for name, one in (("turns", self.turns), ("moves", self.moves)):
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
            yield f"    and {len(self.scores) - len(likely):,} rarer scores (--json for all)"


class Simulated(GameDocument, frozen=True, kw_only=True, tag="rollwise/simulate/1"):
    """Many games between policies, with the exact figures beside the simulated ones."""

    policy: Maybe[str] = UNSET
    against: Maybe[str] = UNSET
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
        yield f"{self.games:,} games{stopped}, seed {self.seed} ({sure})"
        if self.win_rate:
            yield f"  {self.policy} wins {self.win_rate.text(is_share=True)} over both seats"
        if self.payoff:
            yield f"  {self.policy} gains {self.payoff.text()} a game over both seats"
        for side in sides:
            yield from side.lines(self.unit.removeprefix("expected "))
        yield from (f"  {note}" for note in self.notes or ())
        if self.equally_good:
            yield f"  {self.equally_good.text}"

    def _seats(self, policies: list[str]) -> Iterator[str]:
        yield f"{self.title}: {self.games:,} games, seed {self.seed}"
        means, gets = self.win_rates or [], "wins"
        roughly, exactly = estimated_chance, percents
        if self.payoff_means:
            means, gets = self.payoff_means, "gets on average"
            roughly, exactly = estimated, column  # type: ignore[assignment]
        errors, worth = self.standard_errors or [], self.payoffs or self.win_probabilities
        for seat, name in enumerate(policies):
            rate = roughly(as_number(means[seat]), as_number(errors[seat]))
            line = f"  seat {seat + 1}, {name}, {gets} {rate} (estimated)"
            if worth:
                (sure,) = exactly([as_number(worth[seat])], [as_number(self.error_bound)])
                line += f"; exactly {sure.number}"
            yield line
        yield f"  {self.moves:.1f} actions in a game"


def match_document(game: StateGraph | Game, match: Match, ties: Ties | None) -> Simulated:
    """Many games between policies, with the exact figures beside the simulated ones."""
    has_score = any(side.score is not None for side in match.sides)
    return Simulated.on(
        game,
        match,
        kind="estimated",
        unit=worth_name(game.objective, has_score and game.objective == "win"),
        games_asked=match.asked,
        payoff=match.payoff or UNSET,
        disagreements=match.disagreements(),
        equally_good=ties,
    )


def seats_match_document(graph: StateGraph, played: Played, exact: Shares | None) -> Simulated:
    """Many games of several seats, with the exact figures beside them."""
    (name,) = seats_worth(graph, ())
    rates = "payoff_means" if name == "payoffs" else "win_rates"
    facts: dict[str, Any] = {"unit": graph.view.worth_name}
    facts |= {"win_rates": UNSET, rates: played.win_rates, name: None, "error_bound": None}
    if exact is not None:
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
        from rollwise.simulate.tell import PLAYERS

        playing = ", ".join(map("{} plays {}".format, PLAYERS, self.policies))
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
        cell: Callable[[Any], str] = "{:.6f}".format if is_score else percent
        if self.seatings:
            yield from self._seatings(exactly, roughly, cell)
            return
        yield self.title
        sure = "exact, certified ± the error before rounding"
        if simulated:
            each = "pair" if self.both else "policy"
            sure = f"{self.games:,} games a {each}, seed {self.seed}, ± the standard error"
        yield f"{self.unit}, {sure}" if self.unit == AVERAGE else sure
        standings = self.standings or []
        results = [as_number(one.result) for one in standings]
        errors = [as_number(one.error) for one in standings]
        shown = list(map(roughly, results, errors)) if simulated else exactly(results, errors)
        heads = ["policy", "result", "error"]
        heads += [f"vs {name}" for name in self.policies] if self.both else []
        rows = []
        for one, result in zip(standings, shown, strict=True):
            row = self.both[self.policies.index(one.policy)] if self.both else ()
            rows.append([one.policy, result.number, result.bound, *map(cell, row)])
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
            games = f" of {self.games:,} games each, seed {self.seed}"
            sure = "estimated ± the standard error"
        else:
            numbers, worst = in_common(exactly(results, [self.error_bound] * len(results)))
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


def tournament_document(
    graph: StateGraph, results: Tournament, ties: Ties | None, *, is_average: bool = False
) -> Ranked:
    """Every policy against every other.

    Parameters
    ----------
    is_average : bool
        The results are averages of endless play.
    """
    return Ranked.on(
        graph,
        results,
        kind="certified" if results.exact else "estimated",
        unit=AVERAGE if is_average else graph.view.worth_name,
        **_lists(results, "first", "both", "errors"),
        equally_good=ties,
    )


def _lists(found: object, *names: str) -> dict[str, Any]:
    """Arrays of a result as lists."""
    arrays = {name: getattr(found, name) for name in names}
    return {name: None if array is None else array.tolist() for name, array in arrays.items()}


def seats_tournament_document(graph: StateGraph, results: SeatsTournament) -> Ranked:
    """The result of each policy, over all tables with it."""
    kind = "estimated" if results.error_bound is None else "certified"
    lists = _lists(results, "results", "among", "standard_errors")
    return Ranked.on(graph, results, kind=kind, unit=graph.view.worth_name, **lists)


class Assessed(Part, frozen=True):
    """A learned policy against the exact solution."""

    games: int
    weighted_error: Annotated[Number, about("mean error of the estimates in good play")]
    optimal_share: Annotated[Chance, about("of the positions with a choice")]
    weighted_optimal_share: Annotated[Chance, about("in good play")]
    loss: Loss
    loss_bound: Bound
    reasons: Annotated[dict[str, int], about("positions without a right answer, by reason")]
    frequent_positions: int
    within_2_errors: Annotated[Chance, about("frequent positions within 2 standard errors")]
    within_3_errors: Annotated[Chance, about("frequent positions within 3 standard errors")]
    recent_within_2_errors: Annotated[Chance, about("the same, from the later half of the games")]
    recent_within_3_errors: Annotated[Chance, about("the same, from the later half of the games")]

    def cells(self, *, is_score: bool) -> list[str]:
        """The row of a learning curve."""
        error, loss = as_number(self.weighted_error), as_number(self.loss)
        return [
            f"{self.games:,}",
            f"{error:.5f}" if is_score else f"{100 * error:.3f} %",
            f"{100 * as_number(self.optimal_share):.1f} %",
            f"{100 * as_number(self.weighted_optimal_share):.2f} %",
            f"{loss:z.6f}" if is_score else percent(loss),
        ]


class WrongPosition(Part, frozen=True):
    """A position with a wrong learned action."""

    state: State
    reason: str
    learned: Annotated[str | None, about("null: never seen")]
    best: str
    cost: Loss
    visits: int
    visits_a_game: Annotated[float, about("in good play")]

    def text(self, *, is_score: bool) -> str:
        """The position and its explanation in a line."""
        cost = as_number(self.cost)
        told = f"{cost:z.4f}" if is_score else percent(cost)
        told = f", costs {told}" if math.isfinite(cost) else ""
        return (
            f"{place_text(self.state)}: learned {self.learned or 'no action'}, best is "
            f"{self.best}{told} ({self.reason}; {self.visits:,} visits)"
        )


class Comparison(Assessed, frozen=True):
    """A learned policy against the exact solution, with its wrong positions."""

    positions: Annotated[list[WrongPosition], about("positions of good play first")]

    def lines(self, *, is_score: bool) -> Iterator[str]:
        """The comparison in words, with the most important wrong positions."""
        error = as_number(self.weighted_error)
        amount = f"{error:.5f} points" if is_score else f"{100 * error:.5f} {POINTS}"
        yield "\nAgainst the exact solution (certified), positions weighted by good play"
        yield f"  mean error of the estimates: {amount}"
        yield (
            f"  learned action optimal: {100 * as_number(self.weighted_optimal_share):.2f} % "
            f"weighted, {100 * as_number(self.optimal_share):.2f} % of the reachable positions "
            "with a choice"
        )
        lost = [max(as_number(self.loss), 0.0)], [self.loss_bound]
        (loss,) = column(*lost) if is_score else percents(*lost, unit=POINTS)
        yield f"  loss of the learned policy against the best play: {loss.number} ({loss.sure})"
        for games, two, three in (
            ("all games", self.within_2_errors, self.within_3_errors),
            (
                "the later half of the games",
                self.recent_within_2_errors,
                self.recent_within_3_errors,
            ),
        ):
            if two is not None and three is not None:
                yield (
                    f"  estimates from {games}: {100 * two:.0f} % of {self.frequent_positions} "
                    f"frequent positions within 2 standard errors, {100 * three:.0f} % within 3"
                )
        yield "  positions without a right answer, by reason:"
        yield from (f"    {reason:<12} {count:>9,}" for reason, count in self.reasons.items())
        for row in [row for row in self.positions if row.visits_a_game > 0][:WRONG_SHOWN]:
            yield f"    {row.text(is_score=is_score)}"


class StartEstimate(Part, frozen=True):
    """The learned action and its estimated value at the start."""

    action: str
    estimate: Number
    standard_error: Number

    def text(self, name: str, *, is_score: bool) -> str:
        """The action with its estimate."""
        value, error = as_number(self.estimate), as_number(self.standard_error)
        shown = f"{value:z.5f}" if is_score else percent(value)
        if math.isfinite(error):
            one = (estimated if is_score else estimated_chance)(value, error)
            shown = f"{one.number} (estimated, standard error {one.bound})"
        return f"  start: {self.action}, {name} {shown}"


class AgainstPolicy(Part, frozen=True):
    """The result against the opponent of the learner, on average over the seats."""

    policy: str
    gets: Number
    gets_bound: Bound
    best_response: Number
    best_response_bound: Bound
    equally_good: EquallyGood | None


class LearnedPolicy(GameDocument, frozen=True, kw_only=True, tag="rollwise/learn/1"):
    """Learned actions and estimates, or a learned profile of seats."""

    method: Maybe[str] = UNSET
    games: int
    explore: float
    seed: int
    workers: Maybe[int] = UNSET
    states: Maybe[int] = UNSET
    states_seen: int
    estimate_name: Annotated[Maybe[str], about("win_rate, score or payoff")] = UNSET
    start: Maybe[StartEstimate] = UNSET
    rows: Annotated[Maybe[list[dict[str, Any]]], about("learned action and estimate")] = UNSET
    grid_origin: Annotated[
        Maybe[dict[str, int]], about("the fields that number rows and columns, from these on")
    ] = UNSET
    action_grid: Maybe[list[list[int]]] = UNSET
    estimate_grid: Maybe[list[list[Number]]] = UNSET
    compare: Maybe[Comparison] = UNSET
    checkpoints: Maybe[list[Assessed]] = UNSET
    against: Maybe[AgainstPolicy] = UNSET
    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    best_responses: Annotated[Seats, about("best result of each seat")] = UNSET
    gains: Annotated[Seats, about("of the best response of each seat")] = UNSET
    error_bound: Maybe[Bound] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        if self.gains:
            yield from self._seats(self.gains)
            return
        what, is_score = str(self.estimate_name), self.estimate_name != "win_rate"
        what = what.replace("_", " ")
        yield (
            f"{self.title}: {self.games:,} games learned by {self.method} "
            f"(M {self.explore:g}, seed {self.seed}, workers {self.workers})"
        )
        yield f"  {self.states_seen:,} of {self.states:,} positions were seen"
        if self.start:
            yield self.start.text(what, is_score=is_score)
        if self.grid_origin and self.action_grid and self.estimate_grid:
            (rows, columns), origin = self.grid_origin, [*self.grid_origin.values()]
            yield f"\nAction learned (rows: {rows}, columns: {columns}; -1: never seen)"
            yield Aligned.matrix(self.action_grid, origin, "d")
            scale, form = (1, ".3f") if is_score else (100, ".1f")
            worth = [
                [x if x == -1 else scale * as_number(x) for x in row] for row in self.estimate_grid
            ]
            unit = "" if is_score else " in %"
            unseen = "nan" if is_score else "-1"
            yield f"\n{what.capitalize()} of that action{unit} ({unseen}: never seen)"
            yield Aligned.matrix(worth, origin, form)
        else:
            yield from self._most_visited(is_score=is_score)
        if self.checkpoints:
            heads = ("games", "weighted error", "optimal", "optimal, weighted", "loss")
            yield "\nLearning curve"
            yield Rows(heads, [point.cells(is_score=is_score) for point in self.checkpoints])
        if self.compare:
            yield from self.compare.lines(is_score=is_score)
        if self.against:
            one = self.against
            name, written = ("payoff", column) if is_score else ("win probability", percents)
            numbers = [as_number(one.gets), as_number(one.best_response)]
            bounds = [one.gets_bound, one.best_response_bound]
            (gets, best), worst = in_common(written(numbers, bounds))
            yield (
                f"\nAgainst {one.policy}, on average over the seats: {name} {gets}; a best "
                f"response has {best} ({worst.sure})"
            )
            if one.equally_good:
                yield one.equally_good.text

    def _most_visited(self, *, is_score: bool) -> Iterator[str | Rows]:
        found: Any = self.rows
        rows = msgspec.json.decode(found) if isinstance(found, msgspec.Raw) else found
        # the last columns: the estimate, its standard error, and the visits of action and state
        estimate, error, _, visits = list(rows[0])[-4:]
        shown = sorted(rows, key=lambda row: -row[visits])[:ROWS_SHOWN]
        parts = {estimate, error}

        def cell(name: str, value: Any) -> str:
            if name not in parts or value in (None, -1):
                return "" if value is None else f"{value:g}" if name in parts else str(value)
            return f"{value:z.5f}" if is_score else f"{100 * value:z.3f} %"

        yield ""
        heads = list(shown[0])
        cells = [[cell(name, value) for name, value in row.items()] for row in shown]
        yield Rows(heads, cells, left=("action",))
        if len(rows) > len(shown):
            yield f"the {len(shown)} most visited of {len(rows):,} rows (--csv or --json for all)"
        if self.method != "q-learning" and any(
            row[error] is None and row[estimate] not in (None, -1) for row in shown
        ):
            yield f"without a standard error: a single game, or {ALIKE}"

    def _seats(self, gains: Sequence[float | None]) -> Iterator[str]:
        """The result of each seat, and the gain of its best response."""
        yield (
            f"{self.title}: {self.games:,} games of self-play, M {self.explore:g}, "
            f"seed {self.seed}; {self.states_seen:,} states with a choice were seen"
        )
        written: Callable[..., list[Printed]] = column if self.payoffs else percents
        gets, could = ("gets on average", "get") if self.payoffs else ("wins", "win")
        bounds = [as_number(self.error_bound)] * len(gains)

        def shown(numbers: Any) -> tuple[list[str], Printed]:
            return in_common(written([as_number(one) for one in numbers], bounds))

        has, worst = shown(self.payoffs or self.win_probabilities)
        best, _ = shown(self.best_responses)
        for seat, pair in enumerate(zip(has, best, strict=True), 1):
            yield f"  seat {seat} {gets} {pair[0]}, and could {could} {pair[1]}"
        gain = max(map(as_number, gains))
        most = f"{gain:.6f}" if self.payoffs else percent(gain)
        yield (
            f"  ({worst.sure}) where all play the learned policy; the best response of a seat "
            f"gains at most {most} from the start (0 in an equilibrium)"
        )


def learned_document(
    learned: Learned,
    assessed: Assessment | None = None,
    checkpoints: Sequence[Assessment] | None = None,
    against: LearnedAgainst | None = None,
) -> LearnedPolicy:
    """Learned actions and estimates, and their comparison with the exact solution.

    Parameters
    ----------
    assessed : Assessment, optional
        The learned result against the exact one.
    checkpoints : sequence of Assessment, optional
        The same along the way.
    against : LearnedAgainst, optional
        Its result against an opponent.
    """
    graph, more = learned.graph, with_rows(learned.table())
    actions, estimates = learned.grid(learned.labels), learned.grid(learned.estimates)
    if actions is not None and estimates is not None:
        origin = map(int, graph.states.min(axis=0))
        more["grid_origin"] = dict(zip(graph.field_names, origin, strict=True))
        more |= {"action_grid": actions.tolist(), "estimate_grid": estimates.tolist()}
    if not learned.is_score or not math.isnan(learned.estimates[0]):
        more["start"] = StartEstimate(
            graph.vocabulary.text(int(learned.labels[0])),
            float(learned.estimates[0]),
            float(learned.estimate_errors[0]),
        )
    if assessed is not None:
        more["compare"] = Comparison.from_result(
            assessed, **_figures(assessed), positions=wrong_positions(assessed)
        )
    if checkpoints is not None:
        more["checkpoints"] = [
            Assessed.from_result(point, **_figures(point)) for point in checkpoints
        ]
    if against is not None:
        more["against"] = AgainstPolicy.from_result(
            None,
            policy=against.against,
            gets=against.gets.value,
            gets_bound=against.gets.bound,
            best_response=against.best.value,
            best_response_bound=against.best.bound,
            equally_good=against.ties,
        )
    seen = int((learned.seen > 0).sum())
    facts = {"states": graph.n_states, "states_seen": seen, "kind": "estimated"}
    return LearnedPolicy.on(graph, learned, **facts, **more)


def _figures(assessed: Assessment) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "games": assessed.learned.games,
        "reasons": assessed.reason_counts(),
        "frequent_positions": int(assessed.frequent.sum()),
    }
    for name, recent in (("within", False), ("recent_within", True)):
        found = assessed.deviations(recent)
        for most in (2, 3):
            share = float((found <= most).mean()) if len(found) else None
            facts[f"{name}_{most}_errors"] = share
    return facts


def wrong_positions(assessed: Assessment) -> list[WrongPosition]:
    """The positions with a wrong learned action, positions of good play first."""
    from rollwise.analysis.learning import REASONS

    learned, reference = assessed.learned, assessed.reference
    graph = learned.graph
    wrong = np.flatnonzero(assessed.reasons >= 0)
    wrong = wrong[np.argsort(-reference.visits[wrong], kind="stable")]
    best = reference.solution.best_actions
    rows = []
    for s in wrong.tolist():
        action = int(learned.best_actions[s])
        rows.append(
            WrongPosition(
                state_fields(graph, s),
                REASONS[assessed.reasons[s]],
                None if action < 0 else graph.view.action(action).name,
                graph.view.action(best[s]).name,
                float(assessed.costs[s]),
                int(learned.seen[s]),
                float(reference.visits[s]),
            )
        )
    return rows


def learned_seats_document(graph: StateGraph, learned: LearnedSeats) -> LearnedPolicy:
    """A profile learned by self-play, and each seat's best response to it."""
    return LearnedPolicy.on(
        graph,
        learned,
        kind="certified",
        states_seen=learned.seen,
        **seats_worth(graph, learned.response.win_probabilities),
        best_responses=list(learned.response.best),
        error_bound=learned.response.error_bound,
    )


class LossSpread(Part, frozen=True):
    """Ranges of the losses over all optimal policies of the opponent: the least and the most."""

    loss: tuple[Number, Number]
    loss_first: tuple[Number, Number]
    loss_second: tuple[Number, Number]
    error_bound: Bound

    @property
    def is_known(self) -> bool:
        """Whether the ends of the range are known."""
        return math.isfinite(as_number(self.error_bound))


class ThumbRule(Part, frozen=True, kw_only=True):
    """A rule of thumb with its certified loss."""

    text: str
    numbers: Annotated[int, about("integers in the rule")]
    loss: Loss
    loss_first: Annotated[Maybe[Loss], about("moving first")] = UNSET
    loss_second: Annotated[Maybe[Loss], about("moving second")] = UNSET
    losses: Annotated[Seats, about("in each seat among equilibrium players")] = UNSET
    spread: Maybe[LossSpread | None] = UNSET
    exploitability: Annotated[Maybe[Number], about("gain of a best response, over the seats")] = (
        UNSET
    )
    error_bound: Bound
    exploitability_bound: Maybe[Bound] = UNSET
    gain: Annotated[Maybe[Number], about("of a seat's best response where all play the rule")] = (
        UNSET
    )
    gain_bound: Maybe[Bound] = UNSET
    policy: Annotated[dict[str, Any], about("in a file, a policy for other commands")]


class RulesOfThumb(GameDocument, frozen=True, kw_only=True, tag="rollwise/thumb/1"):
    """Rules of thumb: each has more integers than the one before, and loses less."""

    rules: list[ThumbRule]
    unit: Unit
    scored: Annotated[int, about("scored rules")]
    seed: int
    searches: int
    stopped: Annotated[bool, about("by Ctrl-C")]
    timed_out: bool

    def blocks(self) -> Iterator[str | Rows]:
        from rollwise.analysis.losses import loss_text, spread_words

        if not self.rules:
            yield f"none of the {self.scored:,} scored rules ends every play"
            return
        is_score = self.unit != "win probability"
        scale, unit = (1.0, "points") if is_score else (100.0, "percentage points")
        each = [*self.rules[0].losses] if self.rules[0].losses else []
        heads = ["integers", "loss"]
        if self.players:
            heads += [*(f"seat {seat}" for seat in range(1, len(each) + 1)), "gain against it"]
        elif self.rules[0].loss_second is not None:
            heads += ["first", "second", "exploitability"]
        rows, spreads = [], []
        for rule in self.rules:
            spread = rule.spread or None
            spreads.append(spread)
            cells = [loss_text(as_number(rule.loss), spread, scale)]
            if self.players:
                each = [*(rule.losses or ()), as_number(rule.gain)]
                cells += [f"{scale * as_number(loss):z.4f}" for loss in each]
            elif rule.loss_second is not None:
                cells += [
                    loss_text(as_number(rule.loss_first), spread, scale, "loss_first"),
                    loss_text(as_number(rule.loss_second), spread, scale, "loss_second"),
                    f"{rule.exploitability:z.4f}",
                ]
            rows.append([str(rule.numbers), *cells, rule.text])
        yield Rows([*heads, "rule"], rows, left=("rule",), fold=("rule",))
        bounds = [as_number(rule.error_bound) for rule in self.rules]
        bounds += [as_number(rule.gain_bound) for rule in self.rules if self.players]
        sure = f"certified ± {rounded_up(scale * max(bounds))}"
        seeds = f"seed {self.seed}"
        seeds += f", {self.searches} searches" if self.searches > 1 else ""
        best = f"the best of {self.scored:,} scored rules ({seeds})"
        best += ", and perhaps not the best there are"
        if self.players:
            yield (
                f"losses in {unit} ({sure}) where all others play the equilibrium: on average over "
                "the seats, and in each; the gain is that of a best response where all play the "
                f"rule. These are {best}"
            )
        else:
            seats = ", on average over the seats" if len(heads) > 2 else ""
            what = f"losses against optimal play in {unit}{seats}"
            if self.unit == AVERAGE:
                what = f"losses of the {AVERAGE}, against optimal play"
            yield f"{what} ({sure}); {best}"
            if seats and not is_score:
                yield (
                    "the exploitability is the mean payoff of a best response: 1 for a win, -1 for "
                    "a loss"
                )
        yield from spread_words(spreads)
        if self.timed_out:
            yield (
                "time ended the search, so the same seed may find other rules next time; "
                "--evaluations N finds the same each time"
            )


def thumb_document(
    graph: StateGraph, frontier: Frontier, *, is_average: bool = False
) -> RulesOfThumb:
    """The rules of thumb of a game. A ``policy`` can be kept as a file and given as a policy.

    Parameters
    ----------
    is_average : bool
        The losses are of the average of endless play.
    """
    rules = [
        ThumbRule.from_result(rule, policy=rule.rule.document(graph)) for rule in frontier.rules
    ]
    name = AVERAGE if is_average else graph.view.worth_name
    return RulesOfThumb.on(graph, frontier, kind="certified", rules=rules, unit=name)


def seats_thumb_document(graph: StateGraph, frontier: SeatsFrontier) -> RulesOfThumb:
    """Rules of thumb, and the loss of each among equilibrium players."""
    rules = [
        ThumbRule.from_result(
            rule,
            numbers=rule.of_search.numbers,
            policy=rule.of_search.rule.document(graph),
        )
        for rule in frontier.rules
    ]
    name = graph.view.worth_name
    return RulesOfThumb.on(graph, frontier.search, kind="certified", rules=rules, unit=name)
