"""Answers about scores: distributions, tests of scores, judged plays and numbers of dice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from rollwise.analysis.records import FitOfBest, JudgedMove
from rollwise.documents.model import (
    UNSET,
    Bound,
    Chance,
    Document,
    EquallyGood,
    GameDocument,
    Kind,
    Maybe,
    Number,
    Part,
    Rows,
    State,
    about,
    as_number,
    state_fields,
    unit,
)
from rollwise.errors import spelled
from rollwise.numbers.printed import (
    Printed,
    certified,
    column,
    estimated,
    in_common,
    percent,
    percents,
    rounded_up,
)

if TYPE_CHECKING:
    from rollwise.analysis.distributions import Distribution
    from rollwise.analysis.many_dice import ManyDice
    from rollwise.analysis.observed_scores import GoodnessOfFit, Play, SimulatedScores
    from rollwise.analysis.reaching import Reach
    from rollwise.analysis.second_aims import ScoreRanges
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Ties


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
RESULTS: dict[float, str] = {-1: " (lost)", 0: " (drawn)", 1: " (won)"}
OF_SEATS: dict[float, str] = {0: " (lost)", 1: " (won)"}  # of three or more
Result = Annotated[int | float, about("a whole number, or the share of a win")]
RunTime = Annotated[float, unit("seconds")]
Points = Annotated[Number, unit("points")]
ByScore = Annotated[list[float], unit("probability", "in the order of `scores`")]


def result_text(value: int | float) -> str:
    """A whole number, or a share of a win in six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class ScoreRow(Part, frozen=True, kw_only=True):
    """A score with its probability."""

    value: Result
    probability: Chance
    at_most: Annotated[Chance, about("of this score or less")]
    fraction: Annotated[Maybe[str], about("the exact probability")] = UNSET
    simulated: Annotated[Maybe[Chance], about("share of simulated games")] = UNSET


class SimulatedTest(Part, frozen=True):
    """Simulated scores, tested against the distribution."""

    games: int
    seed: int
    mean: Points
    standard_error: Points
    chi_square: Number
    cells: int
    p_value: Chance


class ScoreDistribution(Part, frozen=True, kw_only=True):
    """The distribution of final scores under a policy."""

    policy: str
    seat: Annotated[Maybe[int], about("whose result it is, of three players or more")] = UNSET
    mean: Points
    mean_bound: Bound
    sd: Annotated[Points, about("standard deviation")]
    sd_bound: Bound
    quantiles: dict[str, Result]
    error_bound: Annotated[Bound, about("of the probabilities")]
    rows: list[ScoreRow]
    equally_good: EquallyGood | None
    given: Annotated[Maybe[Chance], about("the probability of the condition")] = UNSET
    mean_fraction: Annotated[Maybe[str], about("the exact mean")] = UNSET
    simulated: Maybe[SimulatedTest] = UNSET

    @property
    def head(self) -> str:
        """The policy, and the seat."""
        return self.policy if self.seat is UNSET else f"{self.policy}, seat {self.seat}"

    def lines(self, *, has_ties: bool = True) -> Iterator[str]:
        """Mean, deviation and quantiles, with ties and tests."""
        quantiles = ", ".join(f"{q}: {result_text(value)}" for q, value in self.quantiles.items())
        mean, sd = certified(self.mean, self.mean_bound), certified(self.sd, self.sd_bound)
        found = [row.probability for row in self.rows]
        _, worst = in_common(percents(found, self.error_bound))
        yield (
            f"{self.head}: mean {mean}, standard deviation {sd} "
            f"(certified, probabilities ± {worst.error}); quantiles {quantiles}"
        )
        if self.given is not UNSET:
            yield f"  the condition holds in {percent(as_number(self.given))} of plays"
        if self.equally_good and has_ties:
            yield f"  {self.equally_good.text}"
        if self.mean_fraction:
            yield f"  mean {self.mean_fraction} (exact)"
        if self.simulated:
            test = self.simulated
            p_value = "" if test.p_value is None else f", chi-square p = {test.p_value:.3f}"
            mean = estimated(as_number(test.mean), as_number(test.standard_error))
            yield (
                f"  {test.games:,} simulated games (seed {test.seed}): mean {mean} "
                f"(standard error){p_value}"
            )


