"""Models with a question, as games.

- *Reachability* (no reward): the chance to reach a goal. Goals count 1. States from which it can
  be avoided for certain count 0: they are computed beforehand (Prob0 of de Alfaro 1997), so that
  endless play never has to be judged for the player who avoids the goal. Where two players can
  go round forever all the same, a goal pays 100 points, and all other plays nothing.
- *Total reward*: the expected sum of rewards until a goal, or until play stays in one state.

A discount is a chance to end at each move. The weights of a choice are its chances over their
common denominator; where they don't fit 62 bits, they are doubles.

Two branches of a choice may have different rewards, and a rule sheet gives rewards to actions. Such
a branch leads to a state of its own with one action, which brings the reward.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, lcm
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rollwise.errors import ParameterError, another_kind
from rollwise.game import AGAIN, END, PASS, Game, parameter, payoff
from rollwise.graph import StateGraph
from rollwise.graph.lotteries import pointers
from rollwise.models.model import OVER, Mask, Model, simple_fraction

MAX_TOTAL_WEIGHT = 2**62
ABSORBING, NO_REWARD = "absorbing", "none"
WON = "won"  # the goal of exported games
PERCENT = 100.0


def avoidable(model: Model, goal: Mask, seeker: int) -> Mask:
    """The states in which the goal can be avoided for certain: (n,) bool.

    Parameters
    ----------
    seeker : int
        The player who seeks the goal; others avoid it. -1 if all avoid it.
    """
    reached = goal.copy()
    n_choices = np.bincount(model.choice_state, minlength=model.n)
    seeks = model.owner == seeker
    target = np.append(model.target, OVER)
    # the seeker needs one choice with a branch to the set; the others avoid it by one without
    while True:
        hits = np.append(reached, False)[target[:-1]]  # the last place, for OVER
        choices = np.unique(model.branch_choice[hits])
        ways = np.bincount(model.choice_state[choices], minlength=model.n)
        more = reached | np.where(seeks, ways > 0, (ways == n_choices) & (ways > 0))
        if np.array_equal(more, reached):
            return ~reached
        reached = more


class Building:
    """The arrays of a graph, state by state."""

    def __init__(self, game: ModelGame) -> None:
        model = self.model = game.model
        self.game, self.two = game, model.players == 2
        self.seeker = game.seeker
        self.to_seeker = -1.0 if self.seeker else 1.0  # the first player's part in a reward
        self.wins = game.objective == "win"
        plain, self.rate = list(model.chances), simple_fraction(game.discount)
        self.size = [*plain, *(chance * self.rate for chance in plain)]
        self.n_plain = len(plain)
        self.worth_over = -1.0 if game.is_chance else 0.0  # to the seeker, by `_for_mover`
        reward = model.rewards.get(game.rewards, np.zeros(len(model.target)))
        self.gain, self.targets = reward.tolist(), model.target.tolist()
        self.chance, self.owner = model.chance.tolist(), model.owner.tolist()
        n_choices = len(model.choice_state)
        self.begin = np.searchsorted(model.branch_choice, np.arange(n_choices + 1)).tolist()
        self.known: dict[tuple[Any, ...], list[int] | list[float]] = {}
        self.payments: dict[tuple[int, float, int], int] = {}
        self.counts: list[int] = []
        self.label: list[int] = []
        self.reward: list[float] = []
        self.sizes: list[int] = []
        self.target: list[int] = []
        self.weight: list[int | float] = []
        self.passes: list[bool] = []
        self.payoff: list[float] = []
        self.order = game._order
        self.place = np.argsort(self.order).tolist()

    def graph(self) -> StateGraph:
        """The graph: the start, the other states in their order, and payments."""
        game, model = self.game, self.model
        ends, prize = game.ends, np.full(model.n, -1.0 if game.is_chance else 0.0)
        if game.is_reachability:
            prize[game.goals] = PERCENT if game.may_last else 1.0
        stop = int(model.choice_label.max(initial=-1)) + 1
        begin = np.searchsorted(model.choice_state, np.arange(model.n + 1)).tolist()
        label, owner = model.choice_label.tolist(), self.owner
        # actions are appended state by state; payments get their states behind all others
        for state in self.order:
            if ends[state]:
                self._end(stop, owner[state], float(prize[state]))
                continue
            for choice in range(begin[state], begin[state + 1]):
                self._choice(choice, label[choice], owner[state])
            self.counts.append(begin[state + 1] - begin[state])
        rows, fields = [np.column_stack(list(model.fields.values()))[self.order]], [*model.fields]
        # a payment is a state with one action: its reward comes on the way to the branch's target
        for number, (target, reward, seat) in enumerate(self.payments, 1):
            self.counts.append(1)
            rate = Fraction(0) if target == OVER else self.rate
            ways: dict[tuple[int, bool, float], Any] = {}
            if rate:
                ways[self.place[target], owner[target] != seat, 0.0] = rate
            if rate != 1:
                ways[OVER, False, 0.0] = 1 - rate
            self._action(stop + 1, self._for_mover(reward, seat), ways)
            rows.append(np.append(rows[0][self.place[max(target, 0)]], number)[None])
        if self.payments:
            fields.append("paid")
            rows[0] = np.column_stack([rows[0], np.zeros(model.n, np.int64)])
        names = dict(model.action_names) | {stop: "end", stop + 1: "receive"}
        return StateGraph.of_arrays(
            states=np.concatenate(rows).astype(np.int32),
            action_indptr=pointers(self.counts),
            action_label=np.array(self.label, np.int32),
            action_reward=np.array(self.reward, np.float64),
            outcome_indptr=pointers(self.sizes),
            outcome_state=np.array(self.target, np.int32),
            outcome_weight=np.array(self.weight),
            outcome_passes=np.array(self.passes, np.bool_),
            outcome_payoff=np.array(self.payoff, np.float64),
            field_names=tuple(fields),
            action_names={k: names[k] for k in set(self.label) & names.keys()},
            game=game.name,
            parameters=game.parameters,
            players=game.players,
            objective=game.objective,
            n_roots=model.n,
            endless=game.endless,
            remedy=game.remedy,
        )

    def _for_mover(self, reward: float, seat: int) -> float:
        """A reward in the model, as one to the mover; of one player, as it is.

        Of two players it is the first one's, who seeks it or, with the optimum ``min``, avoids it.
        """
        if not self.two:
            return reward
        return (-reward if seat else reward) * self.to_seeker + 0.0

    def _end(self, stop: int, seat: int, prize: float) -> None:
        """A state where play ends: its prize is a payoff, or a reward where points count."""
        self.counts.append(1)
        payoff = (prize if seat == self.seeker else -prize) if self.wins else 0.0
        self._action(stop, 0.0 if self.wins else prize, {(OVER, False, payoff): Fraction(1)})

    def _choice(self, choice: int, label: int, seat: int) -> None:
        """A choice. Its reward is that of all its branches, or each branch has a payment."""
        branches = range(self.begin[choice], self.begin[choice + 1])
        gain, targets, chance = self.gain, self.targets, self.chance
        # the reward of an action, if all branches agree; else each branch leads to a payment
        paid = {gain[b] for b in branches if not self.wins or targets[b] != OVER}
        common = paid.pop() if len(paid) == 1 else 0.0
        ways: dict[tuple[int, bool, float], Any] = {}
        # the part of the chances that the discount may end
        alive = Fraction(0)
        for b in branches:
            target, reward, size = targets[b], gain[b], chance[b]
            if target == OVER and (self.wins or reward == common):
                # the action's reward comes at the end too
                ending = 2 * reward - 1 if self.game.is_chance else reward - common
                way = OVER, False, self._for_mover(ending, seat) if self.wins else 0.0
            elif reward != common:
                key = target, reward, seat
                number = self.payments.setdefault(key, len(self.payments))
                way = self.model.n + number, False, 0.0
            else:
                way = self.place[target], self.owner[target] != seat, 0.0
                if self.rate != 1:
                    alive += self.size[size]
                    size += self.n_plain
                if not self.rate:
                    continue
            ways[way] = self._added(ways.get(way), size)
        if alive:
            way = OVER, False, self._for_mover(self.worth_over, seat) if self.wins else 0.0
            ways[way] = self._added(ways.get(way), alive * (1 - self.rate))
        self._action(label, self._for_mover(common, seat), ways)

    def _added(self, before: Any, size: Any) -> Any:
        """The sum of two sizes, each a fraction or its index; the second alone if it is first."""
        if before is None:
            return size
        return self._fraction(before) + self._fraction(size)

    def _fraction(self, size: Any) -> Fraction:
        return self.size[size] if type(size) is int else size

    def _weights(self, sizes: tuple[Any, ...]) -> list[int] | list[float]:
        """Chances as whole weights without a common divisor; as doubles if they are too large."""
        if sizes not in self.known:
            parts = [self._fraction(size) for size in sizes]
            common = lcm(*(part.denominator for part in parts))
            whole = [part.numerator * (common // part.denominator) for part in parts]
            whole = [weight // gcd(*whole) for weight in whole]
            fits = sum(whole) <= MAX_TOTAL_WEIGHT
            self.known[sizes] = whole if fits else [float(part) for part in parts]
        return self.known[sizes]

    def _action(self, label: int, reward: float, ways: dict[tuple[int, bool, float], Any]) -> None:
        """An action with its outcomes: a target, whether the turn passes, a payoff."""
        self.label.append(label)
        self.reward.append(reward)
        self.sizes.append(len(ways))
        self.weight += self._weights(tuple(ways.values()))
        for target, passes, paid in ways:
            self.target.append(target)
            self.passes.append(passes)
            self.payoff.append(paid)


@dataclass(frozen=True)
class ModelGame(Game):
    """A model with a question, as a game. `game_class` makes a class of each model."""

    goal: str = parameter(
        ABSORBING, among=(ABSORBING,), about="the states where play ends", variant=True
    )
    rewards: str = parameter(
        NO_REWARD,
        among=(NO_REWARD,),
        about="counted until the goal; none: its chance",
        variant=True,
    )
    optimum: str = parameter(
        "max", among=("max", "min"), about="sought by the first player", variant=True
    )
    discount: float = parameter(  # type: ignore[misc]
        1.0, at_least=0, at_most=1, about="the chance to go on after a move", variant=True
    )
    model: ClassVar[Model]
    file: ClassVar[Path | None] = None

    def validate(self) -> None:
        """Check the parameters, and that there is a question.

        Raises
        ------
        ParameterError
        """
        super().validate()
        if self.is_reachability and self.goal == ABSORBING:
            labels = ", ".join(f"goal={word}" for word in self.model.labels)
            asked = f"which states are the goal? Write {labels}" if labels else "it has no reward"
            raise ParameterError(f"{self.name}: {asked}")

    @property
    def is_reachability(self) -> bool:
        """Whether the question is the chance to reach the goal."""
        return self.rewards == NO_REWARD

    @property
    def seeker(self) -> int:
        """The player who seeks the goal, or the larger total."""
        return 1 if self.players == 2 and self.optimum == "min" else 0

    @property
    def goals(self) -> Mask:
        """The goal: (n,) bool."""
        return self.model.labels.get(self.goal, self.model.absorbing)

    @cached_property
    def ends(self) -> Mask:
        """The goal, and the states from which the goal can be avoided for certain: (n,) bool."""
        if not self.is_reachability:
            return self.goals
        seeker = self.seeker if self.objective == "win" else -1
        return self.goals | avoidable(self.model, self.goals, seeker)

    @cached_property
    def may_last(self) -> bool:
        """Whether two players together can go round forever, between goal and failure.

        The goal then pays 100 points, and values are chances in percent. A failure and endless
        play pay nothing.
        """
        lasts = self.players == 2 and self.discount == 1
        return lasts and bool(avoidable(self.model, self.ends, -1).any())

    @cached_property
    def pays_at_end(self) -> bool:
        """Whether moves that end play may bring something, and no others do."""
        model, goes_on = self.model, self.model.target != OVER
        brought = model.rewards.get(self.rewards, model.target)
        return not goes_on.all() and not np.any(brought[goes_on])

    @cached_property
    def is_chance(self) -> bool:
        """Whether the values are chances: to reach the goal, or of an end that brings 1, not 0."""
        if self.objective != "win" or self.is_reachability:
            return self.objective == "win" and not self.may_last
        paid = self.model.rewards[self.rewards]
        return self.players == 1 and bool(np.isin(paid, (0.0, 1.0)).all())

    @cached_property
    def objective(self) -> str:  # type: ignore[override]
        """A least chance of one player counts as points, like totals before the end."""
        is_won = self.is_reachability or self.pays_at_end
        return (
            "win"
            if self.players == 2 or (is_won and self.optimum == "max")
            else f"{self.optimum}imize"
        )

    @property
    def endless(self) -> str:  # type: ignore[override]
        """Endless play: a loss of the seeker of a goal, or a draw where only ends pay."""
        if self.is_chance:
            return "lose"
        is_paid_once = self.is_reachability or self.pays_at_end
        return "draw" if self.objective == "win" and is_paid_once else "forbidden"

    @property
    def remedy(self) -> str:
        """The remedy against endless play: other questions about the model."""
        labels = list(self.model.labels)
        goals = [f"goal={word}" for word in (ABSORBING, *labels) if word != self.goal]
        optimum = "min" if self.optimum == "max" else "max"
        ways = [
            *([f"a goal that play reaches ({', '.join(goals)})"] if goals else []),
            f"the other optimum (optimum={optimum})",
        ]
        if not self.is_reachability:  # its value is certain, however long play may last
            word = next((word for word in (WON, *labels) if word in labels), ABSORBING)
            goal = self.goal if self.goal != ABSORBING else word
            ways.insert(0, f"the chance to reach a goal (goal={goal} rewards={NO_REWARD})")
        return f"Ask for {', '.join(ways)}, or with a chance to end (discount=0.99)"

    @property
    def action_names(self) -> Mapping[int, str]:  # type: ignore[override]
        """The names of the model, and of the end."""
        return self._graph.action_names

    @cached_property
    def _graph(self) -> StateGraph:
        return Building(self).graph()

    @cached_property
    def _states(self) -> list[Any]:
        kind = _state_type(self._graph.field_names)
        return [kind(*row) for row in self._graph.states.tolist()]

    @cached_property
    def _places(self) -> dict[Any, int]:
        """The number of each state in the graph."""
        return {state: number for number, state in enumerate(self._states)}

    @cached_property
    def rounding(self) -> str:
        """The rounding of the model's numbers; empty if all are those of the model."""
        steps = {
            "chances were scaled to the sum 1": self.model.is_scaled,
            "weights were rounded to doubles": self._graph.outcome_weight.dtype.kind == "f",
            "rewards were rounded to doubles": self.rewards in self.model.rounded,
        }
        return ", ".join(step for step, is_made in steps.items() if is_made)

    def derive(self) -> StateGraph:
        """The graph, made from the model's arrays."""
        return self._graph

    def numbered(self, graph: StateGraph) -> dict[int, bool]:
        """The states in the order of their model, whose values are those of the sought amount."""
        start, flips = self.model.start, self.players == 2 and self.optimum == "min"
        order = [*range(1, start + 1), 0, *range(start + 1, self.model.n)]
        seats = (self.model.owner > 0) != flips
        return dict(zip(order, seats.tolist(), strict=True))

    def show(self, s: Any) -> str:
        """The text of a state in its model."""
        number = self._places[s]
        return self.model.texts[self._order[number]] if number < len(self.model.texts) else ""

    @cached_property
    def _order(self) -> list[int]:
        return [self.model.start, *(s for s in range(self.model.n) if s != self.model.start)]

    @property
    def applied_discount(self) -> Fraction:
        """Its graph has the discount, and so have the outcomes, which are read from it."""
        return Fraction(1)

    # The same rules, for the proof on the rule sheet itself, and for the interpreter.

    def start(self) -> Any:
        return self._states[0]

    def roots(self) -> Iterator[Any]:
        yield from self._states[: self.model.n]

    def actions(self, s: Any, *_: Any, **__: Any) -> Iterator[int]:
        for action in self._graph.view[self._places[s]].actions:
            yield action.label

    def outcomes(self, s: Any, *action: Any, **_: Any) -> Iterator[tuple[Any, int, Any]]:
        for outcome in self._graph.view[self._places[s]].find_action(action[0]).outcomes:
            then = PASS if outcome.passes else AGAIN
            if outcome.is_over:
                then = payoff(outcome.payoff) if self.objective == "win" else END
            yield outcome.weight, then, s if outcome.is_over else self._states[outcome.target]

    def reward(self, s: Any, *action: Any, **_: Any) -> float:
        return self._graph.view[self._places[s]].find_action(action[0]).reward


