"""Answers about contests: solved contests, and odds and stakes during one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from rollwise.analysis.records import Doubling
from rollwise.documents.model import (
    UNSET,
    Bound,
    Chance,
    EquallyGood,
    GameDocument,
    Maybe,
    Number,
    Part,
    Rows,
    about,
    as_number,
    unit,
)
from rollwise.documents.scores import ByScore, EndRange, Points, RunTime
from rollwise.numbers.printed import (
    POINTS,
    certified,
    column,
    how_many,
    in_common,
    percent,
    percents,
    rounded_up,
)

if TYPE_CHECKING:
    from rollwise.analysis.contest import BlindContest, ContestSolution
    from rollwise.answer.optimal_set import Range


ContestTies = Annotated[str, about("the winner of a contest with equal scores")]


class MixedPolicy(Part, frozen=True):
    """A policy of a mixture."""

    weight: Chance
    mean_score: Points
    mean_score_bound: Bound
    standard_deviation: Points


class BestMean(Part, frozen=True):
    """The policy of the best mean in a blind contest."""

    mean_score: Points
    mean_score_bound: Bound
    wins_against_mixture: Chance
    error_bound: Bound
    best_response_wins: Annotated[Chance, about("against it")]
    best_response_error_bound: Bound


class SolvedBlind(GameDocument, frozen=True, kw_only=True, tag="rollwise/solve/blind/1"):
    """An equilibrium of a simultaneous contest of two (as=blind)."""

    states: Annotated[int, about("with the score")]
    mixture: list[MixedPolicy]
    mean_score: Points
    gain: Annotated[Chance, about("largest gain of a policy against the mixture")]
    best_mean: BestMean
    rounds: Annotated[int, about("best responses")]
    seconds: RunTime

    def blocks(self) -> Iterator[str | Rows]:
        yield f"{self.title}, a contest of two at the same time; both win half of it"
        rows = [
            (
                percent(as_number(part.weight)),
                f"{part.mean_score:.6f}",
                f"{part.standard_deviation:.6f}",
            )
            for part in self.mixture
        ]
        yield Rows(("played", "mean score", "standard deviation"), rows)
        gain, best = rounded_up(as_number(self.gain)), self.best_mean
        yield f"  no policy gains more than {gain} against this mixture"
        (wins,) = percents([best.wins_against_mixture], best.error_bound)
        (loses,) = percents([best.best_response_wins], best.best_response_error_bound)
        yield (
            f"  the policy of the best mean ({best.mean_score:.6f}) wins {wins.number} against it "
            f"({wins.sure}), and the best response to that wins {loses.number} ({loses.sure})"
        )
        yield (
            f"  {how_many(self.states, 'state')} with the score, "
            f"{how_many(self.rounds, 'best response')}, "
            f"{self.seconds:.2f} s"
        )


def blind_contest_document(solved: BlindContest, seconds: float) -> SolvedBlind:
    """An equilibrium of a simultaneous contest of two, and the policy of the best mean there."""
    mean, wins, loses = solved.for_mean, solved.mean_against, solved.against_mean
    return SolvedBlind.on(
        solved.scored.source,
        players=2,
        kind="certified",
        states=solved.scored.graph.n_states,
        mixture=[
            MixedPolicy(part.weight, part.scores.mean, part.scores.mean_bound, part.scores.sd)
            for part in solved.parts
        ],
        mean_score=solved.mean,
        gain=solved.gain,
        best_mean=BestMean(
            mean.mean, mean.mean_bound, wins.value, wins.bound, loses.value, loses.bound
        ),
        rounds=solved.rounds,
        seconds=seconds,
    )


class FirstPlayer(Part, frozen=True):
    """The first player of a contest, playing to win or for the best mean."""

    probability: Chance
    mean_score: Points
    mean_score_bound: Bound
    probability_playing_for_the_mean: Chance
    error_bound_playing_for_the_mean: Bound
    range_playing_for_the_mean: Annotated[EndRange, about("over all policies of the best mean")]
    mean_score_playing_for_the_mean: Points
    mean_score_bound_playing_for_the_mean: Bound


class SolvedContest(GameDocument, frozen=True, kw_only=True, tag="rollwise/solve/contest/1"):
    """The chances of all players of a contest (as=contest)."""

    ties: ContestTies
    states: Annotated[int, about("with the score")]
    situations: int
    probabilities: Annotated[list[float], unit("probability", "of each player to win")]
    error_bound: Bound
    optimality_gap: Annotated[Chance, about("largest gain of a player by another policy")]
    last_minus_first: Annotated[Chance, about("difference of these players")]
    first_player: FirstPlayer
    scores: list[int]
    final_score_of_first: ByScore
    worth_of_first_score: ByScore
    equally_good: EquallyGood | None
    seconds: RunTime

    def blocks(self) -> Iterator[str | Rows]:
        yield f"{self.title}, a contest of {self.players}"
        bound, first = as_number(self.error_bound), self.first_player
        found, worst = in_common(percents(self.probabilities, bound))
        rows = [(str(player), chance) for player, chance in enumerate(found, start=1)]
        yield Rows(("player", f"wins (ties: {self.ties})"), rows)
        gap = rounded_up(as_number(self.optimality_gap))
        yield f"  {worst.sure}; no player can gain more than {gap} by another policy"
        # the difference of two doubles below 1 is off by no more than 2^-53
        off = 2 * bound + 2.0**-53
        ahead = as_number(self.last_minus_first)
        (more,) = percents([abs(ahead)], off, unit=POINTS)
        word = "less" if ahead < 0 else "more"
        yield f"  the last player wins {more.number} {word} than the first ({more.sure})"
        shares = first.range_playing_for_the_mean
        ends = (as_number(shares.most), as_number(shares.least))
        gains = [as_number(first.probability) - end for end in ends]
        off = bound + as_number(shares.error_bound) + 2.0**-53
        least, most = percents(gains, off, sign=True, unit=POINTS)
        gain = most.number if least.number == most.number else f"{least.number} to {most.number}"
        mean = certified(first.mean_score, first.mean_score_bound)
        instead = certified(
            first.mean_score_playing_for_the_mean,
            first.mean_score_bound_playing_for_the_mean,
        )
        yield (
            f"  playing to win instead of for the best mean brings the first player {gain} "
            f"({most.sure}; mean score {mean} instead of {instead})"
        )
        if self.equally_good:
            yield f"  {self.equally_good.text}"
        yield (
            f"  {how_many(self.states, 'state')} with the score, "
            f"{how_many(self.situations, 'situation')}, "
            f"{self.seconds:.2f} s"
        )


def contest_document(
    solved: ContestSolution, for_mean: ContestSolution, shares: Range, seconds: float
) -> SolvedContest:
    """Each player's chances, with best play and with the best mean for an aim.

    Parameters
    ----------
    for_mean : ContestSolution
        The same with a first player of the best mean, known to the others.
    shares : Range
        The chances of this first player, over all policies of the best mean.
    """
    from rollwise.analysis.distributions import Distribution

    scored = solved.scored
    first, plain = solved.turns[solved.opening], for_mean.turns[for_mean.opening]
    mean, plain_mean = (
        Distribution(scored.scores, turn.final, float(turn.final_bounds.max()))
        for turn in (first, plain)
    )
    probabilities = solved.probabilities
    return SolvedContest.on(
        scored.source,
        players=solved.contest.players,
        kind="certified",
        ties=solved.contest.ties,
        states=scored.graph.n_states,
        situations=len(solved.turns),
        probabilities=[float(chance) for chance in probabilities],
        error_bound=solved.error_bound,
        optimality_gap=solved.optimality_gap,
        last_minus_first=float(probabilities[-1] - probabilities[0]),
        first_player=FirstPlayer(
            float(probabilities[0]),
            mean.mean,
            mean.mean_bound,
            float(for_mean.probabilities[0]),
            for_mean.error_bound,
            EndRange.from_result(shares),
            plain_mean.mean,
            plain_mean.mean_bound,
        ),
        scores=scored.scores.tolist(),
        final_score_of_first=[float(p) for p in first.final],
        worth_of_first_score=[float(p) for p in first.payoffs],
        equally_good=solved.ties,
        seconds=round(seconds, 3),
    )


class FairStake(Part, frozen=True):
    """A player's share of the prize, the fair payment for each unit bet on him, and his stake."""

    player: int
    probability: Chance
    odds_against: Annotated[Number, about("null: no chance")]
    stake: float

    @classmethod
    def of(cls, player: int, share: float, pot: float) -> FairStake:
        """The odds and the stake of a player with this share, in a pot of this size."""
        odds = (1 - share) / share if share > 0 else math.inf
        return cls(player, share, odds, share * pot)


