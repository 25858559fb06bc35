"""Documents of policies at play: simulations, tournaments, learners and rules of thumb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np

from rollwise.documents.answers import with_rows
from rollwise.documents.model import (
    UNSET,
    Bound,
    Chance,
    EquallyGood,
    GameDocument,
    Maybe,
    Number,
    Part,
    State,
    about,
    unit,
)
from rollwise.documents.parts import state_fields
from rollwise.documents.solved import Unit, seats_worth

if TYPE_CHECKING:
    from rollwise.analysis.learning import Assessment, LearnedAgainst, LearnedSeats
    from rollwise.analysis.losses import Spread
    from rollwise.analysis.thumb.frontier import Frontier
    from rollwise.analysis.thumb.seats import SeatsFrontier
    from rollwise.answer.evaluate_seats import Shares
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Ties
    from rollwise.learn import Learned
    from rollwise.simulate import Estimate, Length, Match, Side, ToldMove, Tournament
    from rollwise.simulate.seats import Played, SeatsTournament

Seats = Annotated[Maybe[list[Number] | None], about("of each seat")]
Matrix = Annotated[Maybe[list[list[Number]] | None], about("the row's policy against the column's")]
Loss = Annotated[Number, unit("probability, or points", "against optimal play")]


class Mean(Part, frozen=True):
    """A mean over games, beside its exact value."""

    mean: Number
    standard_error: Number
    interval_95: Annotated[list[Number], about("95 % confidence interval")]
    games: int
    exact: Annotated[Number, about("null: unknown")]
    exact_bound: Bound


class PlayedLength(Mean, frozen=True):
    """The length of games."""

    standard_deviation: Number
    shortest: int
    median: int
    longest: int


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


class Simulated(GameDocument, frozen=True, kw_only=True, tag="rollwise/simulate/1"):
    """Many games between policies, with the exact figures beside the simulated ones."""

    policy: Maybe[str] = UNSET
    against: Maybe[str] = UNSET
    policies: Annotated[Maybe[list[str]], about("of all seats")] = UNSET
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


def mean_of(estimate: Estimate | None) -> Mean | None:
    """A mean over games, its interval, and the exact value if known."""
    return None if estimate is None else Mean.from_result(estimate, interval_95=estimate.interval)


def good_of(ties: Ties | None) -> EquallyGood | None:
    """Ties of an optimal policy, if there are any."""
    return None if ties is None else EquallyGood.from_result(ties)


def match_document(game: StateGraph | Game, match: Match, ties: Ties | None) -> Simulated:
    """Many games between policies, with the exact figures beside the simulated ones."""
    return Simulated.on(
        game,
        match,
        kind="estimated",
        games_asked=match.asked,
        win_rate=mean_of(match.win_rate),
        payoff=mean_of(match.payoff) or UNSET,
        sides=[_side(side) for side in match.sides],
        disagreements=match.disagreements(),
        equally_good=good_of(ties),
    )


def _side(side: Side) -> PlayedSide:
    return PlayedSide.from_result(
        side,
        second=side.second or None,
        win_rate=mean_of(side.win_rate),
        score=mean_of(side.score),
        scores=None if side.scores is None else list(side.scores.items()),
        turns=_played_length(side.turns),
        moves=_played_length(side.moves),
    )


def _played_length(length: Length) -> PlayedLength:
    mean = Mean.from_result(length.estimate, interval_95=length.estimate.interval)
    facts = msgspec.structs.asdict(mean)
    return PlayedLength.from_result(length, **facts, standard_deviation=length.deviation)


def seats_match_document(graph: StateGraph, found: Played, exact: Shares | None) -> Simulated:
    """Many games of several seats, with the exact figures beside them."""
    (name,) = seats_worth(graph, ())
    rates = "payoff_means" if name == "payoffs" else "win_rates"
    facts = {"win_rates": UNSET, rates: found.win_rates, name: None, "error_bound": None}
    if exact is not None:
        facts |= {name: list(exact.win_probabilities), "error_bound": exact.error_bound}
    return Simulated.on(graph, found, kind="estimated", **facts)


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

    seed: Annotated[int, about("of the first game")]
    moves: Annotated[list[Move], about("of the first game")]
    plays: Annotated[list[Play], about("all games")]


def told_games_document(graph: StateGraph, games: Mapping[int, Sequence[ToldMove]]) -> ToldGames:
    """Games move by move, by their seeds: all of them as `plays`, and the first one besides."""
    plays = [
        Play(seed, [Move.from_result(move) for move in moves]) for seed, moves in games.items()
    ]
    return ToldGames.on(graph, plays[0], plays=plays)


class Standing(Part, frozen=True):
    """A policy with its result."""

    policy: str
    result: Annotated[Number, about("win probability, payoff or score, over all opponents")]
    error: Annotated[Number, about("certified bound, or standard error")]


class Ranked(GameDocument, frozen=True, kw_only=True, tag="rollwise/tournament/1"):
    """Every policy against every other, or in every seating."""

    games: Annotated[int | None, about("of each pair or seating; none where certified")]
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


def tournament_document(graph: StateGraph, found: Tournament, ties: Ties | None) -> Ranked:
    """Every policy against every other."""
    standings = [Standing.from_result(entry) for entry in found.standings]
    kind = "certified" if found.exact else "estimated"
    good = good_of(ties)
    return Ranked.on(graph, found, kind=kind, standings=standings, equally_good=good)


def seats_tournament_document(graph: StateGraph, found: SeatsTournament) -> Ranked:
    """The result of each policy, over all tables with it."""
    kind = "estimated" if found.error_bound is None else "certified"
    return Ranked.on(graph, found, kind=kind)


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
    within_3_errors: Annotated[Chance, about("frequent positions within 3 standard errors")]
    recent_within_3_errors: Annotated[Chance, about("the same, from the later half of the games")]


class WrongPosition(Part, frozen=True):
    """A position with a wrong learned action."""

    state: State
    reason: str
    learned: Annotated[str | None, about("null: never seen")]
    best: str
    cost: Loss
    visits: int
    visits_a_game: Annotated[float, about("in good play")]


class Comparison(Assessed, frozen=True):
    """A learned policy against the exact solution, with its wrong positions."""

    positions: Annotated[list[WrongPosition], about("positions of good play first")]


class AgainstPolicy(Part, frozen=True):
    """The result against the opponent of the learner, on average over the seats."""

    policy: str
    gets: Number
    gets_bound: Bound
    best_response: Number
    best_response_bound: Bound


class LearnedPolicy(GameDocument, frozen=True, kw_only=True, tag="rollwise/learn/1"):
    """Learned actions and estimates, or a learned profile of seats."""

    method: Maybe[str] = UNSET
    games: int
    explore: float
    seed: int
    workers: Maybe[int] = UNSET
    states: Maybe[int] = UNSET
    states_seen: int
    rows: Annotated[Maybe[list[dict[str, Any]]], about("learned action and estimate")] = UNSET
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
    actions = learned.grid(learned.labels)
    if actions is not None:
        more |= {"action_grid": actions, "estimate_grid": learned.grid(learned.estimates)}
    if assessed is not None:
        more["compare"] = Comparison.from_result(
            assessed, **_figures(assessed), positions=wrong_positions(assessed)
        )
    if checkpoints is not None:
        more["checkpoints"] = [
            Assessed.from_result(point, **_figures(point)) for point in checkpoints
        ]
    if against is not None:
        more["against"] = AgainstPolicy(
            against.against,
            against.gets.value,
            against.gets.bound,
            against.best.value,
            against.best.bound,
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
    for name, recent in (("within_3_errors", False), ("recent_within_3_errors", True)):
        found = assessed.deviations(recent)
        facts[name] = float((found <= 3).mean()) if len(found) else None
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


def learned_seats_document(graph: StateGraph, found: LearnedSeats) -> LearnedPolicy:
    """A profile learned by self-play, and each seat's best response to it."""
    return LearnedPolicy.on(
        graph,
        found,
        kind="certified",
        states_seen=found.seen,
        **seats_worth(graph, found.response.win_probabilities),
        best_responses=list(found.response.best),
        error_bound=found.response.error_bound,
    )


