"""Scores, contests, second aims and frontiers as documents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING

from rollwise.documents.parts import (
    Document,
    game_head,
    number_or_none,
    state_fields,
    ties_document,
)

if TYPE_CHECKING:
    from rollwise.analysis.betting import DoublingSolution, Edge
    from rollwise.analysis.blind_contest import BlindContest
    from rollwise.analysis.contest import ContestSolution
    from rollwise.analysis.distributions import Distribution
    from rollwise.analysis.frontier import Frontier
    from rollwise.analysis.judge import Judgement, Play
    from rollwise.analysis.many_dice import ManyDice
    from rollwise.analysis.observed_scores import BestFit, GoodnessOfFit, SimulatedScores
    from rollwise.analysis.second_aims import ScoreRanges, SecondAims
    from rollwise.answer.optimal_set import OptimalSet, Range
    from rollwise.answer.solution import Solution
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Ties


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def distributions_document(
    graph: StateGraph, state: int, count: str | None, policies: Sequence[Document]
) -> Document:
    """Distributions of final scores, for policies side by side.

    Parameters
    ----------
    count : str, optional
        The counted action; None counts points.
    policies : sequence of dict
        A document of `distribution_document` for each policy.
    """
    return {
        **game_head(graph),
        "state": state_fields(graph, state),
        "counted": "points" if count is None else count,
        "policies": list(policies),
    }


def distribution_document(
    policy: str,
    found: Distribution,
    ties: Ties | None,
    *,
    at_most: int | None = None,
    fractions: Mapping[int, Fraction] | None = None,
    simulated: SimulatedScores | None = None,
) -> Document:
    """How final scores are distributed under one policy.

    Parameters
    ----------
    at_most : int, optional
        The probability of so much or less is told too.
    fractions : mapping of int to Fraction, optional
        The same probabilities, exactly.
    """
    rows = []
    columns = (found.values, found.probabilities, found.probabilities.cumsum())
    for value, probability, below in zip(*(c.tolist() for c in columns), strict=True):
        row: Document = {"value": value, "probability": probability, "at_most": min(below, 1.0)}
        if fractions is not None:
            row["fraction"] = str(fractions.get(value, 0))
        if simulated is not None:
            row["simulated"] = float((simulated.totals == value).mean())
        rows.append(row)
    entry: Document = {
        "policy": policy,
        "mean": found.mean,
        "mean_bound": found.mean_bound,
        "sd": found.sd,
        "sd_bound": found.sd_bound,
        "quantiles": {str(share): found.quantile(share) for share in QUANTILES},
        "error_bound": found.error_bound,
        "rows": rows,
    }
    if at_most is not None:
        entry["at_most"] = {
            "value": at_most,
            "probability": found.at_most(at_most),
            "error_bound": found.at_most_bound(at_most),
        }
    entry["equally_good"] = ties_document(ties)
    if fractions is not None:
        entry["mean_fraction"] = str(sum(value * share for value, share in fractions.items()))
    if simulated is not None:
        entry["simulated"] = _simulated_document(simulated)
    return entry


def _simulated_document(simulated: SimulatedScores) -> Document:
    fit = simulated.fit
    return {
        "games": len(simulated.totals),
        "seed": simulated.seed,
        "mean": fit.mean,
        "standard_error": fit.standard_error,
        "chi_square": fit.chi_square if fit.cells > 1 else None,
        "cells": fit.cells,
        "p_value": fit.p_shape if fit.cells > 1 else None,
    }


def tested_scores_document(
    graph: StateGraph,
    policy: str,
    fit: GoodnessOfFit,
    ties: Ties | None,
    best: BestFit | None,
) -> Document:
    """Observed scores, tested against the distribution of a policy.

    Parameters
    ----------
    best : BestFit, optional
        The test against all optimal policies together, where there are several.
    """
    facts = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in asdict(fit).items()
    }
    return {
        **game_head(graph),
        "policy": policy,
        **facts,
        "equally_good": ties_document(ties),
        **({} if best is None else {"best_fit": best._asdict()}),
    }


def blind_contest_document(solved: BlindContest, seconds: float) -> Document:
    """An equilibrium of a simultaneous contest of two, and the policy of the best mean there."""
    return {
        **game_head(solved.scored.source),
        "players": 2,
        "states": solved.scored.graph.n_states,
        "mixture": [
            {
                "weight": part.weight,
                "mean_score": part.scores.mean,
                "mean_score_bound": part.scores.mean_bound,
                "standard_deviation": part.scores.sd,
            }
            for part in solved.parts
        ],
        "mean_score": solved.mean,
        "gain": solved.gain,
        "best_mean": {
            "mean_score": solved.for_mean.mean,
            "mean_score_bound": solved.for_mean.mean_bound,
            "wins_against_mixture": solved.mean_against.value,
            "error_bound": solved.mean_against.bound,
            "best_response_wins": solved.against_mean.value,
            "best_response_error_bound": solved.against_mean.bound,
        },
        "rounds": solved.rounds,
        "seconds": seconds,
    }


def contest_document(
    solved: ContestSolution, for_mean: ContestSolution, shares: Range, seconds: float
) -> Document:
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
    chances = solved.probabilities
    return {
        **game_head(scored.source),
        "players": solved.contest.players,
        "ties": solved.contest.ties,
        "states": scored.graph.n_states,
        "situations": len(solved.turns),
        "probabilities": [float(chance) for chance in chances],
        "error_bound": solved.error_bound,
        "optimality_gap": solved.optimality_gap,
        "last_minus_first": float(chances[-1] - chances[0]),
        "first_player": {
            "probability": float(chances[0]),
            "mean_score": mean.mean,
            "mean_score_bound": mean.mean_bound,
            "probability_playing_for_the_mean": float(for_mean.probabilities[0]),
            "error_bound_playing_for_the_mean": for_mean.error_bound,
            "range_playing_for_the_mean": {
                "least": shares.least,
                "most": shares.most,
                "error_bound": shares.error_bound,
            },
            "mean_score_playing_for_the_mean": plain_mean.mean,
            "mean_score_bound_playing_for_the_mean": plain_mean.mean_bound,
        },
        "scores": scored.scores.tolist(),
        "final_score_of_first": [float(p) for p in first.final],
        "worth_of_first_score": [float(p) for p in first.payoffs],
        "equally_good": ties_document(solved.ties),
        "seconds": round(seconds, 3),
    }


def bet_document(
    solution: ContestSolution,
    finished: tuple[int, ...],
    place: tuple[int, ...] | None,
    pot: float,
    *,
    doubling: DoublingSolution | None = None,
    edge: tuple[str, Edge] | None = None,
) -> Document:
    """Fair odds and stakes at a moment of a contest.

    Parameters
    ----------
    finished : tuple of int
        Final scores of the players before.
    place : tuple of int, optional
        The state within the next player's turn.
    doubling : DoublingSolution, optional
        The value of a double, in a contest of two.
    edge : str and Edge, optional
        The name of an opponent's policy, and the edge over it.
    """
    from rollwise.analysis.betting import fair_stakes

    contest = solution.contest
    shares, bound = solution.moment(finished, place)
    document: Document = {
        **game_head(solution.scored.source),
        "players": contest.players,
        "ties": contest.ties,
        "scores": list(finished),
        "to_move": len(finished) + 1,
        "pot": pot,
        "error_bound": bound,
        "stakes": [
            {**stake._asdict(), "odds_against": number_or_none(stake.odds_against)}
            for stake in fair_stakes(shares, pot)
        ],
    }
    if doubling is not None:
        document["double"] = doubling.advise(finished, place)._asdict()
    if edge is not None:
        against, worth = edge
        document["edge"] = {"against": against, **worth._asdict()}
    # with two players no chances depend on the choice among equally good actions
    told = solution.ties if contest.players > 2 or edge is not None else None
    return {**document, "equally_good": ties_document(told)}


def judged_document(
    graph: StateGraph,
    contest_ties: str,
    plays: Sequence[Play],
    moves: Sequence[Judgement],
    ties: Ties | None,
) -> Document:
    """Recorded plays, judged move by move.

    Parameters
    ----------
    contest_ties : str
        The winner of a contest with equal scores.
    """
    return {
        **game_head(graph),
        "ties": contest_ties if len(plays) > 1 else None,
        "scores": {play.player: play.score for play in plays},
        "moves": [row._asdict() for row in moves],
        "equally_good": ties_document(ties),
    }


def many_dice_document(game: Game, found: ManyDice) -> Document:
    """The expected score for every number of dice."""
    value, bound = found.value(found.most)
    return {
        "game": game.name,
        "parameters": {name: value for name, value in game.parameters.items() if name != "dice"},
        "most": found.most,
        "expected_score": value,
        "error_bound": bound,
        "seconds": round(found.seconds, 3),
        "rows": found.table().to_dicts(),
    }


def aims_document(found: SecondAims) -> list[Document]:
    """The value of each second aim."""
    return [
        {"aim": aim, "value": worth.value, "error_bound": number_or_none(worth.error_bound)}
        for aim, worth in zip(found.aims, found.values, strict=True)
    ]


def ranges_document(found: Sequence[Range]) -> list[Document]:
    """The smallest and largest value of quantities over optimal policies."""
    return [{**one._asdict(), "error_bound": number_or_none(one.error_bound)} for one in found]


def optimal_document(
    solution: Solution, every: OptimalSet, aims: SecondAims, ranges: Sequence[Range]
) -> Document:
    """The differences between optimal policies.

    Parameters
    ----------
    every : OptimalSet
        All optimal policies.
    aims : SecondAims
        The policies chosen by second aims, if there are any.
    ranges : sequence of Range
        Ranges over the chosen policies.
    """
    graph = solution.graph
    return {
        **game_head(graph),
        "start": state_fields(graph, 0),
        "value": solution.value,
        "win_probability": solution.win_probability,
        "error_bound": number_or_none(solution.error_bound),
        "reached_states": every.graph.n_states,
        "tied_states": every.n_ties,
        "loss_bound": number_or_none(every.loss),
        "then": aims_document(aims),
        "ranges": ranges_document(ranges),
    }


def optimal_against_document(policy: str, worth: tuple[Range, Range]) -> Document:
    """The range of values of optimal policies against another one, for the optimal player."""
    seats = {
        seat: {"least": one.least, "most": one.most, "error_bound": number_or_none(one.error_bound)}
        for seat, one in zip(("first", "second"), worth, strict=True)
    }
    return {"policy": policy, **seats}


def score_ranges_document(found: ScoreRanges) -> Document:
    """How likely each final score is, at least and at most, under optimal policies."""
    every = [*found.rows.values(), *found.at_most.values()]
    return {
        "loss_bound": number_or_none(found.loss),
        "error_bound": number_or_none(max(one.error_bound for one in every)),
        "variance": {
            "least": found.variance.least,
            "most": found.variance.most,
            "error_bound": number_or_none(found.variance.error_bound),
        },
        "rows": [
            {
                "value": score,
                "least": one.least,
                "most": one.most,
                "at_most_least": found.at_most[score].least,
                "at_most_most": found.at_most[score].most,
            }
            for score, one in found.rows.items()
        ],
    }


def frontier_document(graph: StateGraph, found: Frontier) -> Document:
    """The frontier of the mean score against an aim."""
    return {
        **game_head(graph),
        "aim": found.aim,
        "gap": found.gap,
        "corners": [
            {
                "mean": corner.mean,
                "value": corner.chance,
                "mean_bound": corner.mean_bound,
                "error_bound": corner.chance_bound,
            }
            for corner in found.corners
        ],
    }
