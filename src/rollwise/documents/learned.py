"""Answers about policies found by search: learned ones, and rules of thumb."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np

from rollwise.analysis.records import LossSpread
from rollwise.documents.answers import with_rows
from rollwise.documents.model import (
    ALIKE,
    UNSET,
    Aligned,
    Bound,
    Chance,
    EquallyGood,
    GameDocument,
    Maybe,
    Number,
    Part,
    Rows,
    State,
    about,
    as_number,
    seats_text,
    state_fields,
    unit,
)
from rollwise.documents.simulated import Seats
from rollwise.documents.solved import AVERAGE, Unit, seats_worth
from rollwise.graph.choices import has_choice
from rollwise.graph.naming import SetWords, in_fields, state_text
from rollwise.numbers.printed import (
    POINTS,
    column,
    digits_of,
    estimated,
    estimated_chance,
    how_many,
    in_common,
    percent,
    percents,
    rounded_up,
)

if TYPE_CHECKING:
    from rollwise.analysis.learning import Assessment, LearnedAgainst
    from rollwise.analysis.thumb.frontier import Frontier
    from rollwise.answer.evaluation import Response
    from rollwise.graph import StateGraph
    from rollwise.learn import Learned

ROWS_SHOWN, WRONG_SHOWN = 40, 5
UNKNOWN = "unknown"  # in the place of a number
Loss = Annotated[Number, unit("probability, or points", "against optimal play")]


class Assessed(Part, frozen=True):
    """A learned policy against the exact solution."""

    games: int
    weighted_error: Annotated[Number, about("mean error of the estimates in good play")]
    optimal_share: Annotated[Chance, about("of the positions with a choice")]
    weighted_optimal_share: Annotated[Chance, about("in good play")]
    loss: Loss
    loss_bound: Bound
    reasons: Annotated[dict[str, int], about("positions without a right answer, by reason")]
    frequent_positions: int
    within_2_errors: Annotated[Chance, about("frequent positions within 2 standard errors")]
    within_3_errors: Annotated[Chance, about("frequent positions within 3 standard errors")]
    recent_within_2_errors: Annotated[Chance, about("the same, from the later half of the games")]
    recent_within_3_errors: Annotated[Chance, about("the same, from the later half of the games")]

    def cells(self, *, is_score: bool) -> list[str]:
        """The row of a learning curve."""
        error, loss = as_number(self.weighted_error), as_number(self.loss)
        return [
            f"{self.games:,}",
            f"{error:.5f}" if is_score else f"{100 * error:.3f} %",
            f"{100 * as_number(self.optimal_share):.1f} %",
            f"{100 * as_number(self.weighted_optimal_share):.2f} %",
            f"{loss:z.6f}" if is_score else percent(loss),
        ]


class WrongPosition(Part, frozen=True):
    """A position with a wrong learned action."""

    state: State
    reason: str
    learned: Annotated[str | None, about("null: never seen")]
    best: str
    cost: Loss
    visits: int
    visits_a_game: Annotated[float, about("in good play")]

    def text(self, *, is_score: bool) -> str:
        """The position and its explanation in a line."""
        cost = as_number(self.cost)
        told = f"{cost:z.4f} points" if is_score else percent(cost)
        told = f", costs {told}" if math.isfinite(cost) else ""
        return (
            f"{state_text(self.state)}: learned {self.learned or 'no action'}, best is "
            f"{self.best}{told} ({self.reason}; {how_many(self.visits, 'visit')})"
        )


class Comparison(Assessed, frozen=True):
    """A learned policy against the exact solution, with its wrong positions."""

    positions: Annotated[list[WrongPosition], about("positions of good play first")]

    def lines(self, *, is_score: bool) -> Iterator[str]:
        """The comparison in words, with the most important wrong positions."""
        error = as_number(self.weighted_error)
        amount = f"{error:.5f} points" if is_score else f"{100 * error:.5f} {POINTS}"
        yield "\nAgainst the exact solution (certified), positions weighted by good play"
        yield f"  mean error of the estimates: {amount}"
        yield (
            f"  learned action optimal: {100 * as_number(self.weighted_optimal_share):.2f} % "
            f"weighted, {100 * as_number(self.optimal_share):.2f} % of the reachable positions "
            "with a choice"
        )
        lost = [max(as_number(self.loss), 0.0)], self.loss_bound
        (loss,) = column(*lost) if is_score else percents(*lost, unit=POINTS)
        amount = f"{loss.number} points" if is_score else loss.number
        yield f"  loss of the learned policy against the best play: {amount} ({loss.sure})"
        for games, two, three in (
            ("all games", self.within_2_errors, self.within_3_errors),
            (
                "the later half of the games",
                self.recent_within_2_errors,
                self.recent_within_3_errors,
            ),
        ):
            if two is not None and three is not None:
                yield (
                    f"  estimates from {games}: {100 * two:.0f} % of {self.frequent_positions} "
                    f"frequent positions within 2 standard errors, {100 * three:.0f} % within 3"
                )
        yield "  positions without a right answer, by reason:"
        yield from (f"    {reason:<12} {count:>9,}" for reason, count in self.reasons.items())
        for row in [row for row in self.positions if row.visits_a_game > 0][:WRONG_SHOWN]:
            yield f"    {row.text(is_score=is_score)}"


class StartEstimate(Part, frozen=True):
    """The learned action and its estimated value at the start."""

    action: str
    estimate: Number
    standard_error: Number

    def text(self, name: str, *, is_score: bool) -> str:
        """The action with its estimate."""
        value, error = as_number(self.estimate), as_number(self.standard_error)
        if math.isfinite(error):
            one = (estimated if is_score else estimated_chance)(value, error)
            shown = f"{one.number} (estimated, standard error {one.bound})"
        else:
            number = f"{value:z.5f}" if is_score else percent(value)
            shown = f"{number} (estimated, without a standard error)"
        return f"  start: {self.action}, {name} {shown}"


class AgainstPolicy(Part, frozen=True):
    """The result against the opponent of the learner, on average over the seats."""

    policy: str
    gets: Number
    gets_bound: Bound
    best_response: Number
    best_response_bound: Bound
    equally_good: EquallyGood | None


class LearnedPolicy(GameDocument, frozen=True, kw_only=True, tag="rollwise/learn/1"):
    """Learned actions and estimates, or a learned profile of seats."""

    method: Maybe[str] = UNSET
    games: int
    explore: float
    seed: int
    workers: Maybe[int] = UNSET
    states: Maybe[int] = UNSET
    states_seen: int
    estimate_name: Annotated[Maybe[str], about("win_rate, score or payoff")] = UNSET
    start: Maybe[StartEstimate] = UNSET
    rows: Annotated[Maybe[list[dict[str, Any]]], about("learned action and estimate")] = UNSET
    words: Annotated[
        Maybe[dict[str, dict[int, str]]],
        about("members of enumerations and sets, by the fields and the numbers of `rows`"),
    ] = UNSET
    grid_origin: Annotated[
        Maybe[dict[str, int]], about("the fields that number rows and columns, from these on")
    ] = UNSET
    action_grid: Maybe[list[list[int]]] = UNSET
    estimate_grid: Maybe[list[list[Number]]] = UNSET
    compare: Maybe[Comparison] = UNSET
    checkpoints: Maybe[list[Assessed]] = UNSET
    against: Maybe[AgainstPolicy] = UNSET
    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    best_responses: Annotated[Seats, about("best result of each seat")] = UNSET
    gains: Annotated[Seats, about("of the best response of each seat")] = UNSET
    error_bound: Maybe[Bound] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        if self.gains:
            yield from self._seats(self.gains)
            return
        what, is_score = str(self.estimate_name), self.estimate_name != "win_rate"
        what = what.replace("_", " ")
        yield (
            f"{self.title}: {how_many(self.games, 'game')} learned by {self.method} "
            f"(M {self.explore:g}, seed {self.seed}, workers {self.workers})"
        )
        yield f"  {self.states_seen:,} of {self.states:,} positions were seen"
        if self.start:
            yield self.start.text(what, is_score=is_score)
        if self.grid_origin and self.action_grid and self.estimate_grid:
            (rows, columns), origin = self.grid_origin, [*self.grid_origin.values()]
            yield f"\nAction learned (rows: {rows}, columns: {columns}; -1: never seen)"
            yield Aligned.matrix(self.action_grid, origin, "d")
            scale, form = (1, ".3f") if is_score else (100, ".1f")
            worth = [
                [x if x == -1 else scale * as_number(x) for x in row] for row in self.estimate_grid
            ]
            unit = "" if is_score else " in %"
            unseen = "nan" if is_score else "-1"
            yield f"\n{what.capitalize()} of that action{unit} ({unseen}: never seen)"
            yield Aligned.matrix(worth, origin, form)
        else:
            yield from self._most_visited(is_score=is_score)
        if self.checkpoints:
            heads = ("games", "weighted error", "optimal", "optimal, weighted", "loss")
            yield "\nLearning curve"
            yield Rows(heads, [point.cells(is_score=is_score) for point in self.checkpoints])
        if self.compare:
            yield from self.compare.lines(is_score=is_score)
        if self.against:
            one = self.against
            name, written = ("payoff", column) if is_score else ("win probability", percents)
            numbers = [one.gets, one.best_response]
            bounds = [one.gets_bound, one.best_response_bound]
            (gets, best), worst = in_common(written(numbers, bounds))
            yield (
                f"\nAgainst {one.policy}, on average over the seats: {name} {gets}; a best "
                f"response has {best} ({worst.sure})"
            )
            if one.equally_good:
                yield one.equally_good.text

    def _most_visited(self, *, is_score: bool) -> Iterator[str | Rows]:
        found: Any = self.rows
        rows = msgspec.json.decode(found) if isinstance(found, msgspec.Raw) else found
        # the last columns: the estimate, its standard error, and the visits of action and state
        estimate, error, _, visits = list(rows[0])[-4:]
        shown = sorted(rows, key=lambda row: -row[visits])[:ROWS_SHOWN]
        parts = {estimate, error}
        scale = max((abs(row[estimate]) for row in shown if row[estimate] is not None), default=0.0)
        digits = digits_of(scale, 5)

        def cell(name: str, value: Any) -> str:
            if name not in parts or value in (None, -1):
                return "" if value is None else f"{value:g}" if name in parts else str(value)
            return f"{value:z.{digits}f}" if is_score else f"{100 * value:z.3f} %"

        yield ""
        heads = list(shown[0])
        shown = [in_fields(row, row.values(), self.words or {}) for row in shown]
        cells = [[cell(name, value) for name, value in row.items()] for row in shown]
        yield Rows(heads, cells, left=("action",))
        if len(rows) > len(shown):
            yield f"the {len(shown)} most visited of {len(rows):,} rows (--csv or --json for all)"
        if self.method != "q-learning" and any(
            row[error] is None and row[estimate] not in (None, -1) for row in shown
        ):
            yield f"without a standard error: a single game, or {ALIKE}"

    def _seats(self, gains: Sequence[float | None]) -> Iterator[str]:
        """The result of each seat, and the gain of its best response."""
        yield (
            f"{self.title}: {how_many(self.games, 'game')} of self-play, M {self.explore:g}, "
            f"seed {self.seed}; {self.states_seen:,} states with a choice were seen"
        )
        gets, could = ("gets on average", "get") if self.payoffs else ("wins", "win")
        bound = as_number(self.error_bound)
        has, worst = seats_text(self, bound)
        written = column if self.payoffs else percents
        best, _ = in_common(written(self.best_responses or [], bound))
        for seat, pair in enumerate(zip(has, best, strict=True), 1):
            yield f"  seat {seat} {gets} {pair[0]}, and could {could} {pair[1]}"
        gain = max(map(as_number, gains))
        most = f"{gain:.6f}" if self.payoffs else percent(gain)
        yield (
            f"  ({worst.sure}) where all play the learned policy; the best response of a seat "
            f"gains at most {most} from the start (0 in an equilibrium)"
        )


def learned_document(
    learned: Learned,
    assessed: Assessment | None = None,
    checkpoints: Sequence[Assessment] | None = None,
    against: LearnedAgainst | None = None,
) -> LearnedPolicy:
    """Learned actions and estimates, and their comparison with the exact solution.

    Parameters
    ----------
    assessed : Assessment, optional
        The learned result against the exact one.
    checkpoints : sequence of Assessment, optional
        The same along the way.
    against : LearnedAgainst, optional
        Its result against an opponent.
    """
    graph, table = learned.graph, learned.table()
    more = with_rows(table, graph.words)
    if graph.words:
        more["words"] = {
            name: {n: words.get(n, str(n)) for n in table[name].unique().to_list()}
            if isinstance(words, SetWords)
            else words
            for name, words in graph.words.items()
        }
    actions, estimates = learned.grid(learned.labels), learned.grid(learned.estimates)
    if actions is not None and estimates is not None:
        origin = map(int, graph.states.min(axis=0))
        more["grid_origin"] = dict(zip(graph.field_names, origin, strict=True))
        more |= {"action_grid": actions.tolist(), "estimate_grid": estimates.tolist()}
    if not learned.is_score or not math.isnan(learned.estimates[0]):
        more["start"] = StartEstimate(
            graph.vocabulary.text(int(learned.labels[0])),
            float(learned.estimates[0]),
            float(learned.estimate_errors[0]),
        )
    if assessed is not None:
        more["compare"] = Comparison.from_result(
            assessed, **_figures(assessed), positions=wrong_positions(assessed)
        )
    if checkpoints is not None:
        more["checkpoints"] = [
            Assessed.from_result(point, **_figures(point)) for point in checkpoints
        ]
    if against is not None:
        more["against"] = AgainstPolicy.from_result(
            None,
            policy=against.against,
            gets=against.gets.value,
            gets_bound=against.gets.bound,
            best_response=against.best.value,
            best_response_bound=against.best.bound,
            equally_good=against.ties,
        )
    seen = int((learned.seen > 0).sum())
    facts = {"states": graph.n_states, "states_seen": seen, "kind": "estimated"}
    return LearnedPolicy.on(graph, learned, **facts, **more)


def _figures(assessed: Assessment) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "games": assessed.learned.games,
        "reasons": assessed.reason_counts(),
        "frequent_positions": int(assessed.frequent.sum()),
    }
    for name, recent in (("within", False), ("recent_within", True)):
        found = assessed.deviations(recent)
        for most in (2, 3):
            share = float((found <= most).mean()) if len(found) else None
            facts[f"{name}_{most}_errors"] = share
    return facts


def wrong_positions(assessed: Assessment) -> list[WrongPosition]:
    """The positions with a wrong learned action, positions of good play first."""
    from rollwise.analysis.learning import REASONS

    learned, reference = assessed.learned, assessed.reference
    graph = learned.graph
    wrong = np.flatnonzero(assessed.reasons >= 0)
    wrong = wrong[np.argsort(-reference.visits[wrong], kind="stable")]
    best = reference.solution.best_actions
    rows = []
    for s in wrong.tolist():
        action = int(learned.best_actions[s])
        rows.append(
            WrongPosition(
                state_fields(graph, s),
                REASONS[assessed.reasons[s]],
                None if action < 0 else graph.view.action(action).name,
                graph.view.action(best[s]).name,
                float(assessed.costs[s]),
                int(learned.seen[s]),
                float(reference.visits[s]),
            )
        )
    return rows


def learned_seats_document(learned: Learned, response: Response) -> LearnedPolicy:
    """A profile learned by self-play, and each seat's best response to it."""
    graph = learned.graph
    gains = zip(response.best, response.win_probabilities, strict=True)
    return LearnedPolicy.on(
        graph,
        kind="certified",
        games=learned.games,
        explore=learned.explore,
        seed=learned.seed,
        states_seen=int(np.count_nonzero((learned.seen > 0) & has_choice(graph))),
        **seats_worth(graph, response.win_probabilities),
        best_responses=list(response.best),
        gains=[best - has for best, has in gains],
        error_bound=response.error_bound,
    )