class Column(NamedTuple):
    """A column of the table: a policy's probabilities, or its frequencies in games."""

    head: str
    cells: list[float | str]
    bound: float  # of probabilities
    games: int  # where they were simulated

    def text(self) -> list[str]:
        """As many digits as the bound earns, or as the games tell."""
        if self.games:
            digits = max(len(str(self.games)) - 2, 0)
            return [f"{100 * float(cell):.{digits}f} %" for cell in self.cells]
        if any(isinstance(cell, str) for cell in self.cells):
            return [str(cell) for cell in self.cells]
        numbers = [float(cell) for cell in self.cells]
        return [row.number for row in percents(numbers, self.bound)]


class EndRange(Part, frozen=True):
    """The range of a quantity."""

    least: Number
    most: Number
    error_bound: Bound

    def written(self, how: Callable[..., list[Printed]]) -> tuple[list[str], Printed]:
        """Both ends as text, and the end with the largest error."""
        return in_common(how([self.least, self.most], self.error_bound))


class ScoreRangeRow(Part, frozen=True):
    """The probability of a score over all optimal policies."""

    value: int
    least: Chance
    most: Chance
    at_most_least: Annotated[Chance, about("of this score or less")]
    at_most_most: Annotated[Chance, about("of this score or less")]


class RangesOfScores(Part, frozen=True):
    """Final scores over all optimal policies."""

    loss_bound: Annotated[Number, about("largest loss of these policies")]
    error_bound: Bound
    variance: EndRange
    rows: list[ScoreRangeRow]

    def blocks(self) -> Iterator[str | Rows]:
        names = ("least", "most", "at_most_least", "at_most_most")
        columns = ([getattr(row, name) for row in self.rows] for name in names)
        cells = [in_common(percents(one, self.error_bound)) for one in columns]
        yield "\nover all optimal policies, which may look at the points made so far:"
        values = [str(row.value) for row in self.rows]
        heads = ("value", "at least", "at most", "or less: at least", "at most")
        yield Rows(heads, list(zip(values, *(numbers for numbers, _ in cells), strict=True)))
        _, worst = in_common([worst for _, worst in cells])
        ends, off = self.variance.written(column)
        yield f"  {worst.sure}; variance from {ends[0]} to {ends[1]} ({off.sure})"
        yield loss_text(self.loss_bound)


class Distributions(GameDocument, frozen=True, kw_only=True, tag="rollwise/distribution/1"):
    """Distributions of final scores, for policies side by side."""

    state: State
    counted: Annotated[str, about("points, the result, or the counted action")]
    given: Annotated[Maybe[str], about("the condition on the number")] = UNSET
    policies: list[ScoreDistribution]
    ranges: Maybe[RangesOfScores] = UNSET

    def columns(self) -> tuple[list[int | float], list[Column]]:
        """The scores of all policies, and columns with a cell for each."""
        values = sorted({row.value for entry in self.policies for row in entry.rows})
        columns = []
        for entry in self.policies:
            # only columns that the rows of a policy have
            for name in ("probability", "simulated", "fraction"):
                if not entry.rows or getattr(entry.rows[0], name) is UNSET:
                    continue
                head = entry.head if name == "probability" else f"{entry.head} {name}"
                found = {row.value: getattr(row, name) for row in entry.rows}
                is_played = name == "simulated" and entry.simulated
                games = entry.simulated.games if is_played and entry.simulated else 0
                cells = [found.get(value, 0.0) for value in values]
                columns.append(Column(head, cells, as_number(entry.error_bound), games))
        return values, columns

    def _named(self, value: int | float) -> str:
        """A value of the table, with its meaning as a result."""
        if self.counted != "result":
            return str(value)
        said = OF_SEATS.get(value, " (shared)") if self.players else RESULTS.get(value, "")
        return f"{result_text(value)}{said}"

    def blocks(self) -> Iterator[str | Rows]:
        values, columns = self.columns()
        if len(columns) == 1:
            rows, bound = self.policies[0].rows, columns[0].bound
            columns.append(Column("or less", [as_number(x.at_most) for x in rows], bound, 0))
        cells = (one.text() for one in columns)
        heads = ("value", *(one.head for one in columns))
        if self.given:
            yield f"given {self.given}:"
        names = [self._named(value) for value in values]
        yield Rows(heads, list(zip(names, *cells, strict=True)))
        # all seats have the ties of the same play: the last seat tells them
        for entry, after in zip(self.policies, [*self.policies[1:], None], strict=True):
            is_told_after = after is not None and after.seat not in (UNSET, 1)
            yield from entry.lines(has_ties=not is_told_after)
        if self.ranges:
            yield from self.ranges.blocks()