@lru_cache(64)
def _state_type(fields: tuple[str, ...]) -> Any:
    return NamedTuple("State", [(name, int) for name in fields])


def game_class(model: Model, file: Path | None = None, **asked: Any) -> type[ModelGame]:
    """The class of games on a model.

    Parameters
    ----------
    file : Path, optional
        The file with the model.
    **asked
        Defaults of its parameters. Without them the question is the chance to reach the only label
        (besides ``init`` and ``deadlock``), or else the total of the first rewards.
    """
    labels = [word for word in model.labels if word not in ("init", "deadlock")]
    goal, rewards = ABSORBING, next(iter(model.rewards), NO_REWARD)
    if len(labels) == 1:
        goal, rewards = labels[0], NO_REWARD
    among = {"goal": (*model.labels, ABSORBING), "rewards": (*model.rewards, NO_REWARD)}
    given = {"goal": goal, "rewards": rewards, "optimum": model.optimum, **asked}
    fields = []
    for field in dataclasses.fields(ModelGame):
        about = dict(field.metadata) | ({"among": among[field.name]} if field.name in among else {})
        default = given.get(field.name, field.default)
        fields.append((field.name, type(field.default), parameter(default, **about)))
    if not isinstance(model.name, str):
        raise another_kind("the name of a model is a text, such as 'model'", model.name)
    count = f"{model.n:,} states, {len(model.choice_state):,} choices"
    made = dataclasses.make_dataclass(
        "Model",
        fields,
        bases=(ModelGame,),
        frozen=True,
        namespace={
            "model": model,
            "file": file,
            "name": " ".join(model.name.split()),
            "players": model.players,
            "__doc__": f"The model {model.name}: {count}.",
            "__module__": __name__,
        },
    )
    return made