class ThumbRule(Part, frozen=True, kw_only=True):
    """A rule of thumb with its certified loss."""

    text: str
    numbers: Annotated[int, about("integers in the rule")]
    loss: Loss
    losses: Annotated[list[Loss], about("in each seat, the others playing best or an equilibrium")]
    spread: Maybe[LossSpread | None] = UNSET
    exploitability: Annotated[Maybe[Number], about("gain of a best response, over the seats")] = (
        UNSET
    )
    error_bound: Bound
    exploitability_bound: Maybe[Bound] = UNSET
    gain: Annotated[Maybe[Number], about("of a seat's best response where all play the rule")] = (
        UNSET
    )
    gain_bound: Maybe[Bound] = UNSET
    policy: Annotated[dict[str, Any], about("in a file, a policy for other commands")]

    @property
    def exploitability_text(self) -> str:
        """The exploitability with four decimals, where it is known."""
        gain = as_number(self.exploitability)
        return f"{gain:z.4f}" if math.isfinite(gain) else UNKNOWN


class RulesOfThumb(GameDocument, frozen=True, kw_only=True, tag="rollwise/thumb/1"):
    """Rules of thumb: each has more integers than the one before, and loses less."""

    rules: list[ThumbRule]
    unit: Unit
    scored: Annotated[int, about("scored rules")]
    seed: int
    searches: int
    stopped: Annotated[bool, about("by Ctrl-C")]
    words: Annotated[dict[str, str], about("features of actions in the rules, with meanings")]

    def blocks(self) -> Iterator[str | Rows]:
        from rollwise.analysis.losses import loss_text, spread_words

        if not self.rules:
            yield (
                f"none of the {self.scored:,} scored rules has a finite loss: by each of them play "
                "can go round for ever, or hardly ever ends"
            )
            return
        is_score = self.unit != "win probability"
        scale, unit = (1.0, "points") if is_score else (100.0, "percentage points")
        seats = len(self.rules[0].losses)
        heads = ["integers", "loss"]
        if self.players:
            heads += [*(f"seat {seat}" for seat in range(1, seats + 1)), "gain against it"]
        elif seats == 2:
            heads += ["first", "second", "exploitability"]
        rows, spreads = [], []
        for rule in self.rules:
            spread = rule.spread or None
            spreads.append(spread)
            cells = [loss_text(as_number(rule.loss), spread, scale)]
            if self.players:
                each = [*rule.losses, rule.gain]
                cells += [f"{scale * as_number(loss):z.4f}" for loss in each]
            elif seats == 2:
                losses = enumerate(map(as_number, rule.losses))
                cells += [loss_text(loss, spread, scale, seat) for seat, loss in losses]
                cells.append(rule.exploitability_text)
            rows.append([str(rule.numbers), *cells, rule.text])
        yield Rows([*heads, "rule"], rows, left=("rule",), fold=("rule",))
        if self.words:
            yield "; ".join(f"{name}: {meaning}" for name, meaning in self.words.items())
        bounds = [as_number(rule.error_bound) for rule in self.rules]
        bounds += [as_number(rule.gain_bound) for rule in self.rules if self.players]
        sure = f"certified ± {rounded_up(scale * max(bounds))}"
        seeds = f"seed {self.seed}"
        seeds += f", {self.searches} searches" if self.searches > 1 else ""
        best = f"the best of {self.scored:,} scored rules ({seeds})"
        best += ", and perhaps not the best there are"
        if self.players:
            yield (
                f"losses in {unit} ({sure}) where all others play the equilibrium: on average over "
                "the seats, and in each; the gain is that of a best response where all play the "
                f"rule. These are {best}"
            )
        else:
            over = ", on average over the seats" if seats == 2 else ""
            what = f"losses against optimal play in {unit}{over}"
            if self.unit == AVERAGE:
                what = f"losses of the {AVERAGE}, against optimal play"
            yield f"{what} ({sure}); {best}"
            if seats == 2 and not is_score:
                yield (
                    "the exploitability is the mean payoff of a best response: 1 for a win, -1 for "
                    "a loss"
                )
            if any(rule.exploitability_text == UNKNOWN for rule in self.rules if seats == 2):
                yield (
                    f"{UNKNOWN}: against such a rule play can go round for ever, which both would "
                    "lose, so a best response may have no value"
                )
        yield from spread_words(spreads)


OF_OPPONENT = ("spread", "exploitability", "exploitability_bound")  # facts of games for two


def thumb_document(
    graph: StateGraph, frontier: Frontier, *, is_average: bool = False
) -> RulesOfThumb:
    """The rules of thumb of a game. A ``policy`` can be kept as a file and given as a policy.

    Parameters
    ----------
    is_average : bool
        The losses are of the average of endless play.
    """
    from rollwise.thumb.sentences import words_of

    names = ("gain", "gain_bound") if graph.players <= 2 else OF_OPPONENT
    absent: dict[str, Any] = dict.fromkeys(names, UNSET)
    more: dict[str, Any] = {"unit": AVERAGE} if is_average else {}
    return RulesOfThumb.on(
        graph,
        frontier,
        kind="certified",
        rules=[
            ThumbRule.from_result(rule, policy=rule.rule.document(graph), **absent)
            for rule in frontier.rules
        ],
        words=words_of((rule.rule for rule in frontier.rules), graph),
        **more,
    )
