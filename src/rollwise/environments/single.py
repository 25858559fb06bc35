"""Any game as a Gymnasium environment, with the opponent in it; its exact transition table.

In the table the opponent's turns are summed out. Between two moves of the agent the opponent moves,
perhaps many times. The opponent's turn is an absorbing Markov chain on the opponent's states. Let Q
be the transitions among them and R those out of them. From a state e, the probabilities of the
agent's next states are row e of (I − Q)⁻¹ R (Kemeny and Snell 1960, theorem 3.3.7). The same matrix
gives the opponent's expected gain on the way to each of them. If the agent throws before a choice,
each throw is one of the agent's states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.references import AnyPolicy
from rollwise.environments import need
from rollwise.environments.arena import Arena, Telling, arena_of, require_render_mode, seat_by_name
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.graph import Action, Outcome
from rollwise.kernels.environment import EITHER, FIRST
from rollwise.numbers.given import finite_number
from rollwise.numbers.randomness import check_seed
from rollwise.play.games import MOST_MOVES
from rollwise.words import as_next_sees

gymnasium = need("gymnasium")

Observation = NDArray[np.int32] | tuple[int, ...]


class GameEnv(gymnasium.Env):  # type: ignore[misc, name-defined]
    """A game against an opponent, or a solitaire game.

    An observation is the fields of the state before the agent's move, from the agent's view, and
    the throw before the choice in a game with throws: (n_fields,) int32. An action is a rank
    (`action_names` names them); ``info["action_mask"]`` (n_ranks,) int8 marks the legal ones and
    ``info["state"]`` is the state's number. An illegal action changes nothing and its reward is
    `illegal_reward`. The reward of a game of wins and losses is 1, 0 or -1 at its end. In a game
    for points it is the points, negative if few are better. In a game for stakes it is the payoff,
    and the gain from the opponent since the agent's last move. At the end of the game the
    observation is the last one again, unless `shows_end`.

    An opponent who moves first may end the game at once. The agent is then
    in a special state, different from all others (`Arena.observations`). Its
    one legal action, 0, ends the game at its value.

    Parameters
    ----------
    game : str, Game or subclass of Game
        A game, or the name or class of one, with its `parameters`.
    opponent : str, callable or Policy
        ``optimal``, or a policy of the game. A solitaire game has no opponent and one seat:
        this and `seat` have no effect there.
    seat : {"first", "second", "either"}
        Whether the agent moves first; ``either`` tosses a coin at each reset.
    illegal_reward : float
    render_mode : {"ansi"}, optional
    actions : sequence of str, optional
        The names of all actions, in the order of their ranks: ``("hold", "roll")`` makes 0 hold.
    observations : {"array", "tuple"}
        A tuple of int, usable as the key of a dictionary, instead of an array.
    shows_end : bool
        The last observation is the final position, from the agent's view, with
        the final totals. The outcomes of the rules must give it.
    **parameters
        Of the game, also of a form: ``**{"as": "contest", "ties": "first"}``.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        game: str | Game | type[Game],
        opponent: AnyPolicy = "optimal",
        seat: str = "first",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        actions: Sequence[str] | None = None,
        observations: str = "array",
        shows_end: bool = False,
        **parameters: Any,
    ) -> None:
        require_render_mode(render_mode)
        if observations not in ("array", "tuple"):
            raise UsageError(f"observations is {observations!r}; it must be 'array' or 'tuple'")
        wanted = seat_by_name(seat)  # before anything is built
        self.arena = arena_of(game, parameters, opponent, actions=actions)
        self.graph = self.arena.graph
        self.seat = self.arena.seat(wanted)
        self.illegal_reward = finite_number("illegal_reward", illegal_reward)
        self.render_mode = render_mode
        self.shows_end = shows_end
        self._as_tuple = observations == "tuple"
        self.observation_space = self._space()
        self.action_space = gymnasium.spaces.Discrete(len(self.arena.labels))
        self.action_names = self.arena.action_names
        self._state = 0
        self._over = True
        self._owed = 0.0  # the agent's gain from an opponent who moved first
        self._telling = Telling(self.arena)
        self._end: tuple[int, ...] | None = None  # the end of the game from the agent's view

    def _space(self) -> Any:
        low, high = self.arena.bounds
        if self.shows_end:  # the final position is no state of the graph
            ending = int(np.flatnonzero(self.graph.outcome_state < 0)[0])
            action = int(np.searchsorted(self.graph.outcome_indptr, ending, side="right")) - 1
            if not any(self.arena.narrator.finals(action)):
                raise UsageError(
                    f"{self.graph.title}: shows_end needs rules whose outcomes give the position "
                    "at the end of the game, as in (1, WIN, next_state)"
                )
            every = np.iinfo(np.int32)
            low, high = np.full_like(low, every.min), np.full_like(high, every.max)
        spaces = gymnasium.spaces
        if not self._as_tuple:
            return spaces.Box(low, high, dtype=np.int32)
        bounds = zip(low.tolist(), high.tolist(), strict=True)
        return spaces.Tuple([spaces.Discrete(b - a + 1, start=a) for a, b in bounds])

    @property
    def P(self) -> Transitions:
        """The exact transition table: ``P[state][action]`` lists
        ``(probability, next state, reward, terminated)``.

        A reward is the mean over the opponent's moves to the same state. The agent's gain from an
        opponent who moves first isn't in the table: `initial_reward` is its mean.
        States are those of ``info["state"]``, and one more, the last, for finished games.
        The mapping computes its entries on demand. It raises EndlessPlay at an opponent's turn
        without an end.
        """
        return _transitions(self.arena, self.illegal_reward)

    @property
    def initial_state_distrib(self) -> NDArray[np.float64]:
        """The probability of each state after a reset: (len(P),) float64."""
        return self.P.beginning(self.seat)

    @property
    def initial_reward(self) -> float:
        """The agent's mean gain from the opponent's moves before the agent's first.

        A game pays it with the reward of the agent's first move. The mean reward of an agent is
        this number plus the mean of its values by `P` over `initial_state_distrib`. It is 0 except
        in a game of two with a `reward`, in which the opponent may move first.
        """
        return self.P.first_gain(self.seat)

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, under the name that libraries of masked algorithms expect."""
        return np.asarray(self.arena.masks[self._state], dtype=np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game. If the opponent moves first, it has moved."""
        super().reset(seed=None if seed is None else check_seed(seed))
        self._end = None
        if self.render_mode is not None or self.shows_end:
            self._telling.begin(self.np_random)
        first = self.seat == FIRST
        if self.seat == EITHER:
            first = bool(self.np_random.integers(2))
        ended, self._owed = self._play_on(0, first)
        if ended is not None:
            self._state = self.arena.early_state(ended)
        self._over = False
        return self._observe()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action, let the dice fall, and let the opponent move.

        Raises
        ------
        UsageError
            The game is over, or there is no such action.
        EndlessPlay
            The opponent's turn has no end, as far as can be seen.
        """
        if self._over:
            raise UsageError("the game is over (or hasn't begun); call reset()")
        if not self.action_space.contains(action):
            raise UsageError(f"{action!r} isn't an action; there are {self.action_space}")
        a = int(self.arena.action_of[self._state, int(action)])
        self._telling.lines = []
        if a < 0:
            observation, info = self._observe()
            return observation, float(self.illegal_reward), False, False, info
        if a >= self.graph.n_actions:
            self._over = True
            observation, info = self._observe()
            payoff = float(self.arena.early_payoffs[a - self.graph.n_actions])
            return observation, self._owed + payoff, True, False, info
        taken = self.graph.view.action(a)
        reward = self._owed + self.arena.reward_sign * taken.reward
        self._owed = 0.0
        outcome = taken.step(self.np_random)
        self._tell("agent", outcome)
        if outcome.is_over:
            self._over = True
            reward += outcome.payoff
        else:
            ended, gained = self._play_on(outcome.target, not outcome.passes)
            self._over = ended is not None
            reward += gained + (ended or 0.0)
        observation, info = self._observe()
        return observation, reward, self._over, False, info

    def _play_on(self, state: int, mine: bool) -> tuple[float | None, float]:
        """Let the opponent move until the agent's turn, and make the throw before its choice.

        Returns
        -------
        payoff : float or None
            Of the agent; None if the game goes on.
        gained : float
            The agent's other gain from the opponent.
        """
        gained, moves = 0.0, 0
        # the opponent may move several times before the turn passes back
        while not mine:
            moves += 1
            if moves > MOST_MOVES:
                raise self.arena.endless_turn(state)
            action = self.arena.opponent_action(state, self.np_random)
            outcome = action.step(self.np_random)
            self._tell("opponent", outcome)
            gained -= action.reward
            if outcome.is_over:
                return -outcome.payoff, gained
            state, mine = outcome.target, outcome.passes
        thrown = self.arena.throw(state, self.np_random)
        if thrown is not None:
            self._tell("agent", thrown)
            state = thrown.target
        self._state = state
        return None, gained

    def _observe(self) -> tuple[Observation, dict[str, Any]]:
        mask = self.arena.masks[self._state]
        if self._over:
            mask = np.zeros_like(mask)
        info = {"action_mask": mask.copy(), "state": self._state}
        seen = self.arena.observations[self._state]
        if self._over and self._end is not None:
            seen = np.array(self._end, np.int32)
        return tuple(seen.tolist()) if self._as_tuple else seen.copy(), info

    def _tell(self, who: str, outcome: Outcome) -> None:
        if self.render_mode is None and not self.shows_end:
            return
        self._telling.tell(who, outcome)
        if self.shows_end and outcome.is_over:
            self._end = self.arena.narrator.finals(outcome.action.index)[outcome.number]
            if who == "opponent" and self._end is not None:
                seen = zip(as_next_sees(self.graph), self._end, strict=True)
                self._end = tuple(self._end[k] if k >= 0 else x for k, x in seen)

    def render(self) -> str | None:
        """The last step in words, and the present position."""
        if self.render_mode is None:
            return None
        here = f"agent to move: {self.arena.state_text(self._state)}"
        return "\n".join([*self._telling.lines, "game over" if self._over else here])


Row = tuple[float, int, float, bool]
# Probability of a destination, and this times the agent's mean gain on the way.
Reached = tuple[float, float]
# From a state, to a state or an end, with a probability and the opponent's gain.
Step = tuple[int, int, float, float]


class Transitions(Mapping[int, dict[int, list[Row]]]):
    """``P[state][action]`` is a list of ``(probability, next state, reward, terminated)``.

    Rows are computed on demand. The states are those of the arena, followed by
    the end.
    """

    def __init__(self, arena: Arena, illegal_reward: float) -> None:
        self.arena = arena
        self.illegal_reward = illegal_reward
        self.over = arena.n_states
        # An end is a key below all states: -1 minus the index of the payoff among these.
        ends = arena.graph.ending_payoffs
        self._payoffs = np.unique(np.concatenate([ends, -ends]))
        self._turns: dict[int, dict[int, Reached]] = {}

    def __len__(self) -> int:
        return self.over + 1

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.over + 1))

    def __getitem__(self, state: int) -> dict[int, list[Row]]:
        if not isinstance(state, int | np.integer) or not 0 <= state <= self.over:
            raise KeyError(state)
        ranks = range(len(self.arena.labels))
        if state == self.over:
            return {rank: [(1.0, self.over, 0.0, True)] for rank in ranks}
        return {rank: self._row(state, int(self.arena.action_of[state, rank])) for rank in ranks}

    def beginning(self, seat: int) -> NDArray[np.float64]:
        """The probability of each state at the agent's first move: (n_states + 1,)."""
        first = {FIRST: 1.0, EITHER: 0.5}.get(seat, 0.0)
        start = np.zeros(len(self))
        for t, share in self._thrown(0):
            start[t] += first * share
        if first < 1.0:
            for t, (p, _) in self.turn(0).items():
                state = t if t >= 0 else self.arena.early_state(self._payoff(t))
                start[state] += (1.0 - first) * p
        return start

    def first_gain(self, seat: int) -> float:
        """The agent's mean gain from the opponent's moves before the agent's first."""
        first = {FIRST: 1.0, EITHER: 0.5}.get(seat, 0.0)
        if first == 1.0:
            return 0.0
        return (1.0 - first) * sum(gain for _, gain in self.turn(0).values())

    def _payoff(self, end: int) -> float:
        """The agent's payoff at an end."""
        return float(self._payoffs[-1 - end])

    def _row(self, state: int, action: int) -> list[Row]:
        if action < 0:
            return [(1.0, state, float(self.illegal_reward), False)]
        graph = self.arena.graph
        if action >= graph.n_actions:
            payoff = float(self.arena.early_payoffs[action - graph.n_actions])
            return [(1.0, self.over, payoff, True)]
        points = self.arena.reward_sign * graph.view.action(action).reward
        total: dict[int, float] = {}
        gains: dict[int, float] = {}
        # the turn stays with the agent, or the opponent plays it to its end
        for t, passes, p in self._moves(graph.view.action(action)):
            if not passes:
                for thrown, share in self._thrown(t):
                    total[thrown] = total.get(thrown, 0.0) + p * share
                continue
            for end, (q, gain) in self.turn(t).items():
                total[end] = total.get(end, 0.0) + p * q
                gains[end] = gains.get(end, 0.0) + p * gain
        rows = []
        # a gain is a sum over the ways to a state: divided by their chance it is their mean
        for t, p in total.items():
            reward = points + gains.get(t, 0.0) / p + (self._payoff(t) if t < 0 else 0.0)
            rows.append((p, self.over if t < 0 else t, reward, t < 0))
        return rows

    def _moves(self, action: Action) -> list[tuple[int, bool, float]]:
        """Successors of an action: state or end for the mover, whether it passes, probability."""
        return [
            (
                -1 - int(np.searchsorted(self._payoffs, way.payoff)) if way.is_over else way.target,
                way.passes,
                chance,
            )
            for way, chance in zip(action.outcomes, action.chances, strict=True)
        ]

    def turn(self, entry: int) -> dict[int, Reached]:
        """The destinations of the opponent's turn from `entry`, with probabilities and gains."""
        if entry not in self._turns:
            self._turns[entry] = self._absorb(entry)
        return self._turns[entry]

    def _absorb(self, entry: int) -> dict[int, Reached]:
        graph, opponent = self.arena.graph, self.arena.opponent
        assert opponent is not None
        number = {entry: 0}
        queue = [entry]
        inside: list[Step] = []
        outside: list[Step] = []
        # all states that the opponent's turn may come to from `entry`
        while queue:
            s = queue.pop()
            for action in graph.view[s].actions:
                share = float(opponent.probability[action])
                if share == 0.0:
                    continue
                for t, passes, p in self._moves(action):
                    if t < 0 or passes:
                        # payoffs lie even about 0: the agent's is as far from the other end
                        seen = t if t >= 0 else -1 - len(self._payoffs) - t
                        outside.append((number[s], seen, share * p, action.reward))
                        continue
                    if t not in number:
                        number[t] = len(number)
                        queue.append(t)
                    inside.append((number[s], number[t], share * p, action.reward))
        self._require_end(list(number), inside, {i for i, *_ in outside})
        first = np.zeros(len(number))
        first[0] = 1.0
        visits = _visits(first, inside)
        # Gains inside are carried to the destinations of play from there.
        carried = np.zeros(len(number))
        # a gain belongs to the state after it: from there it reaches the ends like a visit
        for i, j, p, paid in inside:
            carried[j] += visits[i] * p * paid
        if carried.any():
            carried = _visits(carried, inside)
        ends: dict[int, Reached] = {}
        # gains on the last move, and those carried to its state
        for i, t, p, paid in outside:
            chance, gain = ends.get(t, (0.0, 0.0))
            gain -= float(visits[i]) * p * paid + float(carried[i]) * p
            ends[t] = chance + float(visits[i]) * p, gain
        return {
            thrown: (share * chance, share * gain)
            for t, (chance, gain) in ends.items()
            if chance > 0
            for thrown, share in self._thrown(t)
        }

    def _require_end(self, states: list[int], inside: list[Step], leaving: set[int]) -> None:
        """Check that the opponent's turn may end from each of its states.

        Raises
        ------
        EndlessPlay
        """
        before = dict[int, list[int]]()
        for i, j, *_ in inside:
            before.setdefault(j, []).append(i)
        ends, queue = set(leaving), list(leaving)
        # backwards from the states that some move leaves
        while queue:
            new = set(before.get(queue.pop(), ())) - ends
            ends |= new
            queue += new
        for i, state in enumerate(states):
            if i not in ends:
                raise self.arena.endless_turn(state)

    def _thrown(self, t: int) -> list[tuple[int, float]]:
        """The agent's states of choice, or the end, after state t, with probabilities."""
        throws = self.arena.throws
        if t < 0 or not len(throws) or throws[t] < 0:
            return [(t, 1.0)]
        throw = self.arena.graph.view.action(int(throws[t]))
        return [(way.target, p) for way, p in zip(throw.outcomes, throw.chances, strict=True)]


def _visits(first: NDArray[np.float64], inside: list[Step]) -> NDArray[np.float64]:
    """Expected visits of each state, given the initial distribution: ``first (I − Q)⁻¹``."""
    n = len(first)
    # the transposed system gives visits; a dense one is faster for few states
    if n <= 200:
        matrix = np.eye(n)
        for i, j, p, _ in inside:
            matrix[j, i] -= p
        return np.asarray(np.linalg.solve(matrix, first), dtype=np.float64)
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import spsolve

    rows, columns, chances, _ = (np.array(column) for column in zip(*inside, strict=True))
    transposed = csc_matrix((chances, (columns, rows)), shape=(n, n))
    return np.asarray(spsolve((identity(n) - transposed).tocsc(), first))


_transitions = lru_cache(maxsize=16)(Transitions)