def distributions_document(
    graph: StateGraph,
    state: int,
    count: str | None,
    policies: Sequence[ScoreDistribution],
    ranges: ScoreRanges | None = None,
    given: str | None = None,
) -> Distributions:
    """Distributions of final scores, for policies side by side.

    Parameters
    ----------
    count : str, optional
        The counted action; None counts points, or the result of a game won or lost.
    given : str, optional
        The condition on the number.
    """
    return Distributions.on(
        graph,
        kind="certified",
        state=state_fields(graph, state),
        counted=count or ("points" if graph.is_score else "result"),
        policies=list(policies),
        given=given,
        ranges=None if ranges is None else _score_ranges(ranges),
    )


def distribution_document(
    policy: str,
    distribution: Distribution,
    ties: Ties | None,
    *,
    seat: int | None = None,
    fractions: Mapping[int, Fraction] | None = None,
    simulated: SimulatedScores | None = None,
    given: float | None = None,
) -> ScoreDistribution:
    """How final scores are distributed under one policy.

    Parameters
    ----------
    seat : int, optional
        The seat of the result, from 1, in a game with several.
    fractions : mapping of int to Fraction, optional
        The same probabilities, exactly.
    given : float, optional
        The probability of a condition, if `distribution` is the one under it.
    """
    rows, times = [], dict[int, int]()
    if simulated is not None:
        times = dict(zip(simulated.values.tolist(), simulated.times.tolist(), strict=True))
    columns = (distribution.values, distribution.probabilities, distribution.probabilities.cumsum())
    for value, probability, below in zip(*(c.tolist() for c in columns), strict=True):
        more: dict[str, Any] = {}
        if fractions is not None:
            more["fraction"] = str(fractions.get(value, 0))
        if simulated is not None:
            more["simulated"] = times.get(value, 0) / simulated.fit.games
        rows.append(ScoreRow(value=value, probability=probability, at_most=min(below, 1.0), **more))
    more = {"given": UNSET if given is None else given}
    if fractions is not None:
        more["mean_fraction"] = str(sum(value * share for value, share in fractions.items()))
    if simulated is not None:
        fit, is_tested = simulated.fit, simulated.fit.cells > 1
        more["simulated"] = SimulatedTest.from_result(
            fit,
            seed=simulated.seed,
            chi_square=fit.chi_square if is_tested else None,
            p_value=fit.p_shape if is_tested else None,
        )
    return ScoreDistribution.from_result(
        distribution,
        policy=policy,
        seat=seat,
        quantiles={str(share): distribution.quantile(share) for share in QUANTILES},
        rows=rows,
        equally_good=ties,
        **more,
    )


def _score_ranges(ranges: ScoreRanges) -> RangesOfScores:
    """How likely each final score is, at least and at most, under optimal policies."""
    every = [*ranges.rows.values(), *ranges.at_most.values()]
    rows = [
        ScoreRangeRow(
            score, one.least, one.most, ranges.at_most[score].least, ranges.at_most[score].most
        )
        for score, one in ranges.rows.items()
    ]
    bound = max(one.error_bound for one in every)
    return RangesOfScores(ranges.loss, bound, EndRange.from_result(ranges.variance), rows)


class ReachedScore(Part, frozen=True):
    """A score with the best chance of it or a better one."""

    score: int
    chance: Chance


class ReachedScores(GameDocument, frozen=True, kw_only=True, tag="rollwise/distribution/reach/1"):
    """The best chance of each score or better, each with a policy of its own (--reach)."""

    better: Annotated[str, about("at least, or at most where few points are good")]
    error_bound: Annotated[Bound, about("of each chance")]
    rows: list[ReachedScore]

    def blocks(self) -> Iterator[str | Rows]:
        found = [row.chance for row in self.rows]
        cells, worst = in_common(percents(found, self.error_bound))
        scores = [str(row.score) for row in self.rows]
        yield Rows((self.better, "best chance"), list(zip(scores, cells, strict=True)))
        yield (
            f"{worst.sure}; each score has a policy of its own, which knows the points made so far"
        )


