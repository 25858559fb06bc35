"""Models in Python as games: arrays, environments of Gymnasium, and games of OpenSpiel."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rollwise.errors import MissingExtra, UsageError, another_kind
from rollwise.models.game import ModelGame, game_class
from rollwise.models.model import OVER, Model, simplest
from rollwise.numbers.given import whole_number

REWARDS = "rewards"
MOST_NODES = 2_000_000  # of an OpenSpiel game


def from_arrays(
    rewards: Any,
    transitions: Any,
    discount: float = 1.0,
    *,
    states: Any = None,
    actions: Any = None,
    objective: str = "maximize",
    start: int = 0,
    by: str = "",
    name: str = "model",
) -> ModelGame:
    """A Markov decision process in the arrays of QuantEcon or pymdptoolbox, as a game.

    With a discount below 1 play ends at each move with the chance ``1 - discount``. Without one it
    ends in states that it never leaves and that bring nothing.

    Parameters
    ----------
    rewards : array
        (n_states, n_actions), with -inf for an illegal action, inf to minimize; (n_states,); one
        array for each action, (n_states, n_states); or (L,) with `states` and `actions`.
    transitions : array, or a sequence of arrays or sparse matrices
        (n_states, n_actions, n_states) as in QuantEcon; (n_actions, n_states, n_states), or
        a matrix for each action, as in pymdptoolbox; (L, n_states) with `states` and `actions`.
    states, actions : (L,) int, optional
        The state and the action of each row (QuantEcon's state-action pairs).
    objective : {"maximize", "minimize"}
    start : int
    by : {"state", "action"}, optional
        The first axis of `transitions`, if their shape leaves it open.

    Raises
    ------
    UsageError
        The arrays don't fit each other.
    ModelFileError
        The chances of an action don't add up to 1.

    Examples
    --------
    >>> import rollwise
    >>> transitions = [[[0.5, 0.5], [0, 1]], [[0, 1], [1, 0]]]
    >>> game = rollwise.from_arrays([[5, 10], [-1, -2]], transitions, 0.95, by="state")
    >>> round(rollwise.solve(game).value, 3)
    83.077
    """
    if not isinstance(start, int | np.integer):
        raise UsageError(f"start is {start!r}; it must be the number of a state")
    if objective not in ("maximize", "minimize"):
        raise UsageError(f"objective is {objective!r}; it must be 'maximize' or 'minimize'")
    if (states is None) != (actions is None):
        raise UsageError("states and actions go together: one of each for a row of transitions")
    if states is not None:
        rows = _dense_or_sparse(transitions)
        row, target, chance = _entries(rows)
        n = rows.shape[-1]
        lists = [_numbers(given, "states and actions") for given in (states, actions)]
        if any(
            part.shape != rows.shape[:1] or np.any((part % 1 != 0) | (part < 0)) for part in lists
        ):
            raise UsageError(f"states and actions are {rows.shape[0]} whole numbers from 0 on")
        state, action = (part.astype(np.int64)[row] for part in lists)
        reward = _checked(rewards, (rows.shape[0],))[row]
    else:
        matrices = _by_action(transitions, by)
        n = matrices[0].shape[0]
        parts = [_entries(matrix) for matrix in matrices]
        state = np.concatenate([part[0] for part in parts])
        target = np.concatenate([part[1] for part in parts])
        chance = np.concatenate([part[2] for part in parts])
        action = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
        reward = _rewards(rewards, len(matrices), n, action, state, target)
    # an infinite loss marks an illegal action
    loss = -np.inf if objective == "maximize" else np.inf
    legal = reward != loss
    if len(wrong := np.flatnonzero(legal & ~np.isfinite(reward))):
        raise UsageError(
            f"the reward {reward[wrong[0]]} of the action {action[wrong[0]]} in the state "
            f"{state[wrong[0]]} is no finite number; {loss} marks an illegal action"
        )
    if len(np.unique(state[legal])) < n:
        missing = np.setdiff1d(np.arange(n), state[legal])[0]
        raise UsageError(f"the state {missing} has no legal action")
    index, chances = simplest(chance[legal])
    model = Model.of(
        name,
        n,
        state[legal],
        action[legal],
        target[legal],
        (index, chances),
        action=action[legal],
        names=[str(number) for number in range(int(action.max(initial=-1)) + 1)],
        start=start,
        rewards={REWARDS: reward[legal]},
    )
    return game_class(model, optimum=objective[:3], discount=_rate(discount))()


def _rate(discount: Any) -> float:
    return float(_numbers(discount, "discount").reshape(()))


def _numbers(given: Any, what: str) -> Any:
    """An array of doubles."""
    try:
        found = np.asarray(given)
        if found.dtype.kind in "cSU":
            raise ValueError
        return found.astype(np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{what}: an array of numbers is needed") from None


def _dense_or_sparse(matrix: Any) -> Any:
    """A matrix as it is, if SciPy made it; otherwise as an array of doubles."""
    found = matrix if hasattr(matrix, "tocoo") else _numbers(matrix, "transitions")
    if found.ndim != 2:
        raise UsageError(f"transitions have the shape {found.shape}; a matrix is wanted")
    return found


def _entries(matrix: Any) -> tuple[Any, Any, Any]:
    """Row, column and number of the entries of a matrix other than 0; one of each empty row."""
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        row, column, number = entries.row.astype(np.int64), entries.col, entries.data
    else:
        row, column = np.nonzero(matrix)
        number = matrix[row, column]
    empty = np.setdiff1d(np.arange(matrix.shape[0]), row)
    zeros = np.zeros_like(empty)
    parts = zip((row, column, number), (empty, zeros, zeros), strict=True)
    return tuple(np.concatenate(pair) for pair in parts)  # type: ignore[return-value]


def _checked(rewards: Any, shape: tuple[int, ...]) -> Any:
    found = _numbers(rewards, "rewards")
    if found.shape != shape:
        raise UsageError(f"rewards have the shape {found.shape}; {shape} is wanted")
    return found


def _by_action(transitions: Any, by: str) -> list[Any]:
    """A square matrix for each action."""
    if isinstance(transitions, Sequence) and any(hasattr(m, "tocoo") for m in transitions):
        found = [_dense_or_sparse(matrix) for matrix in transitions]
    else:
        array = _numbers(transitions, "transitions")
        if array.ndim != 3:
            raise UsageError(f"transitions have the shape {array.shape}; three axes are wanted")
        first, second, third = array.shape
        # the axis whose size isn't that of the states tells the convention, unless both fit
        fits = [axis for axis, size in (("state", first), ("action", second)) if size == third]
        if by not in fits and (by or len(fits) != 1):
            wanted = 'say by="state" (QuantEcon) or by="action" (pymdptoolbox)'
            raise UsageError(f"transitions have the shape {array.shape}; {wanted}")
        found = list(array if (by or fits[0]) == "action" else np.moveaxis(array, 1, 0))
    n = found[0].shape[0]
    for matrix in found:
        if matrix.shape != (n, n):
            raise UsageError(f"transitions of an action have the shape {matrix.shape}, not {n, n}")
    return found


def _rewards(rewards: Any, n_actions: int, n: int, action: Any, state: Any, target: Any) -> Any:
    """The reward of each branch."""
    if isinstance(rewards, Sequence) and any(hasattr(matrix, "tocoo") for matrix in rewards):
        rewards = [matrix.toarray() for matrix in rewards]
    found = _numbers(rewards, "rewards")
    if found.shape == (n,):
        return found[state]
    if found.shape == (n_actions, n, n):
        return found[action, state, target]
    return _checked(found, (n, n_actions))[state, action]


def from_gymnasium(
    env: Any, discount: float = 1.0, *, start: int | None = None, name: str = ""
) -> ModelGame:
    """An environment of Gymnasium with a table ``P``, such as FrozenLake or Taxi, as a game.

    Time limits are not part of the table, and not of the game.

    Parameters
    ----------
    env : gymnasium.Env
        Or the table itself: ``P[state][action]`` lists ``(chance, state, reward, terminated)``.
    start : int, optional
        By default the first possible state of the environment. A warning names it where others
        are possible.

    Raises
    ------
    UsageError
        The environment has no table, or no such state.
    """
    inner = getattr(env, "unwrapped", env)
    table = getattr(inner, "P", inner)
    if isinstance(table, str):
        raise UsageError(
            f"{table!r} is a name, and an environment is wanted: gymnasium.make({table!r})"
        )
    if not isinstance(table, Mapping | Sequence):
        raise UsageError(
            f"the environment {type(inner).__name__} has no table P of its states and chances; "
            "rollwise needs all of them"
        )
    if start is None:
        chances = getattr(inner, "initial_state_distrib", (1.0,))
        starts = np.flatnonzero(np.asarray(chances))
        start = int(starts[0])
        if len(starts) > 1:
            warnings.warn(
                f"{type(inner).__name__} begins in one of {len(starts):,} states, and the game in "
                f"the first of them: from_gymnasium(env, start={start}) says so, or names another",
                stacklevel=2,
            )
    try:
        rows = list(_table_rows(table))
        numbers = _numbers(rows, "P")
        state, action, target, chance, reward = numbers.T
        if np.any(numbers[:, :3] % 1):
            raise ValueError
    except (TypeError, ValueError, UsageError):
        raise UsageError(
            "the table P is no table: P[state][action] lists (chance, state, reward, terminated)"
        ) from None
    spec, n = getattr(env, "spec", None), 1 + max(map(int, (state.max(), target.max())))
    model = Model.of(
        name or (spec.name if spec else "environment"),
        n,
        state,
        action,
        target,
        simplest(chance),
        action=action,
        names=[str(number) for number in range(int(action.max()) + 1)],
        start=whole_number("start", start, 0, n - 1),
        rewards={REWARDS: reward},
    )
    return game_class(model, discount=_rate(discount))()


def _table_rows(table: Any) -> Iterator[tuple[Any, ...]]:
    for state, of_action in table.items() if isinstance(table, Mapping) else enumerate(table):
        pairs = of_action.items() if isinstance(of_action, Mapping) else enumerate(of_action)
        for action, branches in pairs:
            for chance, target, reward, ends in branches:
                yield state, action, OVER if ends else target, chance, reward


def from_open_spiel(given: Any, discount: float = 1.0, *, most: int = MOST_NODES) -> ModelGame:
    """A game of OpenSpiel with perfect information for one or two players, as a game.

    All its nodes are visited. Nodes with the same text and the same mover are one state, as in
    OpenSpiel's value iteration; a chance node is a state with one action. If moves bring rewards,
    OpenSpiel names them after the chances of a move, and each move has a chance node of its own.

    Parameters
    ----------
    given : pyspiel.Game
        Or its name: ``"tic_tac_toe"``.
    most : int
        The largest number of nodes.

    Raises
    ------
    UsageError
        There is no such game. The players see different things, move at the same time, are more
        than two, or don't play for opposite payoffs.
    MissingExtra
        OpenSpiel isn't installed.
    """
    try:
        import pyspiel
    except ImportError as error:
        raise MissingExtra("OpenSpiel isn't installed: pip install open_spiel") from error
    try:
        loaded = pyspiel.load_game(given) if isinstance(given, str) else given
    except pyspiel.SpielError as error:
        raise UsageError(f"OpenSpiel: {str(error).partition('.')[0]}") from None
    if not isinstance(loaded, pyspiel.Game):
        raise another_kind("a game of OpenSpiel or its name is wanted, as 'tic_tac_toe'", given)
    kind = loaded.get_type()
    fault = ""
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        fault = "its players move at the same time"
    elif kind.information != pyspiel.GameType.Information.PERFECT_INFORMATION:
        fault = "it hides information from its players"
    elif kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        fault = "it draws its chances instead of naming them"
    elif loaded.num_players() > 2:
        fault = f"it has {loaded.num_players()} players, and rollwise reads two"
    elif loaded.num_players() == 2 and kind.utility != pyspiel.GameType.Utility.ZERO_SUM:
        fault = "its players don't play for opposite payoffs"
    if fault:
        raise UsageError(f"{kind.short_name}: {fault}")
    return game_class(_Nodes(loaded, most).model(kind.short_name), discount=_rate(discount))()


class _Nodes:
    """The nodes of an OpenSpiel game, breadth first."""

    def __init__(self, loaded: Any, most: int) -> None:
        self.most, self.players = most, loaded.num_players()
        self.moves_pay = loaded.get_type().reward_model.name == "REWARDS"
        self.nodes: list[Any] = []
        self.owner: list[int] = []
        self.number: dict[tuple[str, int, int, Any], int] = {}
        self.rows: list[tuple[int, int, int, float, float]] = []
        self.names: dict[str, int] = {}
        self.visit(loaded.new_initial_state(), 0, None)

    def visit(self, node: Any, seat: int, move: Any) -> int:
        """The number of a node; OVER where play ends. Chance belongs to the player before.

        Parameters
        ----------
        move : object
            The move to the node. If moves bring rewards, it is part of a chance node.
        """
        if node.is_terminal():
            return OVER
        player = node.current_player()
        seat = player if player >= 0 else seat
        key = str(node), seat, player, move if self.moves_pay and node.is_chance_node() else None
        if key not in self.number:
            if len(self.nodes) >= self.most:
                raise UsageError(f"the game has more than {self.most:,} nodes")
            self.number[key] = len(self.nodes)
            self.nodes.append(node)
            self.owner.append(seat)
        return self.number[key]

    def model(self, name: str) -> Model:
        named: list[int] = []
        # breadth first: a new child is appended, and the node itself is dropped to save memory
        for number, node in enumerate(self.nodes):  # grows meanwhile
            seat = self.owner[number]
            is_chance = node.is_chance_node()
            ways = node.chance_outcomes() if is_chance else [(a, 1.0) for a in node.legal_actions()]
            for choice, (action, chance) in enumerate(ways):
                child = node.child(action)
                text = "chance" if is_chance else node.action_to_string(seat, action)
                named.append(self.names.setdefault(text, len(self.names)))
                target = self.visit(child, seat, (number, action))
                which = 0 if is_chance else choice
                # a chance node has no reward: that of its move follows it
                reward = 0.0 if child.is_chance_node() else child.rewards()[0]
                self.rows.append((number, which, target, chance, reward))
            self.nodes[number] = None
        columns: list[Any] = [np.array(column) for column in zip(*self.rows, strict=True)]
        state, choice, target, chance, reward = columns
        return Model.of(
            name,
            len(self.nodes),
            state,
            choice,
            target,
            simplest(chance),
            action=named,
            names=list(self.names),
            owner=self.owner,
            players=self.players,
            rewards={REWARDS: reward},
            texts=[text for text, *_ in self.number],
        )
