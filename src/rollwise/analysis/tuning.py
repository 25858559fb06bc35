"""The inverse problem: the parameters of a game with a desired property."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from rollwise.analysis.chain import Chain, greedy, measure_skill
from rollwise.analysis.records import UnsolvedGame
from rollwise.answer.average import average_of
from rollwise.answer.certified import Certified
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.cluster.pool import Here, Pool
from rollwise.derive.average import Average
from rollwise.errors import ClusterError, EndlessPlay, ParameterError, RollwiseError, UsageError
from rollwise.game import Game, caps_of
from rollwise.games import Sheet, create
from rollwise.graph.choices import has_choice
from rollwise.graph.policies import ties_in_play
from rollwise.simulate.match import expected_lengths

MEASURES = {
    "win_probability": "the win probability of the player, of two or more that of the first",
    "value": "the value of the start: points, or a payoff; the average of play without an end; of "
    "three or more the first player's win probability or payoff",
    "turns": "turns of a game of best play, of two players or more",
    "moves": "moves of a game of best play",
    "luck": "the standard deviation of the first player's result, played best",
    "draws": "the chance of a draw or a shared win, played best",
    "skill": "the players' share of the result's variance (see `balance`); players "
    "move at random, are greedy, or play best",
}
CHANCES = ("win_probability", "draws")  # the others are no probabilities
OF_THE_START = ("win_probability", "value")  # known from an answer by layers too
MOST_POINTS = 10_000
_AIM = re.compile(r"(?:(min|max)\s+)?(\w+)(?:\s*=\s*(\S+))?")
NUMBER = r"\d+(?:\.\d+|/0*[1-9]\d*)?"
_RANGE = re.compile(rf"(-?{NUMBER})\.\.(-?{NUMBER})(?:\.\.({NUMBER}))?")

Progress = Callable[[str, int, "int | None"], None]
_Amount = tuple[float, float, bool, "float | None", dict[str, int]]  # the attributes of a point


@dataclass(frozen=True)
class Aim:
    """The aim of a search over parameters.

    Attributes
    ----------
    measure : str
        One of `MEASURES`.
    goal : float, "min", "max" or None
        The desired amount, or the least or the largest one. Without a goal the amounts are listed.
    """

    measure: str
    goal: float | str | None = None

    @classmethod
    def read(cls, text: str) -> Aim:
        """An aim as typed: ``win_probability = 0.5``, ``min turns``, or only ``skill``.

        Raises
        ------
        UsageError
            It is none.
        """
        match = _AIM.fullmatch(text.strip())
        if match is None or (match[1] and match[3]):
            raise UsageError(
                f"{text!r} isn't an aim; write win_probability = 0.5, or min turns, or only skill"
            )
        extreme, measure, goal = match.groups()
        if measure not in MEASURES:
            raise UsageError(f"{measure!r} can't be aimed at (there are: {', '.join(MEASURES)})")
        if goal is None:
            return cls(measure, extreme)
        try:
            number = float(Fraction(goal))
        except (ValueError, ZeroDivisionError, OverflowError):
            number = float("nan")
        if not abs(number) < float("inf"):
            raise UsageError(f"{text!r}: {goal!r} isn't a number")
        return cls(measure, number)

    def off(self, amount: float) -> float:
        """The distance of an amount from the goal."""
        assert self.goal is not None
        if self.goal == "min":
            return amount
        return -amount if self.goal == "max" else abs(amount - float(self.goal))


@dataclass(frozen=True)
class Point:
    """One game of the search.

    Attributes
    ----------
    parameters : dict
        The varied ones, as typed.
    amount : float
    error_bound : float
        Of the amount.
    equally_good : bool
        Whether play comes to equally good actions, so that the amount may depend on the choice
        among optimal policies.
    deviation_gain : float or None
        Of three or more players, whose amount is that of an equilibrium: the largest gain of a
        player by another policy; proved.
    caps : mapping of str to int
        As in `StateGraph`.
    """

    parameters: Mapping[str, str]
    amount: float
    error_bound: float
    equally_good: bool = False
    deviation_gain: float | None = None
    caps: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Tuning:
    """All games of a search, and the best one.

    Attributes
    ----------
    points : sequence of Point
        The solved games.
    unsolved : sequence of UnsolvedGame
        The others.
    stopped : bool
        Whether Ctrl-C ended it.
    at_the_end : sequence of str
        The varied parameters with the best value at an end of their range, where the rules allow a
        wider one.
    """

    aim: Aim
    points: Sequence[Point]
    stopped: bool
    at_the_end: Sequence[str] = ()
    unsolved: Sequence[UnsolvedGame] = ()

    @property
    def best(self) -> Point | None:
        """The first of the games nearest to the goal, if there is a goal."""
        if self.aim.goal is None:
            return None
        return min(self.points, key=lambda point: self.aim.off(point.amount))

    @property
    def reached(self) -> bool:
        """Whether the goal may be met exactly, or lies between two of the amounts."""
        if self.aim.goal is None or isinstance(self.aim.goal, str):
            return True
        low = min(point.amount - point.error_bound for point in self.points)
        high = max(point.amount + point.error_bound for point in self.points)
        return low <= self.aim.goal <= high

    @property
    def beyond(self) -> dict[str, str]:
        """The next whole number of each varied parameter whose best value ends its range."""
        found = {}
        best = self.best.parameters if self.best is not None else {}
        for name in best:
            tried = {point.parameters[name] for point in self.points}
            if len(tried) > 1 and all(re.fullmatch(r"-?\d+", text) for text in tried):
                numbers = sorted(map(int, tried))
                for end, by in ((numbers[0], -1), (numbers[-1], 1)):
                    if int(best[name]) == end:
                        found[name] = str(end + by)
        return found


def values_of(text: str) -> tuple[str, list[str]]:
    """A parameter and its values as typed: ``target=20..120``, ``..10`` after it for steps of ten.

    Raises
    ------
    ParameterError
        The text has another form, or there is no value.

    Examples
    --------
    >>> values_of("sides=4,6,8")
    ('sides', ['4', '6', '8'])
    >>> values_of("target=20..50..10")
    ('target', ['20', '30', '40', '50'])
    >>> values_of("chance=0.1..0.3..0.1")
    ('chance', ['0.1', '0.2', '0.3'])
    >>> values_of("chance=0..1/2..1/6")
    ('chance', ['0', '1/6', '1/3', '1/2'])
    """
    name, equals, listed = text.partition("=")
    if not equals or not name or not listed:
        name = name or "target"
        raise ParameterError(f"{text!r} isn't a range; write {name}=20..120, or {name}=4,6,8")
    match = _RANGE.fullmatch(listed)
    if match is None:
        return name, [value.strip() for value in listed.split(",")]
    number: Any = Fraction if "/" in listed else Decimal
    low, high, by = number(match[1]), number(match[2]), number(match[3] or 1)
    if not by or high < low:
        raise ParameterError(f"{text!r} is empty; write the smaller number first, and a step > 0")
    if match[3] is None and re.search(r"/|\d\.\d", listed):
        example = "0..1/2..1/10" if "/" in listed else "0.1..0.5..0.1"
        raise ParameterError(f"{text!r} has no step; say one: {example}")
    if (high - low) // by >= MOST_POINTS:
        raise ParameterError(f"{text!r} has more than {MOST_POINTS:,} values; say a step: 1..9..2")
    return name, [str(low + k * by) for k in range(int((high - low) // by) + 1)]


def tune(
    kind: type[Game],
    fixed: Mapping[str, str],
    vary: Mapping[str, Sequence[str]],
    aim: Aim | None,
    solve: Callable[[Game], Solution],
    progress: Progress | None = None,
    pool: Pool | None = None,
) -> Tuning:
    """Solve a game for all combinations of some parameters' values.

    Parameters
    ----------
    kind : type of Game
    fixed : mapping of str to str
        The other parameters, as typed.
    vary : mapping of str to list of str
        The values of each varied parameter, as typed.
    aim : Aim or None
        None: the first of `OF_THE_START` that all games have, without a goal.
    solve : callable
        Solves and certifies a game.
    progress : callable, optional
    pool : Pool, optional
        Its workers solve the games, each as a task. They must be able to import `solve`.

    Raises
    ------
    ParameterError
        A value is out of the range of its parameter. No game has been solved then.
    UsageError
        The measure isn't one of this game, or there are too many combinations.
    RollwiseError
        None of the games can be solved: the reason of the first.
    ClusterError
        The workers are gone.
    """
    twice = set(fixed) & set(vary)
    if twice:
        raise ParameterError(f"{', '.join(sorted(twice))} can't both vary and have one value")
    combined = [dict(zip(vary, values, strict=True)) for values in product(*vary.values())]
    if len(combined) > MOST_POINTS:
        raise UsageError(f"that is {len(combined):,} games; at most {MOST_POINTS:,} are solved")
    typed = [{**fixed, **values} for values in combined]
    # a wrong combination is an error before any game is solved
    for each in typed:
        create(kind, each, rated=False)
    sheet = Sheet.of(kind)
    wanted = aim and aim.measure
    games = (pool or Here()).in_order(
        _solved_amounts, ((sheet, each, wanted, solve) for each in typed)
    )
    solved = list[dict[str, _Amount] | RollwiseError]()
    stopped = False
    try:
        for _ in combined:
            if progress is not None:
                progress("solving games", len(solved), len(combined))
            solved.append(next(games))
    except KeyboardInterrupt:
        if not solved:
            raise
        stopped = True
    faults = [game for game in solved if isinstance(game, RollwiseError)]
    if len(faults) == len(solved):
        raise faults[0]
    pairs = list(zip(combined, solved, strict=False))
    good = [(v, game) for v, game in pairs if not isinstance(game, RollwiseError)]
    aim = aim or Aim(next(one for one in OF_THE_START if all(one in game for _, game in good)))
    found = Tuning(
        aim,
        [Point(v, *game[aim.measure]) for v, game in good],
        stopped,
        unsolved=[UnsolvedGame(v, str(e)) for v, e in pairs if isinstance(e, RollwiseError)],
    )
    at_best = {**fixed, **(found.best.parameters if found.best is not None else {})}
    wider = [k for k, value in found.beyond.items() if _is_allowed(kind, {**at_best, k: value})]
    return replace(found, at_the_end=wider)


def _is_allowed(kind: type[Game], typed: Mapping[str, str]) -> bool:
    """Whether a game may have these parameters."""
    try:
        create(kind, typed, rated=False)
    except ParameterError:
        return False
    return True


def _solved_amounts(
    sheet: Sheet,
    typed: Mapping[str, str],
    measure: str | None,
    solve: Callable[[Game], Solution],
) -> dict[str, _Amount] | RollwiseError:
    """A measure of one of the games, or each of `OF_THE_START` that it has; or its fault."""
    try:
        game = create(sheet.kind, typed)
        solution = solve(game)
        gain = None if solution.profile is None else solution.profile.deviation_gain
        every = ("value",) if solution.win_probability is None else OF_THE_START
        return {
            one: (*amount_of(one, solution), has_ties(one, solution), gain, caps_of(game))
            for one in ([measure] if measure else every)
        }
    except ClusterError:
        raise
    except RollwiseError as error:
        return error


def has_ties(measure: str, solution: Solution) -> bool:
    """Whether another optimal policy may have another amount of a measure."""
    if measure in OF_THE_START:
        return False
    whole = solution.whole()
    # of two, wins and losses without draws have the spread that the value gives them
    is_fixed = whole.profile is None and not (whole.graph.has_draws or whole.graph.is_score)
    if measure == "luck" and is_fixed:
        return False
    return ties_in_play(whole.graph, whole.policy) is not None


def amount_of(measure: str, solution: Solution) -> tuple[float, float]:
    """A measure of a solved game, and its error bound.

    Raises
    ------
    UsageError
        A game for payoffs has no win probability and no draws; a game of endless weak play
        has no share of skill.
    """
    if measure not in OF_THE_START:
        amount = _FOLLOWED[measure](solution.whole())
        return float(amount.value), float(amount.bound)
    bound = float(solution.error_bounds[solution.start])
    if measure == "value" and solution.profile is not None:
        return solution.profile.worth[0], float(solution.profile.error_bounds[0, 0])
    if measure == "value":
        return (
            average_of(solution) if isinstance(solution.game, Average) else (solution.value, bound)
        )
    chance = solution.win_probability
    if chance is None:
        raise UsageError(
            f"{solution.title} is played for points or payoffs, and no player has a chance to win: "
            "aim at its value or its moves"
        )
    return chance, bound / 2


def _draws(solution: Solution) -> Certified:
    if solution.graph.is_score:
        raise UsageError(f"{solution.graph.game} is played for points or payoffs: it has no draws")
    return Chain.of(solution.graph, solution.policy).draws()


def _turns(solution: Solution) -> Certified:
    if solution.graph.players == 1:
        raise UsageError(f"{solution.graph.game} is one player's only turn: aim at its moves")
    return expected_lengths(solution.graph, solution.policy)[0][0]


def _share_of_skill(solution: Solution) -> Certified:
    if not has_choice(solution.graph).any():
        return Certified(0.0, 0.0)
    policies = Policies.of(solution, any_players=True)
    try:
        levels = [policies.find("random"), greedy(policies), policies.find("optimal")]
        return measure_skill(policies, levels).share
    except EndlessPlay as error:
        raise UsageError(
            f"{solution.graph.title} has no share of skill: weak players may go round for ever"
        ) from error


_FOLLOWED: dict[str, Callable[[Solution], Certified]] = {
    "turns": _turns,
    "moves": lambda solution: expected_lengths(solution.graph, solution.policy)[0][1],
    "luck": lambda solution: Chain.of(solution.graph, solution.policy).luck(),
    "draws": _draws,
    "skill": _share_of_skill,
}