def reached_document(game: Game, scores: Sequence[int], reached: Reach) -> ReachedScores:
    """The best chance of each score or better."""
    return ReachedScores.on(
        game,
        kind="certified",
        better="at most" if game.objective == "minimize" else "at least",
        error_bound=reached.error_bound,
        rows=[ReachedScore(*row) for row in zip(scores, reached.chances.tolist(), strict=True)],
    )


class TestedScores(GameDocument, frozen=True, kw_only=True, tag="rollwise/scores/1"):
    """Observed scores, tested against the distribution of a policy."""

    policy: str
    games: int
    mean: Points
    sd: Annotated[Points, about("standard deviation")]
    standard_error: Points
    expected_mean: Points
    expected_mean_bound: Bound
    expected_sd: Points
    expected_sd_bound: Bound
    z: Annotated[Number, about("standard errors off")]
    p_mean: Annotated[Chance, about("of as large a difference by chance")]
    chi_square: Number
    cells: int
    p_shape: Annotated[Chance, about("of as large a chi-square by chance")]
    equally_good: EquallyGood | None
    best_fit: Annotated[Maybe[FitOfBest], about("with several optimal policies")] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        made = estimated(as_number(self.mean), as_number(self.standard_error))
        yield (
            f"{self.games:,} scores: mean {made} (standard error), standard deviation "
            f"{self.sd:.4f} (estimated)"
        )
        mean = certified(self.expected_mean, self.expected_mean_bound)
        sd = certified(self.expected_sd, self.expected_sd_bound)
        yield f"{self.policy}: mean {mean}, standard deviation {sd} (certified)"
        if self.equally_good:
            yield f"  {self.equally_good.text}"
        yield (
            f"mean: {self.z:+.2f} standard errors off; as large a difference by chance in "
            f"{self.p_mean:.1%} of cases"
        )
        if self.cells > 1:
            yield (
                f"shape: chi-square {self.chi_square:.2f} over {self.cells} cells; as much "
                f"by chance in {self.p_shape:.1%} of cases"
            )
        p_shape, whom = self.p_shape, "this policy"
        if self.best_fit:
            best, whom = self.best_fit, "optimal play"
            p_shape = best.p_shape
            yield (
                f"  of all optimal policies the best fit has {best.chi_square:.2f}; none is below "
                f"{best.least:.2f}, and as much comes by chance in {p_shape:.1%} of cases"
            )
        differs = min(as_number(self.p_mean), as_number(p_shape)) < 0.05
        yield (
            f"The scores {'differ from' if differs else 'are consistent with'} {whom}"
            f"{'' if differs else ', as far as so many games can tell'} (5% level)."
        )


def tested_scores_document(
    graph: StateGraph,
    policy: str,
    fit: GoodnessOfFit,
    expected: Distribution,
    ties: Ties | None,
    best: FitOfBest | None,
) -> TestedScores:
    """Observed scores, tested against the distribution of a policy.

    Parameters
    ----------
    best : FitOfBest, optional
        The test against all optimal policies together, where there are several.
    """
    return TestedScores.on(
        graph,
        fit,
        kind="estimated",
        policy=policy,
        expected_mean_bound=expected.mean_bound,
        expected_sd_bound=expected.sd_bound,
        equally_good=ties,
        best_fit=best,
    )


class Judged(GameDocument, frozen=True, kw_only=True, tag="rollwise/judge/1"):
    """Recorded plays, judged move by move."""

    ties: Annotated[str | None, about("the winner of a contest with equal scores")]
    scores: dict[str, int]
    moves: list[JudgedMove]
    equally_good: EquallyGood | None

    def blocks(self) -> Iterator[str | Rows]:
        words = ("player", "line", "state", "action", "best")
        cells = [
            (
                row.player,
                str(row.line),
                " ".join(part for part in row.state.split(", ") if not part.endswith("=0")),
                row.action,
                row.best,
                f"{row.points_lost:z.4f}",
                "" if row.chance is None else f"{row.chance:.4f}",
                row.best_chance or "",
                "" if row.chance is None else f"{row.chance_lost:z.4f}",
            )
            for row in self.moves
        ]
        heads = (*words, "points lost", "chance", "best for it", "chance lost")
        yield Rows(heads, cells, left=(*words, "best for it"))
        for player, score in self.scores.items():
            mine = [row for row in self.moves if row.player == player]
            lost = sum(as_number(row.points_lost) for row in mine)
            line = f"player {player}: score {score}, {lost:.4f} points lost by choice"
            if self.ties is not None:
                total = sum(row.chance_lost or 0.0 for row in mine)
                line += f", {total:.4f} of the chance to win"
            yield line
        if self.equally_good:
            yield self.equally_good.text


