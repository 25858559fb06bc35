"""The common part of all environments: a graph, its actions by rank, an opponent, and agents.

An agent is any function from observations and masks to actions. Its answers in all
states are a `Policy`. All computations for policies then apply to it: mean
reward, best response, mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluation import Evaluation, best_response, evaluate
from rollwise.answer.references import AnyPolicy, Policies
from rollwise.builders.remembered import remembered
from rollwise.derive.changed import throws_as_fields
from rollwise.errors import EndlessPlay, ForMorePlayers, PolicyError, UsageError, another_kind
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.graph import Action, Outcome, StateGraph
from rollwise.graph.choices import has_choice, is_throw
from rollwise.graph.policies import Policy
from rollwise.kernels.environment import EITHER, FIRST, SECOND
from rollwise.parameters import parameter_specs
from rollwise.words import Narrator

MOST_ARENAS = 16  # of a game, kept in memory
SEATS = {"first": FIRST, "second": SECOND, "either": EITHER}


def seat_by_name(name: str) -> int:
    """The seat with a name.

    Raises
    ------
    UsageError
    """
    if name not in SEATS:
        raise UsageError(f"seat is {name!r}; it must be one of {', '.join(SEATS)}")
    return SEATS[name]


def require_render_mode(mode: str | None) -> None:
    """Refuse a way of rendering that these environments don't have.

    Raises
    ------
    UsageError
    """
    if mode not in (None, "ansi"):
        raise UsageError(f"render_mode is {mode!r}; it must be 'ansi' or None")


@dataclass(frozen=True, eq=False)
class Arena:
    """A graph in the form for environments.

    Actions of environments are ranks: indices, from 0, of the rules' action numbers in the sorted
    list of all numbers of the game.

    The throw before a choice is no action: environments throw by themselves, and there is no
    observation before the throw. (A table of transitions has these states too. There the first rank
    throws.)

    An opponent who moves first may end the game before the agent has moved. A reset
    can't end a game, and skipping such games would bias the results. After the states of the graph
    there is therefore one more for each payoff of such an end (`early_payoffs`). Its one legal
    action, the first rank, ends the game at that payoff.

    Attributes
    ----------
    graph : StateGraph
    opponent : Policy or None
        None in a solitaire game, and if both seats are agents.
    game : Game or None
        The rules, with words for narration.
    order : tuple of str
        The names of all actions in the order of their ranks; empty for the order of the rules'
        numbers.
    """

    graph: StateGraph
    opponent: Policy | None = None
    game: Game | None = None
    order: tuple[str, ...] = ()

    @cached_property
    def narrator(self) -> Narrator:
        """The narrator of play."""
        return Narrator(self.graph, self.game)

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The rules' number of each rank: (n_ranks,) int32.

        Raises
        ------
        UsageError
            `order` doesn't have the name of each action once.
        """
        labels = np.unique(self.graph.action_label[~is_throw(self.graph)])
        if not self.order:
            return labels
        names = list(map(self.graph.vocabulary.text, labels.tolist()))
        if sorted(self.order) != sorted(names):
            raise UsageError(
                f"actions is {list(self.order)}; it must have each of {', '.join(names)} once"
            )
        return labels[[names.index(name) for name in self.order]]

    @property
    def action_names(self) -> tuple[str, ...]:
        """The name of each rank."""
        return tuple(map(self.graph.vocabulary.text, self.labels.tolist()))

    @cached_property
    def early_payoffs(self) -> NDArray[np.float64]:
        """The agent's payoffs where its opponent can end the game, best first: (n_early,)."""
        if self.opponent is None:
            return np.empty(0)
        ends = self.graph.outcome_state < 0
        return 0.0 - np.unique(self.graph.outcome_payoff[ends])

    @property
    def n_states(self) -> int:
        """Number of possible states of the agent."""
        return self.graph.n_states + len(self.early_payoffs)

    def early_state(self, payoff: float) -> int:
        """The state of a game that ended at this payoff before the agent has moved."""
        return self.graph.n_states + int(np.flatnonzero(self.early_payoffs == payoff)[0])

    def state_text(self, state: int) -> str:
        """A position in words."""
        if state < self.graph.n_states:
            return self.narrator.position(state)
        payoff = self.early_payoffs[state - self.graph.n_states]
        return f"over before the agent has moved: any action collects {payoff:+g}"

    @cached_property
    def _legal(self) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
        shape = (self.n_states, len(self.labels))
        action_of, mask = np.full(shape, -1, np.int32), np.zeros(shape, np.int8)
        in_order = np.argsort(self.labels)
        label = self.graph.action_label
        rank = in_order[np.searchsorted(self.labels, label, sorter=in_order) % len(in_order)]
        rank = np.where(is_throw(self.graph), 0, rank)
        n, early = self.graph.n_states, len(self.early_payoffs)
        action_of[self.graph.action_state, rank] = np.arange(self.graph.n_actions)
        action_of[n:, 0] = self.graph.n_actions + np.arange(early)
        mask[action_of >= 0] = 1
        return action_of, mask

    @property
    def action_of(self) -> NDArray[np.int32]:
        """The action of the graph by state and rank, -1 if not legal: (n_states, n_ranks).

        Actions of early ends have the numbers after the graph's.
        """
        return self._legal[0]

    @property
    def masks(self) -> NDArray[np.int8]:
        """Legal ranks of each state: (n_states, n_ranks) int8."""
        return self._legal[1]

    @cached_property
    def throws(self) -> NDArray[np.int32]:
        """The throwing action of each state, -1 after a throw: (n_states,) int32.

        Empty in a game without throws.
        """
        graph = self.graph
        if not graph.throw_names:
            return np.empty(0, np.int32)
        throwing = np.full(graph.n_states, -1, np.int32)
        throws = np.flatnonzero(is_throw(graph))
        throwing[graph.action_state[throws]] = throws
        return throwing

    @property
    def _seen(self) -> NDArray[np.bool_]:
        """The states of the graph with an observation: (n_states,) bool."""
        return self.throws < 0 if len(self.throws) else np.ones(self.graph.n_states, np.bool_)

    @cached_property
    def observations(self) -> NDArray[np.int32]:
        """The agent's observation of each state: (n_states, n_columns) int32.

        In a game with throws, the throw follows the fields. In a game that ended early all fields
        are below those of any state: the smallest of any state, less 1 (or 2, 3 and so on for
        different payoffs).
        """
        states = throws_as_fields(self.graph).states
        early = 1 + np.arange(len(self.early_payoffs))[:, None]
        return np.vstack([states, states[self._seen].min(axis=0) - early], dtype=np.int32)

    @property
    def reward_sign(self) -> float:
        """Rewards are to be maximized, even in a game for few points."""
        return self.graph.view.sign

    @cached_property
    def bounds(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The least and the largest observation of each field."""
        seen = np.append(self._seen, np.ones(len(self.early_payoffs), np.bool_))
        observed = self.observations[seen]
        return observed.min(axis=0), observed.max(axis=0)

    @cached_property
    def opponent_actions(self) -> NDArray[np.int32]:
        """The opponent's action in each state, -1 if it mixes: (n_states,) int32."""
        assert self.opponent is not None
        sure = np.flatnonzero(self.opponent.probability == 1.0)
        actions = np.full(self.graph.n_states, -1, np.int32)
        actions[self.graph.action_state[sure]] = sure
        return actions

    def seat(self, wanted: int) -> int:
        """The agent's seat; a single agent moves first."""
        return FIRST if self.opponent is None else wanted

    def throw(self, state: int, random: np.random.Generator) -> Outcome | None:
        """A random throw before the choice in a state; None in a state without one."""
        if not len(self.throws) or self.throws[state] < 0:
            return None
        return self.graph.view.action(int(self.throws[state])).step(random)

    def endless_turn(self, state: int) -> EndlessPlay:
        """The error of an opponent whose turn never ends."""
        assert self.opponent is not None
        where = self.graph.state_text(state)
        return EndlessPlay(
            f"{self.graph.game}: the opponent {self.opponent.name} may never end its turn; it is "
            f"now in the state {where}"
        )

    def opponent_action(self, state: int, random: np.random.Generator) -> Action:
        """A random action of the opponent's policy."""
        assert self.opponent is not None
        action = int(self.opponent_actions[state])
        if action >= 0:
            return self.graph.view.action(action)
        return self.graph.view[state].choose(self.opponent.probability, random)


def arena_of(
    game: str | Game | type[Game],
    parameters: dict[str, Any],
    opponent: AnyPolicy | None,
    *,
    any_players: bool = False,
    actions: Sequence[str] | None = None,
) -> Arena:
    """The arena of a game; graphs are kept for the next environment.

    Parameters
    ----------
    game : str, Game or subclass of Game
        A name or class, with parameters; or a game.
    opponent : str, callable, Policy or None
        As in `rollwise.answer.references.Policies`; ignored in a solitaire game.
    any_players : bool
        Allow three or more players.
    actions : sequence of str, optional
        The names of all actions, in the order of their ranks.

    Raises
    ------
    RollwiseError
        The game, a parameter or the policy doesn't exist.
    """
    if isinstance(actions, str) or not isinstance(actions, Iterable | None):
        raise UsageError(
            f"actions is {actions!r}; it must be a sequence with the name of each action, as "
            "('roll', 'hold')"
        )
    arena = _arena_of(_with_parameters(game, parameters), opponent, any_players)
    return replace(arena, order=tuple(actions)) if actions else arena


def _arena_of(game: Game, opponent: AnyPolicy | None, any_players: bool) -> Arena:
    policies = _policies(game, any_players)
    if policies.graph.players == 1:
        opponent = None
    elif opponent is None and not any_players:
        raise UsageError(
            f"{policies.graph.title} is a game for two, and opponent is None: name a policy, such "
            "as 'optimal'; GameAECEnv has an agent for each player"
        )
    policy, arenas = None, _ARENAS.setdefault(policies, {})
    if opponent is not None:
        # found anew: its file, or the functions of the rules that it calls, may have changed
        now = Policies(policies.graph, policies.game, lambda: policies.solution)
        policy = now.find(opponent)
    if not isinstance(opponent, str | None):
        return Arena(policies.graph, policy, policies.game)
    known = arenas.get(opponent)
    if known is not None and _are_equal(known.opponent, policy):
        return known
    if len(arenas) >= MOST_ARENAS:
        arenas.clear()
    arena = arenas[opponent] = Arena(policies.graph, policy, policies.game)
    return arena


def _are_equal(one: Policy | None, other: Policy | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one.probability, other.probability)


def _with_parameters(game: str | Game | type[Game], parameters: dict[str, Any]) -> Game:
    if isinstance(game, Game):
        if parameters:
            raise UsageError(
                f"{game.name} has its parameters already; {next(iter(parameters))!r} can't be set"
            )
        return game
    cls = find(game) if isinstance(game, str) else game
    if not (isinstance(cls, type) and issubclass(cls, Game)):
        raise another_kind("a game is wanted, such as Pig(target=50) or 'pig'", game)
    if "as" in parameters:
        return create(cls, {name: str(value) for name, value in parameters.items()})
    specs = {spec.name: spec for spec in parameter_specs(cls)}
    unknown = [key for key in parameters if key not in specs]
    if unknown:
        raise UsageError(f"{cls.name} has no parameter {unknown[0]!r}")
    typed = {key: value for key, value in parameters.items() if isinstance(value, str)}
    read = {key: specs[key].parse(cls.name, text) for key, text in typed.items()}
    return cls(**{**parameters, **read})


@remembered(16)
def _policies(game: Game, any_players: bool) -> Policies:
    try:
        return Policies.of(game, any_players=any_players)
    except ForMorePlayers as error:
        title, _, _ = str(error).partition(": this is")
        advice = (
            f"{title}: GameEnv and GameVectorEnv are for one player or two; GameAECEnv, for "
            "PettingZoo, has an agent for each player (rollwise.environments.aec.env)"
        )
        raise ForMorePlayers(advice, error.game) from None


# The arenas of a game by the names of the opponents, as long as its policies are kept in memory.
_ARENAS: WeakKeyDictionary[Policies, dict[str | None, Arena]] = WeakKeyDictionary()


class Telling:
    """Narration since the last call of `begin`, in the words of the game.

    Parameters
    ----------
    arena : Arena
    """

    def __init__(self, arena: Arena) -> None:
        self.narrator = arena.narrator
        self.lines: list[str] = []
        self._points: dict[str, float] = {}
        self._random = np.random.default_rng()

    def begin(self, random: np.random.Generator) -> None:
        """Begin a game with outcomes drawn from `random`; drawing faces doesn't change `random`."""
        (self._random,) = random.spawn(1)
        self._points, self.lines = {}, []

    def tell(self, who: str, outcome: Outcome, names: Sequence[str] = ()) -> None:
        """Add a player's move; `names` are those of all players, from this one on."""
        narrator, action = self.narrator, outcome.action.index
        faces = narrator.faces_of(action, outcome.number, self._random)
        points = self._points.get(who, 0.0)
        line = narrator.sentence(who, action, outcome.number, faces, points=points, names=names)
        self.lines.append(line)
        self._points[who] = points + narrator.points_of(action)


BATCH = 1 << 16  # states that an agent is asked about at once

Choose = Callable[[NDArray[np.int32], NDArray[np.bool_]], Any]


class MeanReward(NamedTuple):
    """The mean reward of a game, and a certified error bound."""

    value: float
    bound: float


def policy_of(env: Any, choose: Choose | NDArray[Any], name: str = "agent") -> Policy:
    """The policy of an agent.

    Parameters
    ----------
    env : an environment of rollwise, or one wrapped by others
    choose : callable or array
        Called as ``choose(observations, masks)``, with (n, n_fields) int32 and
        (n, n_ranks) bool. It returns the agent's choice in each of these states: ranks
        of actions, (n,), or probabilities, (n, n_ranks). Or a table of the same,
        by ``info["state"]``. It isn't called for states with one legal action.
    name : str

    Returns
    -------
    Policy
        On ``env.unwrapped.graph``.

    Raises
    ------
    PolicyError
        It chooses an illegal action; names the state. Or it is no function, and no table of all
        states.
    UsageError
        It isn't an environment of rollwise.
    """
    arena = arena_in(env)
    graph = arena.graph
    if not callable(choose):
        choose = _table_of(arena, choose)
    probability = np.ones(graph.n_actions)
    asked = np.flatnonzero(has_choice(graph))
    # some thousand states at a time, for agents that take arrays
    for begin in range(0, len(asked), BATCH):
        states = asked[begin : begin + BATCH]
        masks = arena.masks[states].astype(np.bool_)
        answer = choose(graph.rows[states], masks) if callable(choose) else choose[states]
        chances = _chances(answer, masks.shape, graph.title)
        wrong = (chances < 0) | ~np.isfinite(chances) | ((chances > 0) & ~masks)
        for row in np.flatnonzero(wrong.any(axis=1) | ~(chances.sum(axis=1) > 0))[:1]:
            here = graph.view[states[row]]
            raise PolicyError(
                f"{graph.game}: {name} chooses {chances[row].tolist()} (by rank) in the state "
                f"{here}, where the legal actions are "
                f"{', '.join(action.name for action in here.actions)}"
            )
        chances /= chances.sum(axis=1, keepdims=True)
        # both sides go through the legal ranks of each state in the same order
        probability[arena.action_of[states][masks]] = chances[masks]
    return Policy(name, probability)


def arena_in(env: Any) -> Arena:
    """The arena of an environment of rollwise, or of one wrapped by others.

    Raises
    ------
    UsageError
        It is another one.
    """
    arena = getattr(getattr(env, "unwrapped", None), "arena", None)
    if not isinstance(arena, Arena):
        raise another_kind("an environment of rollwise is wanted, such as GameEnv('pig')", env)
    return arena


def _table_of(arena: Arena, choose: Any) -> NDArray[Any]:
    """An agent's table with a row for each state.

    Raises
    ------
    PolicyError
        It is no table, or has another number of rows.
    """
    graph = arena.graph
    wanted = "a function of observations and masks, or an array with a row for each state"
    if not isinstance(choose, np.ndarray | Sequence) or isinstance(choose, str):
        remedy = ""
        if isinstance(choose, str | Policy):
            remedy = "; mean_reward(env, policy) takes a policy by its name, and a Policy"
        raise PolicyError(
            f"{graph.title}: an agent is {wanted}, and not of the type "
            f"{type(choose).__name__}{remedy}"
        )
    table = np.asarray(choose)
    # special states after those of the graph, and the end, may have rows too
    if table.shape[:1] not in {(n,) for n in (graph.n_states, arena.n_states, arena.n_states + 1)}:
        raise PolicyError(
            f"{graph.title}: an agent is {wanted}; this array has the shape {table.shape}, and "
            f"there are {graph.n_states:,} states"
        )
    return table


def _chances(answer: Any, shape: tuple[int, ...], title: str) -> NDArray[np.float64]:
    """Probability of each rank in each state, from an agent's answer."""
    given = np.asarray(answer)
    if given.shape == shape and given.dtype.kind in "biuf":
        return given.astype(np.float64)
    whole = given.shape == shape[:1] and given.dtype.kind in "iu"
    if not whole or given.min() < 0 or given.max() >= shape[1]:
        raise PolicyError(
            f"{title}: an agent gives ranks, {shape[:1]} whole numbers from 0 to {shape[1] - 1}, "
            f"or the chance of each, {shape}; this one gave {given.dtype} {given.shape}"
        )
    chances = np.zeros(shape)
    chances[np.arange(len(given)), given] = 1.0
    return chances


def mean_reward(env: Any, policy: AnyPolicy | None = None) -> MeanReward:
    """Exact mean reward per game of an agent in an environment.

    Parameters
    ----------
    env : GameEnv or GameVectorEnv, or one wrapped by others
    policy : str, callable or Policy, optional
        As `rollwise.evaluate` takes it, or from `policy_of`. By default a best response to the
        opponent, the maximum for any agent.

    Raises
    ------
    UsageError
        The environment has two players, but no opponent, or isn't of rollwise.
    PolicyError
        There is no such policy, or it is of another game.
    EndlessPlay
        The policies can play forever.
    """
    arena = arena_in(env)
    graph = arena.graph
    policies = Policies(graph, arena.game)
    if graph.players == 1:
        if policy is None:
            solved, certificate, _ = solve_and_certify(graph)
            values, bounds = solved.values, certificate.bounds
        else:
            alone = evaluate(policies, policy, starts=[0])
            assert alone.bounds is not None
            values, bounds = alone.values, alone.bounds
        return MeanReward(arena.reward_sign * float(values[0]), float(bounds[0]))
    if arena.opponent is None:
        raise UsageError(
            f"{graph.title}: both seats are agents here; use rollwise.answer.evaluation"
        )
    answer: Evaluation
    if policy is None:
        answer = best_response(graph, arena.opponent, starts=[0])
    else:
        answer = evaluate(policies, policy, arena.opponent, starts=[0])
    assert answer.bounds is not None
    assert answer.bounds_second is not None
    first = MeanReward(float(answer.values[0]), float(answer.bounds[0]))
    second = MeanReward(float(answer.values_second[0]), float(answer.bounds_second[0]))
    if env.unwrapped.seat != EITHER:
        return first if env.unwrapped.seat == FIRST else second
    rounding = 2.0**-52
    return MeanReward((first.value + second.value) / 2, (first.bound + second.bound) / 2 + rounding)
