"""The doubling cube: the stake of a game of two, which the players may double during play.

Before a turn the owner of the cube may double the stake, or either player while the cube is in the
middle. The opponent takes and owns the cube, or passes and loses the stake before the double. The
rules are those of backgammon: the Jacoby rule, beavers, and matches with the Crawford rule.

The number of doublings has a limit. Let u(n) be the value of a position per unit of the stake for
the owner of the cube, with n doublings left. A double is worth 2 u(n - 1) to the opponent. So u(n)
falls where u(n - 1) rises, and u(0) <= u(n), since the owner need not double. It follows that all
u(m) with m >= n lie between u(n) and u(n + 1): the difference of two successive values bounds the
effect of the limit (`rollwise.analysis.betting.effect_of_the_limit`). Background: Keeler and
Spencer, "Optimal doubling in backgammon", Operations Research 23, 1975.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise import boards
from rollwise.derive.derived_game import DerivedGame, as_inner
from rollwise.derive.seats import take_seats
from rollwise.errors import ParameterError, TooManyStates
from rollwise.game import Game, outcomes_rule
from rollwise.graph import StateGraph
from rollwise.graph.choices import first_actions, outcomes_of
from rollwise.graph.lotteries import pointers
from rollwise.numbers.printed import how_many
from rollwise.parameters import ParameterSpec
from rollwise.then import AGAIN, PASS, ending_points, is_over, payoff, seats_on

PLAY, BEFORE, OFFERED = range(3)  # steps: the turn, the choice to double, the answer to a double
MIDDLE, MINE, THEIRS = range(3)  # owners
NO_DOUBLE, DOUBLE, TAKE, DROP, BEAVER = range(5)  # actions, after those of the inner game
NAMES = ("no double", "double", "take", "pass", "beaver")
LIMIT = 6  # a cube shows the numbers to 64
MOST_LIMIT = 30  # the cube is a field, and fields have 32 bits
MOST_MATCH = 64
MOST_STATES = 50_000_000  # of a graph, with about 600 bytes each while it is made and solved
Ints = NDArray[np.int64]


class Stake(NamedTuple):
    """The cube, and the score of a match, from the view of the mover."""

    cube: int
    owner: int
    away: int = 0  # points that the mover needs to win the match
    rival_away: int = 0
    crawford: int = 0  # 1 in the one game of a match without doubling

    def turned(self) -> Stake:
        """The view of the other player."""
        owner = (MIDDLE, THEIRS, MINE)[self.owner]
        return Stake(self.cube, owner, self.rival_away, self.away, self.crawford)


class Ending(NamedTuple):
    """A part of the ending of a game: a payoff, or the next game of the match."""

    payoff: float
    passes: bool = False
    stake: Stake | None = None


@dataclass(frozen=True)
class Cube(DerivedGame):
    """A game of two with a doubling cube.

    The state adds the stake (``cube``), its owner (0 the middle, 1 the mover, 2 the opponent), and
    the ``step``: 0 the turn itself, 1 before a turn, where the mover may double, and 2 the answer
    to a double. At step 2 the other fields stay as the player who doubled sees them. A match also
    adds the points that both players need, ``away`` and ``rival_away``, and the field ``crawford``.

    Attributes
    ----------
    inner : Game
        A game of two that ends with a win, a draw or a payoff.
    limit : int
        The largest number of doublings. A match needs no more than its length allows.
    jacoby : bool
        A win counts 1 while the cube is in the middle: gammons count after a double. Matches are
        played without this rule.
    beavers : bool
        A player who is doubled may redouble at once, and keeps the cube.
    match : int
        The points that win a match; 0 is a single game for money. Each game begins with a draw
        of lots for the first turn. No player doubles in the Crawford game, which is the first
        one after a player comes within a point of winning.
    opening : bool
        The first player may double before the first turn. In backgammon the opening throw
        comes first.

    Examples
    --------
    >>> from rollwise.games.pig import Pig
    >>> Cube(Pig(target=20)).start()
    TurnCube(banked=0, rivals=(0,), turn=0, cube=1, owner=0, step=0)
    """

    limit: int = LIMIT
    jacoby: bool = True
    beavers: bool = False
    match: int = 0
    opening: bool = False
    form: ClassVar[str] = "cube"
    form_specs: ClassVar[tuple[ParameterSpec, ...]] = (
        ParameterSpec("limit", int, LIMIT, 1, MOST_LIMIT, "the largest number of doublings"),
        ParameterSpec("jacoby", bool, True, None, None, "gammons count only after a double"),
        ParameterSpec("beavers", bool, False, None, None, "the opponent may redouble at once"),
        ParameterSpec("match", int, 0, 0, MOST_MATCH, "points that win a match; 0: for money"),
        ParameterSpec("opening", bool, False, None, None, "whether the first turn may be doubled"),
    )
    purpose: ClassVar[str] = "a doubling cube"
    takes: ClassVar[tuple[int, ...]] = (2,)
    players: ClassVar[int] = 2
    objective: ClassVar[str] = "win"
    endless, action_unit = as_inner("endless"), as_inner("action_unit")

    def __post_init__(self) -> None:
        self.validate()
        name, inner = self.inner.name, self.inner
        if inner.players != 2 or inner.objective != "win":
            raise ParameterError(
                f"{name}: as=cube is for two players, and this is a solitaire game; "
                "as=contest and as=chase are forms of it"
            )
        if inner.endless == "lose":
            raise ParameterError(
                f"{name}: as=cube is for games that end or whose endless play is a draw; here "
                "endless is 'lose', a loss without a stake"
            )
        if self.inner_graph.action_reward.any():
            raise ParameterError(
                f"{name}: as=cube multiplies the payoff of the end, and reward() pays during play; "
                "let outcomes() end with payoff(x) instead"
            )
        if not self.match:
            return
        if self.beavers:
            raise ParameterError(
                f"{name}: beavers are for money play; leave out beavers or match={self.match}"
            )
        broken = [p for p in self.payoffs.tolist() if not p.is_integer()]
        if broken:
            raise ParameterError(
                f"{name}: a match counts whole points, and a game can end with {broken[0]:g}; "
                "leave out match"
            )

    @property
    def base_game(self) -> Game:
        """This game: its words are its own."""
        return self

    def base_graph(self, graph: StateGraph) -> StateGraph:
        return graph

    @property
    def added_fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """The fields of the cube, and of a match."""
        score = ("away", "rival_away", "crawford") if self.match else ()
        return ("cube", "owner", *score, "step")

    @property
    def own_specs(self) -> list[ParameterSpec]:
        """The limit or the match, and rules other than usual."""
        limit, jacoby, beavers, match, opening = self.form_specs
        shown = [replace(limit, default=self.limit)]
        if self.match:
            shown = shown * (self.limit != LIMIT) + [replace(match, default=self.match)]
        elif self.has_gammons:
            shown.append(replace(jacoby, default=self.jacoby))
        shown += [replace(beavers, default=True)] * self.beavers
        return shown + [replace(opening, default=True)] * self.opening

    @property
    def description(self) -> str:
        """The rules of the game, and of the cube."""
        text = (
            f"{self.inner_rules}A doubling cube multiplies the result. Before a turn its "
            "owner may double the stake, or either player while the cube is in the middle. The "
            "opponent takes and owns the cube, or passes and loses the stake before the double. "
        )
        if self.match:
            return text + (
                f"The first player with {self.match} points wins the match. Lots decide who begins "
                "a game. In the first game after a player comes within a point of winning, no "
                "player doubles (Crawford rule)."
            )
        text += f"The stake is doubled at most {self.limit} times."
        if self.has_gammons and self.jacoby:
            text += " A win counts 1 until the cube is turned (Jacoby rule)."
        if self.beavers:
            text += " A player who takes may redouble at once and keep the cube (beaver)."
        return text

    # ---- the stake

    @cached_property
    def payoffs(self) -> NDArray[np.float64]:
        """The payoffs of the endings of the inner game, ascending."""
        parts = self.inner_graph.lotteries
        return np.unique(parts.payoff[parts.over])

    @property
    def has_gammons(self) -> bool:
        """Whether a game can bring more than 1."""
        return bool(np.any(np.abs(self.payoffs) > 1))

    @property
    def first_stake(self) -> Stake:
        """The stake at the start."""
        return Stake(1, MIDDLE, self.match, self.match)

    def may_raise(self, stake: Stake, times: int) -> bool:
        """Whether the stake may be multiplied by so many doublings."""
        return stake.cube << times <= 1 << self.limit

    def may_double(self, stake: Stake) -> bool:
        """Whether the mover may double.

        In a match a player to whom the stake brings victory doesn't double.
        """
        useful = not self.match or (stake.cube < stake.away and not stake.crawford)
        return stake.owner != THEIRS and useful and self.may_raise(stake, 1)

    def may_beaver(self, stake: Stake) -> bool:
        """Whether a player who is doubled may redouble at once."""
        return self.beavers and self.may_raise(stake, 2)

    def raised(self, stake: Stake, times: int = 1) -> Stake:
        """The stake after doublings, from the view of the player who gets the cube."""
        cube = stake.cube << times
        raised = stake._replace(cube=cube, owner=MINE)
        # a cube at its limit has no owner
        return raised if self.may_raise(raised, 1) else raised._replace(owner=MIDDLE)

    def endings(self, stake: Stake, worth: float) -> list[Ending]:
        """The parts of the end of a game, equally likely, for the mover's payoff without a cube."""
        if not self.match:
            centred = self.jacoby and stake.cube == 1
            return [Ending((min(max(worth, -1.0), 1.0) if centred else worth) * stake.cube)]
        points = int(abs(worth)) * stake.cube
        away = stake.away - points * (worth > 0)
        rival = stake.rival_away - points * (worth < 0)
        if min(away, rival) <= 0:
            return [Ending(1.0 if away <= 0 else -1.0)]
        crawford = int(min(away, rival) == 1 < min(stake.away, stake.rival_away))
        if not points:
            crawford = stake.crawford
        following = Stake(1, MIDDLE, away, rival, crawford)
        return [Ending(0.0, False, following), Ending(0.0, True, following.turned())]

    def stake_of(self, s: Any) -> Stake:
        """The stake in a state."""
        return Stake(*s[-len(self.added_fields) : -1])

    def at(self, inner: Any, stake: Stake, step: int) -> Any:
        """A state."""
        return self.state_type(*inner, *stake[: len(self.added_fields) - 1], step)

    def begun(self, inner: Any, stake: Stake) -> Any:
        """The state in which a turn begins."""
        return self.at(inner, stake, BEFORE if self.may_double(stake) else PLAY)

    # ---- rules

    def start(self) -> Any:
        return self.opened(self.first_stake)

    def opened(self, stake: Stake) -> Any:
        """The state in which a game begins."""
        inner = self.inner.start()
        return self.begun(inner, stake) if self.opening else self.at(inner, stake, PLAY)

    def roots(self) -> Iterator[Any]:
        yield self.start()
        for inner in self.inner.roots():
            if inner != self.inner.start():
                yield self.begun(inner, self.first_stake)

    def throws(self, s: Any) -> Iterable[Any]:
        thrown = self.inner.throws(self.inner_state(s))
        if s.step == PLAY:
            return thrown
        layout = self.inner_graph.throw_layout  # a choice about the cube comes without dice
        width = 0 if layout is None else layout.width
        return [(1, 0 if layout is None else layout.throw((0,) * width))]

    @cached_property
    def first_action(self) -> int:
        """The number of the first action of the cube: after those of the inner game."""
        return int(self.inner_graph.action_label.max()) + 1

    @cached_property
    def action_names(self) -> Mapping[int, str]:  # type: ignore[override]
        """The names of the inner game, and those of the cube's actions."""
        named = dict(self.inner_graph.action_names)
        for number, name in enumerate(NAMES):
            taken = name in named.values()
            named[self.first_action + number] = f"{name} (cube)" if taken else name
        return named

    def actions(self, s: Any, *throw: Any) -> Iterator[int]:
        if s.step == PLAY:
            yield from self.inner.actions(self.inner_state(s), *throw)
        elif s.step == BEFORE:
            yield self.first_action + NO_DOUBLE
            yield self.first_action + DOUBLE
        else:
            yield self.first_action + TAKE
            yield self.first_action + DROP
            if self.may_beaver(self.stake_of(s)):
                yield self.first_action + BEAVER

    def outcomes(self, s: Any, *choice: Any) -> Iterator[tuple[Any, int, Any]]:
        inner, stake = self.inner_state(s), self.stake_of(s)
        made = choice[-1] - self.first_action
        if s.step == PLAY:
            outcomes = list(outcomes_rule(self.inner)(inner, *choice))
            times = 2 if self._draws_lots(stake, outcomes) else 1
            for weight, then, after in outcomes:
                if is_over(then):
                    end = s if after is None else self.at(after, stake, PLAY)
                    yield from self._ended(end, stake, weight, ending_points(then), times)
                elif seats_on(then, 2):
                    yield weight * times, PASS, self.begun(after, stake.turned())
                else:
                    yield weight * times, AGAIN, self.at(after, stake, PLAY)
        elif made == NO_DOUBLE:
            yield 1, AGAIN, self.at(inner, stake, PLAY)
        elif made == DOUBLE:
            yield 1, PASS, self.at(inner, stake.turned(), OFFERED)
        elif made == DROP:
            yield from self._ended(s, stake, 1, -1.0, 1)
        else:
            taken = self.raised(stake, 2 if made == BEAVER else 1)
            yield 1, PASS, self.at(inner, taken.turned(), PLAY)

    def _draws_lots(self, stake: Stake, outcomes: Iterable[tuple[Any, int, Any]]) -> bool:
        """Whether some outcome leads to the next game of a match."""
        return bool(self.match) and any(
            is_over(then) and len(self.endings(stake, ending_points(then))) > 1
            for _, then, _ in outcomes
        )

    def _ended(
        self, end: Any, stake: Stake, weight: Any, worth: float, times: int
    ) -> Iterator[Any]:
        for part in self.endings(stake, worth):
            if part.stake is None:
                yield weight * times, payoff(part.payoff), end
            else:
                yield weight, PASS if part.passes else AGAIN, self.opened(part.stake)

    @cached_property
    def stakes(self) -> list[Stake]:
        """The stakes that play can come to, from the first one on."""
        found = {self.first_stake: None}
        queue = list(found)
        for stake in queue:
            after = [stake.turned()]
            if self.may_double(stake):
                after.append(self.raised(stake.turned()))
                if self.may_beaver(stake.turned()):
                    after.append(self.raised(stake.turned(), 2))
            for worth in (*self.payoffs.tolist(), -1.0):
                after += [part.stake for part in self.endings(stake, worth) if part.stake]
            queue += [new for new in dict.fromkeys(after) if new not in found]
            found |= dict.fromkeys(after)
        return list(found)

    # ---- words

    def describe_added(self, s: Any) -> str:
        """The cube, the score of a match and the choice to be made."""
        stake = self.stake_of(s)
        where = ("in the middle", "yours", "the opponent's")[stake.owner]
        text = f"cube {stake.cube}, {where}"
        if stake.owner == MIDDLE and stake.cube > 1:
            text = f"cube {stake.cube}, for good"
        if self.match:
            text += f", {how_many(stake.away, 'point')} to go, {stake.rival_away} for the opponent"
            text += ", Crawford game" if stake.crawford else ""
        return f"{text}, before the turn" if s.step == BEFORE else text

    def describe(self, s: Any) -> str:
        """The inner game's description, and then the cube."""
        if s.step != OFFERED:
            return super().describe(s)
        inner = self.inner.describe(self.inner_state(s))
        seen = f"the opponent doubles to {2 * s.cube} (seen by that player: {inner})"
        return f"{seen}; {self.describe_added(s)}"

    def show(self, s: Any) -> str:
        own = type(self.inner).show is not Game.show and s.step != OFFERED
        return self.inner.show(self.inner_state(s)) if own else super().show(s)

    def cells(self, s: Any) -> boards.Board:
        """The inner game's board, with the cube and the score of a match at each player's side."""
        board = self.inner.cells(self.inner_state(s))
        if not board:
            return ()
        if s.step == OFFERED:
            board = boards.swapped(board)
        sides = []
        stake = self.stake_of(s)
        for owner, away in ((MINE, stake.away), (THEIRS, stake.rival_away)):
            texts = [f"cube {s.cube}"] * (s.cube > 1 and s.owner in (MIDDLE, owner))
            texts += [f"{away} to go"] * bool(self.match)
            sides.append(boards.label(", ".join(texts)))
        if boards.has_kind(board, "seat"):
            seats = [next((c.numbers[0] for c in row if c.kind == "seat"), None) for row in board]
            pairs = zip(board, seats, strict=True)
            return [row if seat is None else [*row, sides[seat]] for row, seat in pairs]
        if boards.has_kind(board, "square", "point"):
            return [[sides[1]], *board, [sides[0]]]
        return [*board, *([boards.seat(k), side] for k, side in enumerate(sides))]

    def field_text(self, name: str, number: int) -> str:
        texts = {"owner": ("middle", "mover", "opponent"), "step": ("turn", "before", "doubled")}
        return texts[name][number] if name in texts else self.inner.field_text(name, number)

    def throw_text(self, s: Any, throw: Any) -> str:
        return self.inner.throw_text(self.inner_state(s), throw) if s.step == PLAY else "no dice"

    def face_name(self, face: int) -> str:
        return self.inner.face_name(face)

    def deed(self, s: Any, *action: Any) -> str:
        if s.step == PLAY:
            return self.inner.deed(self.inner_state(s), *action)
        return (
            "play on",
            f"double to {2 * s.cube}",
            "take the cube",
            "pass the double",
            f"redouble to {4 * s.cube}",
        )[action[-1] - self.first_action]

    @property
    def told(self) -> Callable[..., str]:
        """The inner game's words for an outcome, with the arguments that it takes."""

        @wraps(self.inner.told)
        def told(s: Any, *what: Any) -> str:
            k = next(k for k, given in enumerate(what) if type(given) is type(s))
            then, after, stake = what[k - 1], what[k], self.stake_of(s)
            reached = self.stake_of(after)
            reached = reached.turned() if not is_over(then) and seats_on(then, 2) else reached
            if (reached.away, reached.rival_away) != (stake.away, stake.rival_away):
                return f"{reached.away} to go, {reached.rival_away} for the opponent"
            if s.step != PLAY:
                made = what[k - 2] - self.first_action
                return {DOUBLE: "take or pass", DROP: ""}.get(made, f"{after.cube} at stake")
            if is_over(then) and self.inner.discount != 1:
                return "play is over"
            if is_over(then) and not self.match:
                then = payoff(ending_points(then) / stake.cube)
            inner = what[: k - 1], (then, self.inner_state(after)), what[k + 1 :]
            return self.inner.told(self.inner_state(s), *inner[0], *inner[1], *inner[2])

        return told

    def throw(self, s: Any, *action: Any) -> Sequence[int]:
        if s.step != PLAY or self.inner.discount != 1:
            return ()
        inner = self.inner_state(s)
        if self._draws_lots(self.stake_of(s), outcomes_rule(self.inner)(inner, *action)):
            return ()  # dice don't draw lots for the next game
        return self.inner.throw(inner, *action)

    def fallen(self, s: Any, *what: Any) -> int | None:
        return self.inner.fallen(self.inner_state(s), *what) if s.step == PLAY else None

    def blindly(self, policy: Callable[..., int], s: Any, *throw: Any) -> int:
        """The action of a policy of the inner game; it never doubles and takes each double."""
        if s.step != PLAY:
            return self.first_action + (NO_DOUBLE if s.step == BEFORE else TAKE)
        return super().blindly(policy, s, *throw)

    # ---- the answer

    def verdicts(self, solution: Any, states: Ints) -> dict[str, list[str]]:
        """The cube action of each position before a turn: a column ``cube_action``.

        It is "no double", "double, take", "double, pass", or "too good" where play for more than
        the stake is better than a double and a pass. A double that costs nothing is "optional".
        """
        graph, texts = solution.graph, np.full(len(states), "", object)
        step = graph.columns.index("step")
        asked = np.flatnonzero(graph.rows_at(states)[:, step] == BEFORE)
        if len(asked):
            texts[asked] = self._cube_actions(solution, states[asked])
        return {"cube_action": texts.tolist()}

    def _cube_actions(self, solution: Any, before: Ints) -> list[str]:
        graph = solution.graph
        no_double, double = solution.choices_in(before).values.reshape(-1, 2).T
        offered = answers_to(graph, before)
        answers = solution.choices_in(offered)
        sizes = np.diff(graph.action_indptr)[offered]
        first = np.cumsum(sizes) - sizes  # of the answers; the second passes
        passed = -answers.values[first + 1]
        bound = 4 * solution.error_bounds[np.concatenate([before, offered])].max() + 1e-12
        texts = []
        for k, start in enumerate(first.tolist()):
            best = answers.is_best[start : start + sizes[k]]
            named = zip((TAKE, DROP, BEAVER), best, strict=False)
            answer = " or ".join(NAMES[made] for made, good in named if good)
            if double[k] > no_double[k] + bound:
                texts.append(f"double, {answer}")
            elif double[k] >= no_double[k] - bound:
                texts.append(f"optional double, {answer}")
            else:
                texts.append("too good" if no_double[k] > passed[k] + bound else "no double")
        return texts

    # ---- the graph

    def derive(self) -> StateGraph:
        """The same graph as the rules above give, made from the game's own graph.

        A choice about the cube follows its position without a throw.
        """
        graph = self.inner_graph.flat
        n, over, passes = graph.n_states, graph.outcome_state < 0, graph.outcome_passes
        turns = np.union1d(graph.outcome_state[passes & ~over], np.arange(graph.n_roots))
        n_turns = len(turns)
        played = {stake: n * k for k, stake in enumerate(self.stakes)}  # the first state of each
        if n * len(played) > MOST_STATES:
            size = f"with {len(played):,} stakes it has {n * len(played):,} states"
            raise TooManyStates(
                f"{self.inner_graph.title}: {size}, more than {MOST_STATES:,}; a smaller limit or "
                "a shorter match helps"
            )
        doubling = {stake: k for k, stake in enumerate(filter(self.may_double, self.stakes))}
        width, labels = len(self.added_fields) - 1, self.first_action + np.arange(len(NAMES))
        fields = [k for k, name in enumerate(graph.columns) if name not in graph.throw_names]

        def rows(states: Any, view: Stake, step: int) -> Any:
            """The rows of some states: the fields, the added fields, and the throw."""
            added = np.tile(np.array([*view[:width], step], np.int32), (len(states), 1))
            thrown = graph.rows[states][:, graph.throw_columns]
            return np.hstack([graph.rows[states][:, fields], added, thrown])

        def begun(stake: Stake, states: Any) -> Any:
            """The states in which a turn begins."""
            if stake not in doubling:
                return played[stake] + states
            # Behind the turns with all stakes stand the choices: `n_turns` before a turn and as
            # many after a double, for each stake with doubling.
            first = n * len(played) + 2 * n_turns * doubling[stake]
            return first + np.searchsorted(turns, states)

        def opened(part: Ending) -> int:
            """The state after the end of a game; -1 where play is over."""
            if part.stake is None:
                return -1
            return int(begun(part.stake, 0) if self.opening else played[part.stake])

        def turn(stake: Stake) -> _Block:
            """The inner game with this stake; an ending has one part or two."""
            parts = 2 if self.match else 1
            kept = np.zeros((graph.n_outcomes, parts), np.bool_)
            kept[:, 0] = True
            target, passed = np.empty(kept.shape, np.int32), np.empty(kept.shape, np.bool_)
            target[:, 0] = np.where(
                passes,
                begun(stake.turned(), graph.outcome_state),
                played[stake] + graph.outcome_state,
            )
            passed[:, 0] = passes
            paid = np.zeros(kept.shape)
            for worth in self.payoffs.tolist():
                ends = over & (graph.outcome_payoff == worth)
                for k, part in enumerate(self.endings(stake, worth)):
                    kept[ends, k], target[ends, k] = True, opened(part)
                    passed[ends, k], paid[ends, k] = part.passes, part.payoff
            # Lots split an ending in two; the other outcomes of its action weigh twice as much.
            whole = ~kept.all(axis=1) if self.match else kept[:, 0]
            lots = np.logical_or.reduceat(~whole, graph.outcome_indptr[:-1])
            times = 1 + (whole & np.repeat(lots, np.diff(graph.outcome_indptr)))
            weight = np.repeat((graph.outcome_weight * times)[:, None], parts, axis=1)
            return _Block(
                rows(np.arange(n), stake, PLAY),
                np.diff(graph.action_indptr),
                graph.action_label,
                np.add.reduceat(kept.sum(axis=1), graph.outcome_indptr[:-1]),
                target[kept],
                weight[kept],
                passed[kept],
                paid[kept],
            )

        def choice(view: Stake, step: int, ways: list[tuple[int, list[Any]]]) -> _Block:
            """A choice about the cube before each turn.

            `ways` has an action and its outcomes: target states, passes and payoff.
            """
            many, outcomes = n_turns, [outcome for _, parts in ways for outcome in parts]
            target = [np.broadcast_to(outcome[0], many) for outcome in outcomes]
            return _Block(
                rows(turns, view, step),
                np.full(many, len(ways)),
                np.tile([labels[made] for made, _ in ways], many),
                np.tile([len(parts) for _, parts in ways], many),
                np.column_stack(target).ravel().astype(np.int32),
                np.ones(many * len(outcomes), np.int64),
                np.tile([outcome[1] for outcome in outcomes], many),
                np.tile([float(outcome[2]) for outcome in outcomes], many),
            )

        def taken(offered: Stake, times: int) -> list[Any]:
            return [(played[self.raised(offered, times).turned()] + turns, True, 0.0)]

        blocks = [turn(stake) for stake in played]
        for stake in doubling:
            offered = stake.turned()
            asked = begun(stake, turns)
            undoubled = [(played[stake] + turns, False, 0.0)]
            doubled = [(asked + n_turns, True, 0.0)]
            blocks.append(choice(stake, BEFORE, [(NO_DOUBLE, undoubled), (DOUBLE, doubled)]))
            dropped: list[Any] = [
                (opened(part), part.passes, part.payoff) for part in self.endings(offered, -1.0)
            ]
            answers = [(TAKE, taken(offered, 1)), (DROP, dropped)]
            if self.may_beaver(offered):
                answers.append((BEAVER, taken(offered, 2)))
            blocks.append(choice(offered, OFFERED, answers))
        whole = _Block(*map(np.concatenate, zip(*blocks, strict=True)))
        blocks.clear()  # many bytes
        derived = StateGraph.of_arrays(
            states=whole.states,
            action_indptr=pointers(whole.actions),
            action_label=whole.label.astype(np.int32),
            action_reward=np.zeros(len(whole.label)),
            outcome_indptr=pointers(whole.outcomes),
            outcome_state=whole.target,
            outcome_weight=whole.weight,
            outcome_passes=whole.passes,
            outcome_payoff=whole.payoff,
            field_names=(
                *(graph.columns[k] for k in fields),
                *self.added_fields,
                *graph.throw_names,
            ),
            throw_names=graph.throw_names,
            action_names=self.action_names,
            game=self.name,
            parameters=self.parameters,
            players=2,
            objective="win",
            endless=graph.endless,
            words=graph.words,
        )
        roots = begun(self.first_stake, np.arange(graph.n_roots)).tolist()
        start = roots[0] if self.opening else 0
        return take_seats(derived, [None], [start, *roots[1:]]).graph


def answers_to(graph: StateGraph, before: Ints) -> Ints:
    """The states of the answers to a double before these turns: (n,) int64."""
    doubles = first_actions(graph)[before] + 1
    return graph.outcome_state[outcomes_of(graph, doubles)[0]].astype(np.int64)


class _Block(NamedTuple):
    """Some states as arrays, one after the other."""

    states: NDArray[Any]  # (n, n_fields)
    actions: NDArray[Any]  # of each state, their number
    label: NDArray[Any]
    outcomes: NDArray[Any]  # of each action, their number
    target: NDArray[Any]
    weight: NDArray[Any]
    passes: NDArray[Any]
    payoff: NDArray[Any]