def judged_document(
    graph: StateGraph,
    contest_ties: str,
    plays: Sequence[Play],
    moves: Sequence[JudgedMove],
    ties: Ties | None,
) -> Judged:
    """Recorded plays, judged move by move.

    Parameters
    ----------
    contest_ties : str
        The winner of a contest with equal scores.
    """
    return Judged.on(
        graph,
        kind="certified",
        ties=contest_ties if len(plays) > 1 else None,
        scores={play.player: play.score for play in plays},
        moves=list(moves),
        equally_good=ties,
    )


class DiceRow(Part, frozen=True):
    """The expected score with a number of dice."""

    dice: int
    expected_score: float
    error_bound: Bound
    take_two: Annotated[Points, about("with two dice to take at least")]
    take_two_bound: Bound
    refuse_from: Annotated[int | None, about("points of the lowest die of a refused roll")]


class ManyDiceScores(Document, frozen=True, tag="rollwise/many-dice/1"):
    """The expected score for every number of dice."""

    game: str
    parameters: Annotated[dict[str, Any], about("without the number of dice")]
    most: Annotated[int, about("dice")]
    expected_score: Annotated[Points, about("with the most dice")]
    error_bound: Bound
    seconds: RunTime
    rows: Annotated[list[DiceRow], about("for each number of dice")]
    kind: Annotated[Kind, about("the kind of the numbers")] = "certified"

    def blocks(self) -> Iterator[str | Rows]:
        """Rows for few dice and for round numbers of them."""
        landmarks = {n for ten in (1, 10, 100, 1000, 10_000) for n in (ten, 2 * ten, 5 * ten)}
        landmarks |= {*range(13), self.most}
        cells = []
        for row in self.rows:
            if row.dice in landmarks:
                score = certified(row.expected_score, row.error_bound)
                two = "" if row.take_two is None else certified(row.take_two, row.take_two_bound)
                refused = "" if row.refuse_from is None else str(row.refuse_from)
                number = two if isinstance(two, str) else two.number
                cells.append((str(row.dice), score.number, score.bound, number, refused))
        yield Rows(("dice", "expected score", "error bound", "two to take", "refuse from"), cells)
        worth = certified(self.expected_score, self.error_bound)
        every = spelled(python="table()", command_line="--csv, --json or --out")
        yield (
            f"{self.most:,} dice: expected score {worth.number} (certified ± {worth.bound}), found "
            f"in {self.seconds:.1f} s; {every} for every number of dice"
        )


def many_dice_document(scores: ManyDice) -> ManyDiceScores:
    """The expected score for every number of dice."""
    game = scores.subject
    assert game is not None
    value, bound = scores.value(scores.most)
    parameters = {name: value for name, value in game.parameters.items() if name != "dice"}
    seconds = round(scores.seconds, 3)
    rows = [
        DiceRow(
            **row,
            take_two_bound=None
            if row["take_two"] is None
            else scores.value(row["dice"], take_two=True)[1],
        )
        for row in scores.table().iter_rows(named=True)
    ]
    return ManyDiceScores(game.name, parameters, scores.most, value, bound, seconds, rows)


def loss_text(loss: float | None) -> str:
    """The line about the largest possible loss of policies counted as optimal."""
    if not bound_is_proved(loss):
        return "  no bound on the loss of these policies was proved"
    if not loss:
        return "  all policies of such actions are optimal (exact)"
    return (
        f"  a policy that takes any of these actions loses at most {rounded_up(loss)} (certified)"
    )


def bound_is_proved(bound: float | None) -> bool:
    """Whether anything is proved: the bound is neither null nor infinite."""
    return math.isfinite(as_number(bound))