class LossSpread(Part, frozen=True):
    """Ranges of the losses over all optimal policies of the opponent: the least and the most."""

    loss: tuple[Number, Number]
    loss_first: tuple[Number, Number]
    loss_second: tuple[Number, Number]
    error_bound: Bound


def spread_of(spread: Spread | None) -> LossSpread | None:
    """Ranges of the losses over all optimal policies."""
    if spread is None:
        return None
    return LossSpread(spread.mean, spread.first, spread.second, spread.error_bound)


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


def thumb_document(graph: StateGraph, found: Frontier) -> RulesOfThumb:
    """The rules of thumb of a game. A ``policy`` can be kept as a file and given as a policy."""
    rules = [
        ThumbRule.from_result(rule, spread=spread_of(rule.spread), policy=rule.rule.document(graph))
        for rule in found.rules
    ]
    name = graph.view.worth_name
    return RulesOfThumb.on(graph, found, kind="certified", rules=rules, unit=name)


def seats_thumb_document(graph: StateGraph, found: SeatsFrontier) -> RulesOfThumb:
    """Rules of thumb, and the loss of each among equilibrium players."""
    rules = [
        ThumbRule.from_result(
            rule,
            numbers=rule.of_search.numbers,
            policy=rule.of_search.rule.document(graph),
        )
        for rule in found.rules
    ]
    name = graph.view.worth_name
    return RulesOfThumb.on(graph, found.search, kind="certified", rules=rules, unit=name)
