"""The graph of a game: its states, actions and outcomes as plain arrays.

This is the contract between the rules of a game, which are turned into a graph,
and every method, which sees only the graph. Two CSR levels are stacked: state s
has the actions ``action_indptr[s]:action_indptr[s + 1]``, and action a has the
outcomes ``outcome_indptr[a]:outcome_indptr[a + 1]``.

Most actions of a game differ only in where they lead: a throw of a die has its
six weights everywhere. So everything else about an action is its *lottery*, kept
once for all actions that share it. Solvers read the lotteries; the arrays that
spell them out for each outcome are made when someone asks for them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UnknownState
from rollwise.graph.components import Components
from rollwise.graph.vocabulary import Vocabulary

Objective = Literal["win", "maximize", "minimize"]
Endless = Literal["forbidden", "draw", "lose"]

ARRAYS = (
    "states",
    "action_indptr",
    "action_label",
    "action_reward",
    "outcome_indptr",
    "outcome_state",
    "outcome_weight",
    "outcome_passes",
    "outcome_payoff",
)
SPELLED_OUT = ("action_reward", "outcome_weight", "outcome_passes", "outcome_payoff")


class Lotteries(NamedTuple):
    """What can come of actions, but for where it leads: each kind once.

    Attributes
    ----------
    indptr : (n_lotteries + 1,) int64
        Lottery i has the outcomes ``indptr[i]:indptr[i + 1]``, in the order of the
        outcomes of its actions.
    reward : (n_lotteries,) float64
        Points for taking the action.
    weight : (n_lottery_outcomes,) int64 or float64
    over : (n_lottery_outcomes,) bool
        The game ends.
    passes : (n_lottery_outcomes,) bool
    payoff : (n_lottery_outcomes,) float64
        As the arrays of `StateGraph`.
    """

    indptr: NDArray[np.int64]
    reward: NDArray[np.float64]
    weight: NDArray[Any]
    over: NDArray[np.bool_]
    passes: NDArray[np.bool_]
    payoff: NDArray[np.float64]


def find_state(
    states: NDArray[np.int32],
    field_names: Sequence[str],
    state: Sequence[int] | Mapping[str, int],
    title: str,
) -> int:
    """The row of a state in an array of them.

    Parameters
    ----------
    states : (n_states, n_fields) int32
    state : sequence or mapping of int
        Its fields, in their order or by name.
    title : str
        What messages say of where it was looked for.

    Raises
    ------
    UnknownState
    """

    def refuse(fault: str) -> NoReturn:
        raise UnknownState(f"{title}: {fault}; a state is {', '.join(field_names)}, each once")

    if isinstance(state, Mapping):
        for name in state:
            if name not in field_names:
                refuse(f"there is no field {name!r}")
        for name in field_names:
            if name not in state:
                refuse(f"{name} is missing")
        state = [state[name] for name in field_names]
    if not isinstance(state, Sequence | np.ndarray) or isinstance(state, str):
        refuse(f"{state!r} isn't one")
    if len(state) != len(field_names):
        refuse(f"a state has {len(field_names)} fields, and not {len(state)}")
    try:
        fields = [index(field) for field in state]
    except TypeError:
        refuse(f"{tuple(state)} aren't whole numbers")
    hits = np.arange(len(states))
    for column, field in zip(states.T, fields, strict=True):
        hits = hits[column[hits] == field]
    if not len(hits):
        shown = ", ".join(
            f"{name}={field}" for name, field in zip(field_names, fields, strict=True)
        )
        raise UnknownState(
            f"{title}: no play comes to the state {shown} (the fields are "
            f"{', '.join(field_names)}; `roots()` can add positions that no play reaches)"
        )
    return int(hits[0])


def title_of(game: str, parameters: Mapping[str, Any]) -> str:
    """A game with its parameters, as typed on the command line."""
    parts = [game]
    for name, value in parameters.items():
        parts.append(f"{name}={str(value).lower() if isinstance(value, bool) else value}")
    return " ".join(parts)


@dataclass(frozen=True, eq=False, repr=False)
class StateGraph:
    """A game as arrays, seen from the player to move.

    Attributes
    ----------
    states : (n_states, n_fields) int32
        The fields of each state, breadth first from the roots; state 0 is the start.
    action_indptr : (n_states + 1,) int64
        Where the actions of each state begin.
    action_label : (n_actions,) int32
        The action's number, as the rules gave it.
    action_reward : (n_actions,) float64
        Points for taking the action.
    outcome_indptr : (n_actions + 1,) int64
        Where the outcomes of each action begin.
    outcome_state : (n_outcomes,) int32
        Next state; -1 where the game is over. A state at or past ``n_states`` is
        on the border: solvers are given its value (see ``n_border``).
    outcome_weight : (n_outcomes,) int64 or float64
        How many equally likely ways lead there (float64 only where the rules
        gave weights that aren't whole numbers). Always positive.
    outcome_passes : (n_outcomes,) bool
        The turn passes, and the next state is seen by the other player.
    outcome_payoff : (n_outcomes,) float64
        1 for a win, -1 for a loss, 0 for a draw or where the game goes on.
    n_roots : int
        The first ``n_roots`` states are the positions that the graph starts from.
    n_border : int
        States outside this graph whose values are known, numbered from ``n_states``.
    endless : {"forbidden", "draw", "lose"}
        What endless play is worth in a game that is won or lost (see `rollwise.Game`).
    action_lottery : (n_actions,) int32
    lotteries : Lotteries
        Numbered in the order in which the actions come to them.
    """

    states: NDArray[np.int32]
    action_indptr: NDArray[np.int64]
    action_label: NDArray[np.int32]
    action_reward: NDArray[np.float64]
    outcome_indptr: NDArray[np.int64]
    outcome_state: NDArray[np.int32]
    outcome_weight: NDArray[Any]
    outcome_passes: NDArray[np.bool_]
    outcome_payoff: NDArray[np.float64]
    field_names: tuple[str, ...]
    action_names: Mapping[int, str]
    game: str
    parameters: Mapping[str, Any]
    players: int
    objective: Objective
    n_roots: int = 1
    n_border: int = 0
    endless: Endless = "forbidden"

    @classmethod
    def of_lotteries(cls, **parts: Any) -> StateGraph:
        """A graph from its lotteries.

        Parameters
        ----------
        **parts
            The attributes, with `action_lottery` and `lotteries` in the place of
            `action_reward`, `outcome_weight`, `outcome_passes` and `outcome_payoff`.
        """
        graph = object.__new__(cls)
        vars(graph).update(parts)
        return graph

    def __getattr__(self, name: str) -> Any:
        # only asked for what the graph doesn't have yet
        if name not in SPELLED_OUT or "lotteries" not in vars(self):
            raise AttributeError(f"a StateGraph has no attribute {name!r}")
        lotteries = self.lotteries
        first = lotteries.indptr[self.action_lottery] - self.outcome_indptr[:-1]
        place = np.repeat(first, np.diff(self.outcome_indptr))
        place += np.arange(self.n_outcomes)
        vars(self).update(
            action_reward=lotteries.reward[self.action_lottery],
            outcome_weight=lotteries.weight[place],
            outcome_passes=lotteries.passes[place],
            outcome_payoff=lotteries.payoff[place],
        )
        return vars(self)[name]

    @cached_property
    def lotteries(self) -> Lotteries:
        self._share_lotteries()
        return vars(self)["lotteries"]  # type: ignore[no-any-return]

    @cached_property
    def action_lottery(self) -> NDArray[np.int32]:
        self._share_lotteries()
        return vars(self)["action_lottery"]  # type: ignore[no-any-return]

    def _share_lotteries(self) -> None:
        from rollwise.kernels.lotteries import share_lotteries

        action_lottery = np.empty(self.n_actions, np.int32)
        first_action = np.empty(self.n_actions, np.int64)
        n = share_lotteries(
            self.action_reward.view(np.int64),
            self.outcome_indptr,
            self.outcome_state,
            self.outcome_weight.view(np.int64),
            self.outcome_passes,
            self.outcome_payoff.view(np.int64),
            action_lottery,
            first_action,
        )
        first = first_action[:n]
        begin, sizes = self.outcome_indptr[first], np.diff(self.outcome_indptr)[first]
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        place = np.repeat(begin - indptr[:-1], sizes) + np.arange(indptr[-1])
        vars(self).update(
            action_lottery=action_lottery,
            lotteries=Lotteries(
                indptr,
                self.action_reward[first],
                self.outcome_weight[place],
                self.outcome_state[place] < 0,
                self.outcome_passes[place],
                self.outcome_payoff[place],
            ),
        )

    @property
    def n_states(self) -> int:
        return len(self.states)

    @property
    def n_actions(self) -> int:
        return len(self.action_label)

    @property
    def n_outcomes(self) -> int:
        return len(self.outcome_state)

    @property
    def has_draws(self) -> bool:
        """Whether a game that is won or lost can also be drawn."""
        over, payoff = self.lotteries.over, self.lotteries.payoff
        return self.objective == "win" and bool(np.any(over & (payoff == 0)))

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        arrays = [*vars(self).values(), *self.lotteries]
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    @cached_property
    def components(self) -> Components:
        """The strongly connected components, computed once."""
        found = self.components_so_far
        found.find(self.n_states)
        return found

    @cached_property
    def components_so_far(self) -> Components:
        """The same, found as far as someone has asked for them."""
        return Components.to_be_found(self.action_indptr, self.outcome_indptr, self.outcome_state)

    @cached_property
    def action_state(self) -> NDArray[np.int32]:
        """The state that each action belongs to: (n_actions,) int32."""
        counts = np.diff(self.action_indptr)
        return np.repeat(np.arange(self.n_states, dtype=np.int32), counts)

    @cached_property
    def content_hash(self) -> str:
        """A fingerprint (hex) of the rules: equal for equal graphs, whoever built them."""
        digest = hashlib.blake2b(digest_size=16)
        names = {
            "fields": self.field_names,
            "actions": {str(label): name for label, name in sorted(self.action_names.items())},
            "game": self.game,
            "parameters": dict(self.parameters),
            "players": self.players,
            "objective": self.objective,
            "roots": self.n_roots,
            "border": self.n_border,
        }
        if self.endless != "forbidden":
            names["endless"] = self.endless
        digest.update(json.dumps(names, sort_keys=True).encode())
        arrays = {name: getattr(self, name) for name in (*ARRAYS, "action_lottery")}
        arrays = {name: arrays[name] for name in arrays if name not in SPELLED_OUT}
        for name, array in {**arrays, **self.lotteries._asdict()}.items():
            array = np.ascontiguousarray(array)
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(array.view(np.uint8).reshape(-1).data)
        return digest.hexdigest()

    def find(self, state: Sequence[int] | Mapping[str, int]) -> int:
        """The number of a state given by its fields, in their order or by name.

        Raises
        ------
        UnknownState
            No play from the roots comes to this state, or it has other fields than a state, or
            one that is no whole number.
        """
        return find_state(self.states, self.field_names, state, self.title)

    @property
    def title(self) -> str:
        """The game and its parameters, as typed on the command line."""
        return title_of(self.game, self.parameters)

    def state_text(self, state: int) -> str:
        """A state in words: ``banked=0, rival=0, turn=5``."""
        fields = zip(self.field_names, self.states[state].tolist(), strict=True)
        return ", ".join(f"{name}={field}" for name, field in fields)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What the actions are called, and which one a text means."""
        return Vocabulary(np.unique(self.action_label).tolist(), self.action_names)

    def action_text(self, action: int) -> str:
        """The name of an action (an index into the arrays), or its number in words."""
        label = int(self.action_label[action])
        return self.action_names.get(label, str(label))

    def labels_of(self, state: int) -> list[int]:
        """The numbers of a state's actions, as the rules gave them."""
        begin, end = self.action_indptr[state : state + 2].tolist()
        return self.action_label[begin:end].tolist()  # type: ignore[no-any-return]

    def action_texts(self, state: int) -> list[str]:
        """What a state's actions are called there, each otherwise."""
        return self.vocabulary.texts(self.labels_of(state))

    def find_action(self, state: int, action: str | int) -> int:
        """The index of a state's action, given by its name or number.

        Raises
        ------
        UsageError
            It can't be done there; says what can.
        """
        place = self.vocabulary.find(self.labels_of(state), action)
        return int(self.action_indptr[state]) + place

    def __repr__(self) -> str:
        return (
            f"<StateGraph {self.title}: {self.n_states:,} states, "
            f"{self.n_actions:,} actions, {self.n_outcomes:,} outcomes>"
        )