class Bet(GameDocument, frozen=True, kw_only=True, tag="rollwise/bet/1"):
    """Fair odds and stakes at a moment of a contest."""

    ties: ContestTies
    scores: Annotated[list[int], about("of the players before")]
    to_move: int
    pot: float
    error_bound: Bound
    stakes: list[FairStake]
    double: Annotated[Maybe[Doubling], about("in a contest of two, before a turn")] = UNSET
    equally_good: EquallyGood | None

    def blocks(self) -> Iterator[str | Rows]:
        found = [stake.probability for stake in self.stakes]
        numbers, worst = in_common(percents(found, self.error_bound))
        odds = [as_number(stake.odds_against) for stake in self.stakes]
        rows = [
            (
                str(stake.player),
                number,
                f"{one:.4f} to 1" if math.isfinite(one) else "none",
                f"{stake.stake:.6f}",
            )
            for stake, number, one in zip(self.stakes, numbers, odds, strict=True)
        ]
        yield Rows(("player", "chance", "fair odds against", f"fair stake of {self.pot:g}"), rows)
        yield (
            f"(chances {worst.sure}, odds and stakes rounded from them; player {self.to_move} to "
            "move)"
        )
        if self.double:
            one = self.double
            equities = [one.no_offer, one.accepted, one.declined]
            printed = column(equities, one.error_bound, sign=True)
            (waiting, accepted, declined), worst = in_common(printed)
            yield (
                f"double: player {self.to_move} should "
                f"{'offer' if one.offer else 'not offer'} before the turn, the other "
                f"{'accept' if one.accept else 'decline'}; equity per unit staked "
                f"{waiting} without an offer, {accepted} if it is accepted, {declined} if it "
                f"is declined ({worst.sure})"
            )
        if self.equally_good:
            yield self.equally_good.text


def bet_document(
    solution: ContestSolution,
    finished: tuple[int, ...],
    place: Mapping[str, Any] | None,
    pot: float,
) -> Bet:
    """Fair odds and stakes at a moment of a contest.

    Parameters
    ----------
    finished : tuple of int
        Final scores of the players before.
    place : mapping, optional
        The state within the next player's turn.
    """
    from rollwise.analysis.betting import advise_double

    contest = solution.contest
    shares, bound = solution.moment(finished, place)
    # with two players no chances depend on the choice among equally good actions
    ties = solution.ties if contest.players > 2 else None
    may_double = contest.players == 2 and place is None
    return Bet.on(
        solution.scored.source,
        players=contest.players,
        kind="certified",
        ties=contest.ties,
        scores=list(finished),
        to_move=len(finished) + 1,
        pot=pot,
        error_bound=bound,
        stakes=[FairStake.of(k, share, pot) for k, share in enumerate(shares.tolist(), start=1)],
        double=advise_double(solution, finished) if may_double else None,
        equally_good=ties,
    )
