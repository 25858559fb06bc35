"""Policies: a probability for each action of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import PolicyError
from rollwise.faults import PASSED_ON, fault_text
from rollwise.graph.choices import fold_actions, has_choice, has_ties
from rollwise.graph.layout import StateLayout
from rollwise.graph.naming import ROLLS_LEFT
from rollwise.graph.state_graph import StateGraph
from rollwise.graph.view import State
from rollwise.kernels.sampling import alias_tables
from rollwise.numbers.shares import brought, is_payoffs

StateFunction = Callable[[Any], Any]

BLOCK = 4096  # states
MOST_ROUNDING = 1e-6  # by which probabilities may miss 1 together, as 32-bit floats do


class Startable(Protocol):
    """An object with a start: a game, whose states all have its type."""

    def start(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class Policy:
    """A policy on a graph.

    Attributes
    ----------
    name : str
    probability : (n_actions,) float64
        The probability of each action in its state; adds up to 1 in each state
        (`require_policy` checks it).
    tied : (n_states,) bool, optional
        Of an optimal policy: whether another action is as good as its own,
        as far as the certified error can tell.
    game : str, optional
        The game and its parameters, if known.
    """

    name: str
    probability: NDArray[np.float64] = field(repr=False)
    tied: NDArray[np.bool_] | None = field(default=None, repr=False)
    game: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        try:
            numbers = np.asarray(self.probability, np.float64)
        except (TypeError, ValueError) as error:
            raise PolicyError(
                f"the policy {self.name} has the probabilities {self.probability!r:.80}, which are "
                "no numbers; give an array with a number for each action"
            ) from error
        object.__setattr__(self, "probability", numbers)

    @property
    def mixes(self) -> bool:
        """Whether it takes several actions of some state."""
        return bool(np.any((self.probability > 0) & (self.probability < 1)))

    @classmethod
    def of_actions(
        cls,
        graph: StateGraph,
        name: str,
        actions: NDArray[Any],
        best: NDArray[np.bool_] | None = None,
    ) -> Policy:
        """The policy that takes ``actions[s]``, an index into the actions, in state s.

        Parameters
        ----------
        best : (n_actions,) bool, optional
            Of an optimal policy: the equally good actions.
        """
        probability = np.zeros(graph.n_actions)
        probability[actions] = 1.0
        tied = None if best is None else has_ties(graph, best)
        return cls(name, probability, tied, graph.title)

    @classmethod
    def uniform(cls, graph: StateGraph) -> Policy:
        """Every action of a state equally likely."""
        counts = np.diff(graph.action_indptr)
        return cls("random", 1.0 / np.repeat(counts, counts), game=graph.title)

    @classmethod
    def of_function(
        cls, graph: StateGraph, game: Startable, name: str, function: StateFunction
    ) -> Policy:
        """A policy given as a function of the state.

        Parameters
        ----------
        function : callable
            Takes a state of the game, and the throw in a game with throws. Returns an action, or a
            mapping of actions to weights for a policy that mixes them. It is called only where the
            mover has a choice. In a game with a pool of dice it takes the rolls left as
            well; before the last roll it returns the dice to keep, a tuple of faces.

        Raises
        ------
        PolicyError
            It fails, or returns an illegal action; the message names the state.
        """
        begins = graph.action_indptr
        probability = np.zeros(graph.n_actions)
        probability[begins[:-1][~has_choice(graph)]] = 1.0
        asked = _answers_of(graph, game, name, function)
        choices = np.flatnonzero(has_choice(graph))
        # the fields of a block of states are read together, which is faster
        for block in np.split(choices, range(BLOCK, len(choices), BLOCK)):
            places = (
                begins[block].tolist(),
                begins[block + 1].tolist(),
                graph.rows_at(block).tolist(),
            )
            for state, begin, end, row in zip(block.tolist(), *places, strict=True):
                labels = graph.action_label[begin:end].tolist()
                for number, chance in asked(state, row, labels).items():
                    probability[begin + number] = chance
        return cls(name, probability, game=graph.title)


def require_size(graph: StateGraph, policy: Policy) -> None:
    """Check that a policy has a probability for each action of a graph.

    Raises
    ------
    PolicyError
    """
    shape = policy.probability.shape
    if shape != (graph.n_actions,):
        here = f"{len(policy.probability):,}" if len(shape) == 1 else f"an array {shape} of"
        raise PolicyError(
            f"{graph.title}: the policy {policy.name} is of another game: it has {here} "
            f"probabilities, and here are {graph.n_actions:,} actions; take a policy of a solution "
            "of this game with these parameters"
        )


def require_policy(graph: StateGraph, policy: Policy) -> Policy:
    """The policy, if its probabilities are a distribution over the actions of each state.

    Raises
    ------
    PolicyError
        It is of another graph, or the probabilities of a state aren't from 0 to 1, or don't
        add up to 1.
    """
    if not isinstance(policy, Policy):
        raise PolicyError(
            f"{graph.title}: a Policy is wanted, such as the policy of a solution, and not of the "
            f"type {type(policy).__name__}"
        )
    if policy.game not in ("", graph.title):
        raise PolicyError(
            f"{graph.title}: the policy {policy.name} is of another game, {policy.game}; take a "
            "policy of a solution of this game with these parameters"
        )
    require_size(graph, policy)
    chance = policy.probability
    wrong = np.flatnonzero(~((chance >= 0) & (chance <= 1 + MOST_ROUNDING)))
    if len(wrong):
        action = graph.view.action(int(wrong[0]))
        raise PolicyError(
            f"{graph.title}: the policy {policy.name} gives {action.name} the probability "
            f"{chance[action.index]:g} in the state {action.state}; it must be "
            "a number from 0 to 1"
        )
    total = fold_actions(graph, np.add, chance)
    wrong = np.flatnonzero(~(np.abs(total - 1) <= MOST_ROUNDING))
    if len(wrong):
        state = graph.view[int(wrong[0])]
        remedy = ": divide them by their sum" if total[state.index] > 0 else ""
        raise PolicyError(
            f"{graph.title}: the probabilities of the policy {policy.name} add up to "
            f"{total[state.index]:g} in the state {state}, where the actions are "
            f"{', '.join(state.action_names)}; they must add up to 1{remedy}"
        )
    return policy


def chances_of(
    graph: StateGraph, game: Startable, name: str, function: StateFunction
) -> Callable[[State], dict[int, float]]:
    """The action probabilities of a policy given as a function, as a function of the state.

    Parameters
    ----------
    function : callable
        As in `Policy.of_function`, with the same exceptions.
    """
    answers = _answers_of(graph, game, name, function)

    def asked(state: State) -> dict[int, float]:
        actions = state.action_range
        if len(actions) == 1:
            return {actions[0]: 1.0}
        found = answers(state.index, graph.row(state.index), state.labels)
        return {actions[number]: chance for number, chance in found.items()}

    return asked


def _answers_of(
    graph: StateGraph, game: Startable, name: str, function: StateFunction
) -> Callable[[int, Sequence[int], list[int]], dict[int, float]]:
    """The chances that a function gives to the actions of a state, by their place among them.

    The returned function takes the state, its row in the graph and the labels of its actions.
    """
    layout, throws = StateLayout.of(game), graph.throw_layout
    n_fields, has_pool = len(graph.field_names), graph.has_pool
    faces = [column for column in graph.throw_columns if graph.columns[column] != ROLLS_LEFT]
    left = graph.throw_columns[-1] if has_pool else 0

    def answers(state: int, row: Sequence[int], labels: list[int]) -> dict[int, float]:
        rolls_left = max(row[left], 0) if has_pool else 0
        try:
            given = [layout.state(row[:n_fields])]
            if throws is not None:
                given.append(throws.throw([row[column] for column in faces]))
            if has_pool:
                given.append(rolls_left)
            answer = function(*given)
            if type(answer) is int and answer in labels:
                return {labels.index(answer): 1.0}
            if isinstance(answer, tuple) and rolls_left:
                answer = _kept(graph.view[state], answer)
            mixed = answer if isinstance(answer, Mapping) else {answer: 1.0}
            for label in mixed:
                if label is None or isinstance(label, str):
                    raise TypeError(_no_number(graph.view[state], label))
            chances = {index(label): float(weight) for label, weight in mixed.items()}
        except PASSED_ON:
            raise
        except BaseException as error:
            raise PolicyError(
                f"{graph.game}: the policy {name} fails in the state {graph.state_text(state)}: "
                f"{fault_text(error)}"
            ) from error
        total = sum(chances.values())
        # An empty mapping goes through the loop once, to be refused.
        for label, weight in (chances or {-1: 0.0}).items():
            if label not in labels or not weight >= 0 or not 0 < total < np.inf:
                named = graph.vocabulary.text(label) if chances else "no action"
                may = ", ".join(map(graph.vocabulary.text, labels))
                if rolls_left and not isinstance(answer, tuple):
                    may += "; where rolls are left it gives the faces to keep, as in (5, 5)"
                raise PolicyError(
                    f"{graph.game}: the policy {name} gives {named} (weight {weight}) in the "
                    f"state {graph.state_text(state)}, where the actions are {may}"
                )
        return {labels.index(label): weight / total for label, weight in chances.items()}

    return answers


def _no_number(state: State, name: str | None) -> str:
    """The message about a policy that returns the name of an action, or nothing."""
    text = state.graph.vocabulary.text
    pairs = ((str(label), text(label)) for label in state.labels)
    numbers = ", ".join(label if label == told else f"{label} for {told}" for label, told in pairs)
    return f"it gives {name!r}; a policy gives the number of an action: {numbers}"


def _kept(state: State, faces: tuple[int, ...]) -> int:
    """The number of the action that keeps these dice.

    Raises
    ------
    PolicyError
        They weren't thrown.
    """
    name = f"keep {' '.join(map(str, sorted(faces))) or 'nothing'}"
    meant = state.graph.vocabulary.meaning(name)
    if not meant:
        ends = "" if len(faces) < len(state.throw) else ", where an action ends the turn instead"
        raise PolicyError(f"{state.graph.game}: no player can {name} in the state {state}{ends}")
    return meant[0]


def reached_by(
    graph: StateGraph, policy: Policy, start: int | Sequence[int] | NDArray[np.int64] = 0
) -> NDArray[np.bool_]:
    """Whether play of one policy from a state, or from several, reaches each: (n_states,) bool."""
    keys = np.atleast_1d(np.array(start, np.int64))
    (reached,) = reachable_states(graph, policy.probability[None], keys)
    return np.asarray(reached)


def reachable_states(
    graph: StateGraph, probability: NDArray[np.float64], keys: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """The states reachable in games between policies.

    Parameters
    ----------
    probability : (n_policies, n_actions) float64
        Probability of each action. The die goes round from policy to policy.
    keys : (n,) int64
        Where games begin: the state plus `n_states` times the policy to move.

    Returns
    -------
    (n_policies, n_states) bool
    """
    from rollwise.kernels.play import reach

    n, count = graph.n_states, len(probability)
    reached = np.zeros(count * n, np.bool_)
    lists = graph.action_indptr, graph.outcome_indptr, graph.outcome_state, graph.outcome_passes
    reach(keys, n, count, *lists, probability, reached)
    return reached.reshape(count, n)


class Ties(NamedTuple):
    """The dependence of an optimal policy's figures on its choice among several best actions.

    Values don't depend on it. The spread of scores, the length of games, and results against
    others who aren't optimal may.

    Attributes
    ----------
    states : int
        Reached states with several equally good actions.
    reached : int
        All reached states.
    """

    states: int
    reached: int

    @property
    def text(self) -> str:
        """The same in one line."""
        some = f"{self.states:,} of the {self.reached:,} states"
        where = some if self.reached > 1 else "the only state"
        return (
            f"ties: in {where} that play comes to, several "
            "actions are equally good; another optimal policy may have other figures"
        )


def ties_in_play(
    graph: StateGraph, *policies: Policy | None, start: int | Sequence[int] = 0
) -> Ties | None:
    """The ties of optimal policies reachable from a state; None if there are none.

    Parameters
    ----------
    policies : Policy or None
        The policies in play; a mover may follow any of them.
    start : int or sequence of int
        The state, or several.
    """
    given = [policy for policy in policies if policy is not None]
    tied = [policy.tied for policy in given if policy.tied is not None]
    if not tied:
        return None
    # The search asks only which actions have a positive number.
    together = Policy("any", np.sum([policy.probability for policy in given], axis=0))
    reached = reached_by(graph, together, start)
    states = int(np.sum(reached & np.logical_or.reduce(tied)))
    return Ties(states, int(reached.sum())) if states else None


def seat_bits(graph: StateGraph) -> int:
    """The number of bits for the seats moved at a PASS."""
    return max(graph.players - 1, 1).bit_length()


def codes_of(graph: StateGraph) -> NDArray[np.int32]:
    """The code of each outcome, see `rollwise.kernels.sampling`: (n_outcomes,) int32."""
    # In 8 bits a remainder is soon found.
    seats_on = graph.outcome_passes.astype(np.uint8) % np.uint8(graph.players)
    codes: NDArray[np.int32] = (graph.outcome_state << seat_bits(graph)) | seats_on
    over = np.flatnonzero(graph.outcome_state < 0)
    codes[over] = -1 - np.searchsorted(graph.ending_payoffs, graph.outcome_payoff[over])
    return codes


def seat_payoffs(graph: StateGraph) -> NDArray[np.float64]:
    """The payoff of each ending to each seat, from the mover on: (n_endings, players) float64.

    The rows are those of ``graph.ending_payoffs``. With three players or more they are shares of
    a win or payoffs, and 0 where the ending is for fewer players.
    """
    ends, n = graph.ending_payoffs, graph.players
    if n <= 2:
        return np.stack([ends, -ends], axis=1)[:, :n]
    rows = [brought(payoff, n) or [0] * n for payoff in ends.tolist()]
    return np.array(rows, np.float64)


def outcome_payoffs(graph: StateGraph) -> NDArray[np.float64]:
    """The payoff of each outcome to each seat, from the mover on: (n_outcomes, players) float64.

    They are those of `seat_payoffs`, and 0 where the game goes on.
    """
    over = np.flatnonzero(graph.outcome_state < 0)
    payoffs = np.zeros((graph.n_outcomes, graph.players))
    payoffs[over] = payoffs_at(graph, over)
    return payoffs


def payoffs_at(graph: StateGraph, over: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rows of `outcome_payoffs` of some outcomes that end the game: (n, players) float64."""
    ending = np.searchsorted(
        graph.ending_payoffs, graph.lotteries.payoff[graph.outcome_lottery[over]]
    )
    return seat_payoffs(graph)[ending]


def is_drawn(graph: StateGraph) -> NDArray[np.bool_]:
    """Whether each outcome ends the game without a winner, or with several: (n_outcomes,) bool.

    Payoffs of three or more players are no draws.
    """
    is_decided = graph.outcome_payoff != 0.0
    if graph.players > 2:
        has_winner = (outcome_payoffs(graph) == 1.0).any(axis=1)
        is_decided = has_winner | is_payoffs(graph.outcome_payoff)
    return np.asarray((graph.outcome_state < 0) & ~is_decided)


def alias_cells(graph: StateGraph) -> NDArray[np.int32]:
    """The alias tables of the actions, see `rollwise.kernels.sampling`: (n_outcomes, 4) int32."""
    cells = np.empty((graph.n_outcomes, 4), np.int32)
    alias_tables(graph.outcome_indptr, graph.outcome_weight, codes_of(graph), cells)
    return cells
