"""Thousands of games at once as a Gymnasium vector environment, stepped in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.environments import need
from rollwise.environments.arena import arena_of, seat_by_name
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.graph.policies import Policy
from rollwise.kernels.environment import pack_actions, step_batch
from rollwise.kernels.sampling import alias_tables
from rollwise.numbers.randomness import check_seed, fresh_seed, stream

gymnasium = need("gymnasium")


class GameVectorEnv(gymnasium.vector.VectorEnv):  # type: ignore[misc, name-defined]
    """Many games of one kind; see `GameEnv` for what is observed and rewarded.

    A game that is over begins again at the next step, whose action isn't looked
    at (Gymnasium's ``AutoresetMode.NEXT_STEP``). ``infos["action_mask"]`` is
    (n, n_ranks) int8 and ``infos["state"]`` (n,) int64. A reset takes one seed,
    from which all games draw.

    Parameters
    ----------
    num_envs : int
    copy : bool
        Give new arrays at each step; without it the next step overwrites them.
    actions : sequence of str, optional
        As in `GameEnv`.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": [],
        "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        game: str | Game | type[Game],
        num_envs: int = 1,
        opponent: str | Policy = "optimal",
        seat: str = "first",
        contest: str | None = None,
        illegal_reward: float = -1.0,
        render_mode: None = None,
        copy: bool = True,
        actions: Sequence[str] | None = None,
        **parameters: Any,
    ) -> None:
        if num_envs < 1:
            raise UsageError(f"num_envs is {num_envs}; it must be at least 1")
        wanted = seat_by_name(seat)  # before anything is built
        self.arena = arena_of(game, parameters, opponent, contest, actions=actions)
        self.graph = graph = self.arena.graph
        self.seat = self.arena.seat(wanted)
        self.illegal_reward = float(illegal_reward)
        self.copy = copy
        self.num_envs = num_envs
        low, high = self.arena.bounds
        n_ranks = len(self.arena.labels)
        self.single_observation_space = gymnasium.spaces.Box(low, high, dtype=np.int32)
        self.single_action_space = gymnasium.spaces.Discrete(n_ranks)
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, num_envs)
        self.action_space = batch(self.single_action_space, num_envs)
        self.action_names = self.arena.action_names

        self._cells = np.empty((graph.n_outcomes, 4), np.int32)
        alias_tables(graph.outcome_indptr, graph.outcome_weight, self.arena.codes, self._cells)
        self._packed = np.empty(graph.n_actions, np.int64)
        pack_actions(graph.outcome_indptr, self._packed)
        # By the code of the opponent's last move, which gains what the agent loses.
        self._early_state = np.zeros(len(graph.ending_payoffs), np.int64)
        for payoff in self.arena.early_payoffs.tolist():
            place = np.searchsorted(graph.ending_payoffs, -payoff)
            self._early_state[place] = self.arena.early_state(payoff)
        mixes = self.arena.opponent is not None and bool((self.arena.opponent_actions < 0).any())
        self._opponent = np.empty(0)
        if mixes and self.arena.opponent is not None:
            self._opponent = self.arena.opponent.probability
        self._words = stream(fresh_seed(), 0)
        self._state = np.zeros(num_envs, np.int64)
        self._done = np.ones(num_envs, np.bool_)
        self._waiting = np.zeros(num_envs, np.int64)
        self._fresh = np.zeros(num_envs, np.bool_)
        self._observation = np.zeros((num_envs, len(low)), np.int32)
        self._mask = np.zeros((num_envs, n_ranks), np.int8)
        self._reward = np.zeros(num_envs)
        self._owed = np.zeros(num_envs)
        self._terminated = np.zeros(num_envs, np.bool_)
        self._truncated = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int32], dict[str, Any]]:
        """Begin all games; one seed for all of them."""
        if seed is not None:
            self._words = stream(check_seed(seed), 0)
        self._step(np.zeros(self.num_envs, np.int64), reset=True)
        return self._given(self._observation), self._info()

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[
        NDArray[np.int32],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Step all games."""
        actions = np.array(actions, dtype=np.int64)  # a copy, in which the kernel works
        if actions.shape != (self.num_envs,):
            raise UsageError(f"actions have the shape {actions.shape}, not ({self.num_envs},)")
        self._step(actions, reset=False)
        return (
            self._given(self._observation),
            self._given(self._reward),
            self._given(self._terminated),
            self._given(self._truncated),
            self._info(),
        )

    def _step(self, actions: NDArray[np.int64], *, reset: bool) -> None:
        graph, arena = self.graph, self.arena
        with np.errstate(over="ignore"):  # random numbers wrap round, without the compiler too
            wrong = step_batch(
                actions,
                reset,
                self.seat,
                self.illegal_reward,
                arena.reward_sign,
                graph.ending_payoffs,
                arena.observations,
                arena.masks,
                arena.action_of,
                arena.throws,
                arena.early_payoffs,
                self._early_state,
                self._packed,
                graph.action_indptr,
                graph.action_reward,
                self._cells,
                arena.opponent_actions,
                self._opponent,
                self._words,
                self._state,
                self._done,
                self._waiting,
                self._fresh,
                self._owed,
                self._observation,
                self._mask,
                self._reward,
                self._terminated,
            )
        if wrong >= 0:
            raise UsageError(f"action {actions[wrong]} of game {wrong} isn't an action")

    def _given(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self.copy else array

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._given(self._mask), "state": self._given(self._state)}
