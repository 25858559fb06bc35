"""The points of a solitaire game: whole numbers, their range, and play unrolled by score.

An outcome brings the reward of its action, and the payoff with which it ends the play: 1 for a win
and -1 for a loss. So a game that is won, lost or paid has final scores, too.

Aims other than the best mean (to beat a score, to win a contest) need the points made so far in
the state. `by_score` adds them: a state is then a pair of a state and a score, and plays end on
the border, with one border state for each final score. An aim is an array of payoffs over final
scores, given as the values of the border. Every method for graphs then solves for every aim (the
utility of the total in a Markov decision process; Bäuerle and Rieder 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import RulesError, TooManyStates, UsageError
from rollwise.game import Game, has_many
from rollwise.graph import StateGraph
from rollwise.graph.choices import outcome_action
from rollwise.graph.lotteries import pointers
from rollwise.graph.naming import title_of
from rollwise.kernels import by_score as kernels
from rollwise.numbers.printed import how_many
from rollwise.proofs.endless_play import require_ending

Ints = NDArray[np.int64]

MOST_PAIRS = 200_000_000


def require_points(graph: StateGraph) -> None:
    """Check that a game is played for points, or that one player wins, loses or is paid.

    Raises
    ------
    UsageError
        It has several players.
    """
    if graph.players == 1:
        return
    raise _no_score(graph.title, "played for payoffs" if graph.has_stakes else "won or lost")


def require_one_player(game: Game) -> None:
    """As `require_points`, before a game of three or more players is built.

    Raises
    ------
    UsageError
    """
    if has_many(game):
        title = title_of(game.name, game.parameters)
        raise _no_score(title, f"a game for {game.players}: it is decided")


def _no_score(title: str, kind: str) -> UsageError:
    return UsageError(
        f"{title} is {kind} between players and has no score; this is for one player, who "
        "gets points, wins, loses or is paid"
    )


def require_final_score(game: Game | None) -> None:
    """Check that plays of a game come to a final score.

    Raises
    ------
    UsageError
        It is played for an average.
    """
    if game is not None and (rules := game.made_from).objective == "average":
        raise UsageError(
            f"{title_of(rules.name, rules.parameters)} goes on for ever, and has an average "
            f"instead of final scores: `rollwise solve` tells it; rules that end, with "
            'objective = "maximize", have scores'
        )


def whole_points(graph: StateGraph) -> Ints:
    """The points of every outcome as whole numbers: (n_outcomes,) int64.

    Raises
    ------
    UsageError
        The game has no points.
    RulesError
        An outcome's points aren't whole, or a cycle collects points without bound, or play need
        not end. Names the state.
    """
    whole = points_of(graph)
    require_ending(graph)
    require_bounded(graph, whole, "points")
    return whole


def points_of(graph: StateGraph) -> Ints:
    """The same, whether or not they have a bound."""
    require_points(graph)
    brought = on_outcomes(graph, graph.action_reward)
    brought = brought + np.where(graph.outcome_state < 0, graph.outcome_payoff, 0.0)
    points = np.rint(brought)
    broken = np.flatnonzero((points != brought) | (np.abs(points) > 2**31 - 1))
    if len(broken):
        a = int(outcome_action(graph)[broken[0]])
        raise RulesError(
            f"{graph.game}: {graph.view.action(a)} brings {brought[broken[0]]} points in the "
            f"state {graph.state_text(int(graph.action_state[a]))}; scores are whole numbers "
            "here (count in a smaller unit)"
        )
    return np.asarray(points, np.int64)


def on_outcomes(graph: StateGraph, amounts: NDArray[Any]) -> NDArray[Any]:
    """Amounts of actions, for each of their outcomes: (n_outcomes,)."""
    return np.repeat(amounts, np.diff(graph.outcome_indptr))


def only_cost(graph: StateGraph, points: Ints) -> bool:
    """Whether points are never good, so that a play with too many is decided."""
    return bool(np.all(points >= 0 if graph.objective == "minimize" else points <= 0))


def least_cost(graph: StateGraph, points: Ints) -> Ints:
    """The least cost of a play from each state, if points only cost: (n_states,) int64."""
    cost = np.abs(points)
    least = np.append(np.full(graph.n_states, kernels.NOT_REACHED), 0)  # -1: the end
    # Costs of shortest paths: each sweep over all actions lowers some, until none falls.
    while True:
        onward = np.minimum(cost + least[ended(graph)], kernels.NOT_REACHED)
        of_action = np.minimum.reduceat(onward, graph.outcome_indptr[:-1])
        costs = np.append(np.minimum.reduceat(of_action, graph.action_indptr[:-1]), 0)
        if np.array_equal(costs, least):
            return costs[:-1]
        least = costs


def require_bounded(graph: StateGraph, counted: Ints, what: str) -> None:
    """Check that no cycle of play collects the counted quantity.

    Parameters
    ----------
    counted : (n_outcomes,) int64
    what : str
        Name of the quantity, for the message.

    Raises
    ------
    RulesError
        Names an action that counts and can lead back to its state.
    """
    found, action, after = graph.components, outcome_action(graph), ended(graph)
    component = np.empty(graph.n_states, np.int64)
    component[found.order] = np.repeat(np.arange(len(found.indptr) - 1), np.diff(found.indptr))
    # From a state of the same component a path leads back.
    back = (after >= 0) & (component[after] == component[graph.action_state[action]])
    if len(rounds := np.flatnonzero(back & (counted != 0))):
        k = int(rounds[0])
        a = int(action[k])
        some = how_many(int(counted[k]), "point" if what == "points" else "time")
        raise RulesError(
            f"{graph.game}: {graph.view.action(a)} counts {some} in the state "
            f"{graph.state_text(int(graph.action_state[a]))} and can lead back to it, so that "
            f"the {what} of a play have no bound; put one into the rules, or see the chances by "
            "move with `rollwise length --within`"
        )


def ended(graph: StateGraph) -> NDArray[np.int32]:
    """``outcome_state`` with -1 for the border, where followed play ends."""
    state = graph.outcome_state
    return np.where(state < graph.n_states, state, -1).astype(np.int32) if graph.n_border else state


def points_to_come(graph: StateGraph, points: Ints) -> tuple[Ints, Ints]:
    """The least and the most points still to come from every state: two (n_states,) int64.

    Raises
    ------
    RulesError
        A cycle of play makes points, so that they have no bound.
    """
    require_bounded(graph, points, "points")
    low, high = np.empty(graph.n_states, np.int64), np.empty(graph.n_states, np.int64)
    components = graph.components
    kernels.points_to_come(
        components.order,
        components.indptr,
        graph.action_indptr,
        graph.outcome_indptr,
        ended(graph),
        points,
        low,
        high,
    )
    return low, high


@dataclass(frozen=True, eq=False)
class Unrolled:
    """Pairs of a state and the points made so far, breadth first from given pairs.

    Attributes
    ----------
    n_roots : int
    state, score : (n_pairs,) int32
    action_indptr, outcome_indptr, outcome_state : arrays as in a StateGraph
    action, outcome : int64
        For each action and outcome, its index in the game's graph.
    final_score : (n_outcomes,) int64
        The score of outcomes that end the game, otherwise 0.
    """

    n_roots: int
    state: NDArray[np.int32]
    score: NDArray[np.int32]
    action_indptr: Ints
    action: Ints
    outcome_indptr: Ints
    outcome_state: NDArray[np.int32]
    outcome: Ints
    final_score: Ints


def unroll(
    graph: StateGraph,
    points: Ints,
    states: Ints,
    scores: Ints,
    limit: int = int(kernels.NOT_REACHED),
) -> Unrolled:
    """Follow the points made so far from the given pairs of a state and a score.

    Parameters
    ----------
    points : (n_outcomes,) int64
    states, scores : (n_pairs,) int64
    limit : int
        With more points than this a play is over.

    Raises
    ------
    TooManyStates
        There may be more than 200 million pairs.
    """
    low = np.full(graph.n_states, kernels.NOT_REACHED)
    high = np.full(graph.n_states, -kernels.NOT_REACHED)
    np.minimum.at(low, states, scores)
    np.maximum.at(high, states, scores)
    components = graph.components
    arrays = (graph.action_indptr, graph.outcome_indptr, graph.outcome_state, points, limit)
    kernels.points_so_far(components.order, components.indptr, *arrays, low, high)
    width = np.maximum(high - low + 1, 0)
    begins = pointers(width)
    if begins[-1] > MOST_PAIRS:
        raise TooManyStates(
            f"{graph.title}: up to {begins[-1]:,} pairs of a state and a score, more than "
            f"{MOST_PAIRS:,} (the points made so far have to be known in every state)"
        )
    number = np.empty(int(begins[-1]), np.int32)
    state, score = np.empty_like(number), np.empty_like(number)
    n_roots, n, n_actions, n_outcomes = kernels.find_scored(
        states, scores, *arrays, low, begins, number, state, score
    )
    pairs = Unrolled(
        n_roots,
        state[:n].copy(),
        score[:n].copy(),
        np.empty(n + 1, np.int64),
        np.empty(n_actions, np.int64),
        np.empty(n_actions + 1, np.int64),
        np.empty(n_outcomes, np.int32),
        np.empty(n_outcomes, np.int64),
        np.empty(n_outcomes, np.int64),
    )
    kernels.unroll(
        pairs.state,
        pairs.score,
        *arrays,
        low,
        begins,
        number,
        pairs.action_indptr,
        pairs.action,
        pairs.outcome_indptr,
        pairs.outcome_state,
        pairs.outcome,
        pairs.final_score,
    )
    return pairs


@dataclass(frozen=True, eq=False)
class ScoredGraph:
    """A solitaire game with the points made so far in its states.

    Attributes
    ----------
    graph : StateGraph
        Its fields are the game's and ``score``. Every play ends on the border, in state
        ``n_states + i`` for the final score ``scores[i]``.
    source : StateGraph
        The game.
    scores : (n_scores,) int64
        The possible final scores, the best ones first.
    state : (n_states,) int32
        The state of the game in each pair.
    action : (n_actions,) int64
        For each action, its action in the game's graph.
    """

    graph: StateGraph
    source: StateGraph
    scores: Ints
    state: NDArray[np.int32]
    action: Ints

    @property
    def points(self) -> Ints:
        """The points of each outcome: (n_outcomes,) int64."""
        return gained(self.graph, self.scores)

    @cached_property
    def score(self) -> NDArray[np.int32]:
        """The points made so far in each pair: (n_states,) int32."""
        return np.ascontiguousarray(self.graph.states[:, -1])

    def index(self, score: int) -> int:
        """The index of a final score in `scores`.

        Raises
        ------
        UsageError
            No play ends with it. The message names the possible scores.
        """
        index = np.flatnonzero(self.scores == score)
        if not len(index):
            low, high = int(self.scores.min()), int(self.scores.max())
            raise UsageError(
                f"{self.source.title}: no play ends with {score}; final scores go from "
                f"{low} to {high}"
            )
        return int(index[0])

    def lift(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        """A policy of the game, blind to the score, as one of this graph."""
        return probability[self.action]


def gained(graph: StateGraph, scores: Ints) -> Ints:
    """The points of each outcome of a graph by score, or of a part of it: (n_outcomes,) int64.

    Parameters
    ----------
    scores : (n_border,) int64
        The final scores, which are the border.
    """
    before = graph.states[:, -1].astype(np.int64)
    source = graph.action_state[outcome_action(graph)]
    # The border follows the states, and so do its scores.
    return np.concatenate([before, scores])[graph.outcome_state] - before[source]


def by_score(graph: StateGraph, *, from_all_states: bool = False) -> ScoredGraph:
    """Unroll a solitaire game by the points made so far.

    Parameters
    ----------
    graph : StateGraph
        Of a solitaire game with whole-number points.
    from_all_states : bool
        Begin in every state with 0 points, instead of in the start alone.

    Raises
    ------
    UsageError, RulesError, TooManyStates
        See `whole_points` and `unroll`.
    """
    points = whole_points(graph)
    n_roots = graph.n_states if from_all_states else 1
    begin = np.arange(n_roots, dtype=np.int64)
    pairs = unroll(graph, points, begin, np.zeros(n_roots, np.int64))
    over = pairs.outcome_state < 0
    scores = np.unique(pairs.final_score[over])
    index = np.searchsorted(scores, pairs.final_score[over])
    # The best scores come first.
    if graph.objective != "minimize":
        scores, index = scores[::-1].copy(), len(scores) - 1 - index
    outcome_state = pairs.outcome_state.copy()
    outcome_state[over] = len(pairs.state) + index
    n_outcomes = len(outcome_state)
    scored = derived_graph(
        graph,
        pairs,
        "score",
        pairs.score,
        outcome_state=outcome_state,
        outcome_payoff=np.zeros(n_outcomes),
        objective="maximize",
        n_border=len(scores),
    )
    return ScoredGraph(scored, graph, scores, pairs.state, pairs.action)


def derived_graph(
    graph: StateGraph, found: Unrolled, field: str, column: NDArray[Any], **changed: Any
) -> StateGraph:
    """The graph of the pairs of `unroll`, with one more field.

    Parameters
    ----------
    column : (n_pairs,) int
        The field's values.
    changed : other differences from the game's graph

    Raises
    ------
    RulesError
        The game already has a field of that name.
    """
    if field in graph.field_names:
        raise RulesError(
            f"{graph.game}: the state has a field {field!r}, the name of the one that is added "
            "here; call it something else"
        )
    n_outcomes = len(found.outcome)
    parts: dict[str, Any] = {
        "states": np.column_stack([graph.rows[found.state], column]).astype(np.int32),
        "action_indptr": found.action_indptr,
        "action_label": graph.action_label[found.action],
        "action_reward": np.zeros(len(found.action)),
        "outcome_indptr": found.outcome_indptr,
        "outcome_state": found.outcome_state,
        "outcome_weight": graph.outcome_weight[found.outcome],
        "outcome_passes": np.zeros(n_outcomes, np.bool_),
        "field_names": (*graph.columns, field),
        "throw_names": graph.throw_names,
        "action_names": graph.action_names,
        "game": graph.game,
        "parameters": graph.parameters,
        "players": 1,
        "n_roots": found.n_roots,
        "words": graph.words,
    }
    return StateGraph.of_arrays(**(parts | changed))
