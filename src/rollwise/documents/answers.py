"""Advice, tables of a strategy, and the value of policies, as documents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import numpy as np

from rollwise.documents.model import (
    UNSET,
    Aligned,
    Bound,
    Chance,
    Cost,
    DeviationGain,
    EquallyGood,
    GameDocument,
    Maybe,
    Number,
    Part,
    Rows,
    State,
    UnsetType,
    Value,
    about,
    about_draws,
    about_wins,
    as_number,
    encode,
    game_head,
    seats_text,
    state_fields,
    unit,
)
from rollwise.documents.solved import Draws, Seats, Unit, exactly, kind_of, seats_worth
from rollwise.graph import StateGraph
from rollwise.graph.layout import field_words
from rollwise.graph.naming import TRUTHS, Words, faces_thrown, state_text
from rollwise.graph.view import TIED
from rollwise.numbers.printed import (
    as_text,
    certified,
    chances,
    column,
    gain_text,
    how_many,
    in_common,
    percent,
    percents,
    rounded_up,
    scaled,
    sure_text,
)
from rollwise.numbers.shares import seat_names

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.advice import Advice
    from rollwise.answer.certified import Certified
    from rollwise.answer.evaluation import BestResponse, Evaluation, Response, Shares
    from rollwise.answer.rows import Grid
    from rollwise.answer.solution import Solution
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Ties

Fraction = Annotated[Maybe[str], about("a fraction")]


class ActionRow(Part, frozen=True, kw_only=True):
    """An action in a position."""

    action: str
    probability: Annotated[Maybe[Chance], about("in an equilibrium")] = UNSET
    value: Maybe[Value] = UNSET
    win_probability: Maybe[Chance] = UNSET
    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    error_bound: Maybe[Bound] = UNSET
    cost: Maybe[Cost] = UNSET
    cost_bound: Maybe[Bound] = UNSET
    best: Annotated[Maybe[bool], about("whether it may be a best action")] = UNSET
    value_exact: Fraction = UNSET
    win_probability_exact: Fraction = UNSET


class ThrowRow(Part, frozen=True, kw_only=True):
    """A throw with its best action, or with the actions of an equilibrium."""

    throw: tuple[int, ...]
    probability: Chance
    action: str
    value: Maybe[Value] = UNSET
    win_probability: Maybe[Chance] = UNSET
    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    error_bound: Maybe[Bound] = UNSET


class Advised(GameDocument, frozen=True, kw_only=True, tag="rollwise/advise/1"):
    """The value of a position and of its actions. Results of seats begin with the mover's."""

    of_best_play: ClassVar[bool] = True

    state: State
    unit: Unit
    value: Maybe[Value] = UNSET
    win_probability: Maybe[Chance] = UNSET
    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    error_bound: Bound
    deviation_gain: Maybe[DeviationGain] = UNSET
    value_exact: Fraction = UNSET
    win_probability_exact: Fraction = UNSET
    throws: Annotated[Maybe[list[ThrowRow]], about("in a position before a throw")] = UNSET
    actions: Maybe[list[ActionRow]] = UNSET
    verdicts: Annotated[
        Maybe[dict[str, str]], about("further columns of the table, such as the cube action")
    ] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        if self.win_probabilities or self.payoffs:
            yield from self._seats()
            return
        rows = self.throws or self.actions or []
        written = column if self._is_score else chances
        values, bounds = [as_number(row.value) for row in rows], [row.error_bound for row in rows]
        worth = written(values, map(as_number, bounds))
        sure = in_common(worth)[1].sure
        if self.throws:
            cells = []
            for row, one in zip(self.throws, worth, strict=True):
                throw = " ".join(map(str, faces_thrown(row.throw)))
                chance = percent(as_number(row.probability))
                cells.append((throw, chance, row.action, one.number))
            yield Rows(("throw", "chance", "action", self.unit), cells, ("throw", "action"))
        else:
            numbers = [one.number for one in worth]
            table, doubt = self._costs(self.actions or [], numbers)
            yield table
            sure += doubt
        exact = {"value": self.value_exact, "win probability": self.win_probability_exact}
        yield from (f"{name} exactly: {text}" for name, text in exact.items() if text)
        for name, text in (self.verdicts or {}).items():
            yield f"{name.replace('_', ' ')}: {text}"
        yield sure

    @property
    def _is_score(self) -> bool:
        return self.unit != "win probability"

    def _costs(self, actions: list[ActionRow], numbers: list[str]) -> tuple[Rows, str]:
        """Each action with its mark, value and cost, and the doubts about the costs."""
        others = [row for row in actions if not row.best]
        costs = (column if self._is_score else percents)(
            [as_number(row.cost) for row in others], [as_number(row.cost_bound) for row in others]
        )
        dearer = iter(costs)
        cells = [
            ("→" if row.best else "", row.action, number, "" if row.best else next(dearer).number)
            for row, number in zip(actions, numbers, strict=True)
        ]
        doubt = ""
        best = [row for row in actions if row.best]
        # of several actions marked best one may be worse, by its cost and its bound at most
        most = max((as_number(row.cost) + as_number(row.cost_bound) for row in best), default=0.0)
        unit = 1.0 if self._is_score else 0.5
        if len(best) > 1 and most > unit * TIED * max(1.0, abs(as_number(self.value))):
            dearest = rounded_up(most) if self._is_score else f"{rounded_up(scaled(most, 100))} %"
            doubt = (
                "; it is open which of the actions marked → is best: one of them may cost up to "
                f"{dearest}"
            )
        if costs:
            off = in_common(costs)[1].bound
            doubt += "; the cost is against the best action, marked →"
            doubt += ", which isn't proved best" if off.startswith("inf") else f" (± {off})"
        cost = "cost" if self._is_score else "win probability cost"
        return Rows(("", "action", self.unit, cost), cells, ("", "action")), doubt

    def _seats(self) -> Iterator[str | Rows]:
        """Each action or throw with its probability and the results of all seats."""
        from rollwise.answer.advice import share_text

        rows: list[ActionRow | ThrowRow] = [*(self.actions or ()), *(self.throws or ())]
        bound = max(as_number(row.error_bound) for row in rows)
        cells = []
        for row in rows:
            shown, worst = seats_text(row, bound)
            if isinstance(row, ThrowRow):
                chance = percent(as_number(row.probability))
                first = [" ".join(map(str, faces_thrown(row.throw))), chance, row.action]
            else:
                first = [row.action, share_text(row.probability) if row.probability else ""]
            cells.append((*first, *shown))
        heads = ["throw", "chance", "action"] if self.throws else ["action", "taken"]
        yield Rows((*heads, *seat_names(len(shown))), cells, ("throw", "action"))
        gain = gain_text(as_number(self.deviation_gain), " from here by another policy")
        yield f"{sure_text(bound, worst)}, if all go on by the equilibrium; {gain}"


def advice_document(solution: Solution | None, advice: Advice) -> Advised:
    """The value and the cost of each action in a position.

    Parameters
    ----------
    solution : Solution, optional
        Without it, the name of the game and exact fractions are missing.
    """
    is_win = advice.worth_name == "win probability"
    scale = 0.5 if is_win else 1.0  # a cost is in the unit of the text
    seats = "win_probabilities" if is_win else "payoffs"
    exact, exact_actions = _exact_advice(solution, advice)
    actions = [
        ActionRow.from_result(
            None,
            action=row.action,
            probability=row.probability,
            error_bound=scale * row.error_bound,
            **{seats: list(row.seats)},
        )
        if advice.seats
        else ActionRow.from_result(
            row,
            probability=UNSET,
            cost=scale * row.regret,
            cost_bound=scale * row.regret_bound,
            **fractions,
        )
        for row, fractions in zip(advice.actions, exact_actions, strict=True)
    ]
    throws = [
        ThrowRow(
            throw=row.throw,
            probability=row.chance,
            action=row.action,
            error_bound=scale * row.error_bound if advice.seats else row.error_bound,
            **(
                {seats: list(row.seats)}
                if advice.seats
                else {"value": row.value, "win_probability": row.win_probability}
            ),
        )
        for row in advice.throws
    ]
    facts: dict[str, Any] = {"throws": throws} if throws else {"actions": actions}
    if advice.seats:
        facts |= {seats: list(advice.seats), "error_bound": advice.seats_bound}
        facts["deviation_gain"] = advice.deviation_gain
    else:
        facts |= {"value": advice.value, "win_probability": advice.win_probability}
        facts |= {"error_bound": advice.error_bound, **exact}
    if solution is not None:
        facts |= {**game_head(solution.graph), "kind": kind_of(solution)}
        facts["verdicts"] = _verdicts(solution, advice) or UNSET
    return Advised(
        **{"game": "", "parameters": {}} | facts, state=advice.state, unit=advice.worth_name
    )


def _verdicts(solution: Solution, advice: Advice) -> dict[str, str]:
    if solution.game is None or advice.throws or advice.seats:
        return {}
    columns = solution.game.verdicts(solution, np.array([solution.find(advice.state)]))
    return {name: texts[0] for name, texts in columns.items() if texts[0]}


def _exact_advice(
    solution: Solution | None, advice: Advice
) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The value of a state and of its actions as text, where the method found fractions."""
    if solution is None or solution.run.fractions is None:
        return {}, [{}] * len(advice.actions)
    from rollwise.methods.exact import action_fractions

    fractions, state = solution.run.fractions, solution.find(advice.state)
    worth = action_fractions(solution.graph, fractions, state) if advice.actions else []
    return exactly(solution, fractions[state]), [exactly(solution, x) for x in worth]


class Table(GameDocument, frozen=True, kw_only=True, tag="rollwise/table/1"):
    """A strategy, row by row."""

    of_best_play: ClassVar[bool] = True

    rows: Annotated[
        list[dict[str, Any]],
        about("the fields of a position, its best action, value and error bound"),
    ]
    beliefs: Annotated[
        Maybe[dict[str, dict[str, str]]],
        about("with hidden fields: by number, the chances of hidden numbers as fractions"),
    ] = UNSET


class GridTable(GameDocument, frozen=True, kw_only=True, tag="rollwise/table/grid/1"):
    """A strategy as matrices by two fields."""

    of_best_play: ClassVar[bool] = True

    rows: Annotated[str, about("the field that numbers the rows")]
    row_numbers: list[int]
    columns: Annotated[str, about("the field that numbers the columns")]
    column_numbers: list[int]
    action_grid: Annotated[list[list[int]], about("numbers of actions; -1: no position")]
    action_names: Annotated[dict[str, str], about("by number")]
    unit: Unit
    value_grid: Maybe[list[list[Number]]] = UNSET
    win_probability_grid: Annotated[
        Maybe[list[list[Number]]], unit("probability", "-1: no position")
    ] = UNSET
    seat_grids: Annotated[
        Maybe[list[list[list[Number]]]],
        about("of three or more players: the same of each seat, from the mover on"),
    ] = UNSET
    probability_grid: Annotated[
        Maybe[list[list[Number]]],
        unit("probability", "of the action in an equilibrium; -1: no position"),
    ] = UNSET
    error_bound: Bound

    def blocks(self) -> Iterator[str | Rows]:
        origin, names = (self.row_numbers[0], self.column_numbers[0]), self.action_names
        numbers = list(names) == list(names.values())
        legend = "" if numbers else "".join(f"{n}: {name}, " for n, name in names.items())
        yield (
            f"{self.title}: the best action (rows: {self.rows}, columns: {self.columns}; "
            f"{legend}-1: no position)"
        )
        yield Aligned.matrix(self.action_grid, origin, "d")
        if mixed := sum(0 < as_number(x) < 1 for row in self.probability_grid or () for x in row):
            yield (
                f"In {how_many(mixed, 'position')} the equilibrium mixes actions; the likeliest is "
                "shown"
            )
        unit, scale, form, missing = "", 1, ".6f", "nan"
        mine = self.win_probability_grid or self.value_grid or []
        if self.win_probability_grid:
            unit, scale, form, missing = " in %", 100, ".4f", "-1"
        sure = f"certified ± {rounded_up(scaled(as_number(self.error_bound), scale))}"
        sure = "estimated" if self.kind == "estimated" else sure
        several = self.seat_grids or []
        names_of_seats = seat_names(len(several)) if several else [""]
        for name, worth in zip(names_of_seats, several or [mine], strict=True):
            of = f" of {name}{unit}, if all play the equilibrium"
            whose = self.unit.capitalize() + (of if name else f"{unit} with that action")
            yield f"\n{whose} ({sure} before it was rounded; {missing}: no position)"
            cells = [[x if x == -1 else scale * as_number(x) for x in row] for row in worth]
            yield Aligned.matrix(cells if self.win_probability_grid else worth, origin, form)


def with_rows(rows: pl.DataFrame, words: Words) -> dict[str, Any]:
    """The field ``rows``, serialized by Polars for speed, with truth values as such."""
    from polars import Boolean

    truths = [name for name in rows.columns if words.get(name) == TRUTHS]
    rows = rows.cast(dict.fromkeys(truths, Boolean))
    return {"rows": msgspec.Raw(rows.write_json().encode())}


def table_json(solution: Solution, rows: pl.DataFrame) -> str:
    """A strategy as a line of JSON."""
    subject = solution.subject
    words = subject.words if isinstance(subject, StateGraph) else field_words(subject)
    known = {} if solution.game is None else solution.game.made_from.beliefs
    beliefs = {
        str(number): {text: str(chance) for text, chance in known[number].items()}
        for number in (rows["belief"].unique().sort().to_list() if known else ())
    }
    return encode(
        Table.on(
            subject,
            kind=kind_of(solution),
            beliefs=beliefs or UNSET,
            **with_rows(rows, words),
        )
    )


def strategy_rows(
    cells: Mapping[str, list[Any]], bounds: Mapping[str, float] | None = None
) -> Rows:
    """The columns of a strategy as a table for people: see `rollwise.numbers.printed.as_text`."""
    text = as_text(cells, bounds)
    return Rows(list(text), list(zip(*text.values(), strict=True)), left=("action", "exact"))


def grid_document(solution: Solution, found: Grid) -> GridTable:
    """A strategy as two matrices by two fields; where there is no position -1, or null points."""
    rows, columns = (
        list(range(int(begin), int(begin) + n))
        for begin, n in zip(found.origin, found.actions.shape, strict=True)
    )
    actions, seats = found.actions.tolist(), found.seats.tolist()
    labels = sorted({label for row in actions for label in row if label >= 0})
    return GridTable.on(
        solution.graph,
        kind=kind_of(solution),
        action_names={str(label): solution.graph.vocabulary.text(label) for label in labels},
        unit=solution.worth_name,
        rows=found.row_field,
        row_numbers=rows,
        columns=found.column_field,
        column_numbers=columns,
        action_grid=actions,
        error_bound=found.error_bound,
        seat_grids=seats if len(seats) > 1 else None,
        probability_grid=None if found.chances is None else found.chances.tolist(),
        **{"value_grid" if solution.is_score else "win_probability_grid": seats[0]},
    )


class PolicyWorth(GameDocument, frozen=True, kw_only=True):
    """The value of a policy at a position, in each seat."""

    unit: Unit
    draws: Draws
    policy: Maybe[str] = UNSET
    against: Annotated[Maybe[str | None], about("the opponent's policy")] = UNSET
    policies: Annotated[Maybe[list[str]], about("of all seats")] = UNSET
    method: Maybe[str] = UNSET
    status: Maybe[str] = UNSET
    sweeps: Maybe[int | None] = UNSET
    theta: Annotated[Maybe[Number], about("largest change in the last sweep")] = UNSET
    state: Maybe[State] = UNSET
    value: Maybe[Value] = UNSET
    never_ends: Annotated[Maybe[bool], about("whether play may last forever, at infinite cost")] = (
        UNSET
    )
    value_second: Annotated[Maybe[Value], about("moving second")] = UNSET
    win_probability: Maybe[Chance] = UNSET
    win_probability_second: Annotated[Maybe[Chance], about("moving second")] = UNSET
    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    error_bound: Bound

    @property
    def gets(self) -> str:
        """The words before the result of a seat."""
        return "wins" if isinstance(self.payoffs, UnsetType) else "gets on average"

    def worth_lines(self) -> Iterator[str]:
        """The value in each seat, with its error bound."""
        if self.never_ends:
            yield ("  expected score infinite: play may never end, and costs without bound (exact)")
            return
        is_chance = not isinstance(self.win_probability, UnsetType)
        values = _numbers(self.value, self.value_second)
        numbers = values
        if is_chance:
            numbers = _numbers(self.win_probability, self.win_probability_second)
        bound = as_number(self.error_bound)
        if math.isfinite(bound):
            shown, worst = in_common((chances if is_chance else column)(values, bound))
            sure = worst.sure
        else:
            shown = [percent(number) if is_chance else f"{number:.12g}" for number in numbers]
            sure = "not certified"
            if self.method == "iterative":
                sure = f"estimated: {self.sweeps} sweeps until none changed by {self.theta:g}"
        name = "wins" if is_chance else self.unit
        first = " moving first" if len(shown) > 1 else ""
        yield f"  {name} {shown[0]}{first}"
        if len(shown) > 1:
            yield f"  and {shown[1]} moving second"
        yield f"  {sure}{about_draws(self.draws)}"


def _numbers(*numbers: float | UnsetType | None) -> list[float]:
    return [as_number(one) for one in numbers if not isinstance(one, UnsetType)]


class Iterate(Part, frozen=True, kw_only=True):
    """Values after the last sweep, without a bound."""

    value: Value
    value_second: Maybe[Value] = UNSET
    win_probability: Maybe[Chance] = UNSET
    win_probability_second: Maybe[Chance] = UNSET
    order: Annotated[str, about("of the states in a sweep")]
    last_change: Annotated[Number, about("largest change of a value in the last sweep")]


class Evaluated(PolicyWorth, frozen=True, kw_only=True, tag="rollwise/evaluate/1"):
    """The value of a policy, or the result of each seat with a policy for each."""

    equally_good: Maybe[EquallyGood | None] = UNSET
    iterate: Maybe[Iterate] = UNSET
    rows: Annotated[Maybe[list[dict[str, Any]]], about("with --table")] = UNSET
    average: Annotated[Maybe[Number], about("of play without an end, per unit of duration")] = UNSET
    average_bound: Maybe[Bound] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        if self.win_probabilities or self.payoffs:
            place = f", at {state_text(self.state)}" if self.state else ""
            numbers, worst = seats_text(self, as_number(self.error_bound))
            names = self.policies or [self.policy or ""] * len(numbers)
            others = f"; {self.against} in all other seats" if self.against else ""
            yield f"{self.title}{place}{others}"
            for seat, (name, number) in enumerate(zip(names, numbers, strict=True), 1):
                yield f"  seat {seat}, {name}, {self.gets} {number}"
            yield f"  ({worst.sure})"
            if self.equally_good:
                yield f"  {self.equally_good.text}"
            return
        versus = f" against {self.against}" if self.against else ""
        yield f"{self.policy}{versus}, at {state_text(self.state or {})}"
        if self.iterate:
            yield from self._iterate(self.iterate)
            return
        if self.average is not UNSET:
            average = certified(as_number(self.average), as_number(self.average_bound))
            yield f"  average in the long run: {average.number} ({average.sure})"
            return
        yield from self.worth_lines()
        if self.equally_good:
            yield f"  {self.equally_good.text}"

    def _iterate(self, iterate: Iterate) -> Iterator[str]:
        """The values after some sweeps, marked as an iterate."""
        if isinstance(iterate.win_probability, UnsetType):
            subject = f"an {self.unit}"
            numbers = [f"{x:.12g}" for x in _numbers(iterate.value, iterate.value_second)]
        else:
            subject = "a win probability"
            shares = _numbers(iterate.win_probability, iterate.win_probability_second)
            numbers = list(map(percent, shares))
        first = numbers[0]
        if len(numbers) > 1:
            first += f" moving first, {numbers[1]} moving second"
        sweeps = f"{how_many(self.sweeps or 0, 'sweep')} ({iterate.order})"
        yield f"  after {sweeps} from {subject} of 0 everywhere: {first}"
        yield (
            f"  an iterate and not an answer: the last sweep changed some position by "
            f"{as_number(iterate.last_change):.3g}, and its error has no proved bound"
        )


def evaluation_document(
    graph: StateGraph,
    found: Evaluation,
    state: int,
    ties: Ties | None = None,
    order: str = "reversed",
    average: tuple[float, float] | None = None,
) -> Evaluated:
    """The value of a policy at a state; null for an unfinished evaluation.

    An unfinished evaluation has the values of the last sweep under ``iterate``, without a bound.

    Parameters
    ----------
    ties : Ties, optional
        The effect of the choice among equally good actions of an optimal policy.
    order : str
        The order of the states in a sweep.
    average : (float, float), optional
        The average of play without an end, with its error bound; that of `found` unless given.
    """
    facts, average = _worth_facts(graph, found, state), average or found.average
    if found.status != "converged":
        names = ("value", "value_second", "win_probability", "win_probability_second")
        values = {name: facts[name] for name in names if name in facts}
        facts |= dict.fromkeys(values)
        if found.history:
            facts["iterate"] = Iterate(**values, order=order, last_change=float(found.history[-1]))
    if average is not None:
        facts["average"], facts["average_bound"] = average
    return Evaluated.on(graph, equally_good=ties, **facts)


def shares_document(
    graph: StateGraph, found: Shares, ties: Ties | None = None, state: int | None = None
) -> Evaluated:
    """The result of each seat, with a policy for each.

    Parameters
    ----------
    ties : Ties, optional
        The effect of the choice among equally good actions of an optimal policy.
    state : int, optional
        The position, with the first seat to move; the start unless given.
    """
    results = found.at(state or 0)
    return Evaluated.on(
        graph,
        kind="certified",
        policies=list(found.policies),
        state=None if state is None else state_fields(graph, state),
        **seats_worth(graph, results.win_probabilities),
        error_bound=results.error_bound,
        equally_good=ties or UNSET,
    )


def against_document(
    graph: StateGraph,
    names: tuple[str, str],
    found: Sequence[Certified],
    state: int | None,
) -> Evaluated:
    """The result of a policy in each seat, where all other seats play another one.

    Parameters
    ----------
    names : (str, str)
        The policy, and that of all others.
    found : sequence of Certified
        From `rollwise.answer.evaluation.in_seats`.
    state : int or None
        As in `shares_document`.
    """
    return Evaluated.on(
        graph,
        kind="certified",
        policy=names[0],
        against=names[1],
        state=None if state is None else state_fields(graph, state),
        **seats_worth(graph, [one.value for one in found]),
        error_bound=max(one.bound for one in found),
    )


class Responded(PolicyWorth, frozen=True, kw_only=True, tag="rollwise/respond/1"):
    """The best response to a policy, or the best result of one seat against one policy of all."""

    to: str
    exploitability: Annotated[
        Maybe[Number], unit("value", "winnings a game, on average over the seats")
    ] = UNSET
    exploitability_bound: Annotated[Maybe[Number], about("largest error of it")] = UNSET
    best_responses: Annotated[Maybe[list[float]], about("best result of each seat")] = UNSET
    equally_good: Maybe[EquallyGood | None] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        if self.best_responses:
            place = f", at {state_text(self.state)}" if self.state else ""
            head = f"best responses to {self.to} of all others"
            if not (self.win_probabilities or self.payoffs):  # without a policy
                head = f"best results of each seat where all others are {self.to}"
            yield f"{head}: {self.title}{place}"
            bound = as_number(self.error_bound)
            written = percents if isinstance(self.payoffs, UnsetType) else column
            best, worst = in_common(written(self.best_responses, bound))
            worth = self.win_probabilities or self.payoffs
            plain = seats_text(self, bound)[0] if worth else []
            for seat, number in enumerate(best):
                instead = f" instead of {plain[seat]}" if plain else ""
                yield f"  seat {seat + 1} {self.gets} {number}{instead}"
            yield f"  ({worst.sure})"
            return
        yield f"best response to {self.to}, at {state_text(self.state or {})}"
        yield from self.worth_lines()
        bound = as_number(self.exploitability_bound)
        gain = certified(max(as_number(self.exploitability), 0.0), bound)
        counts = f" ({about})" if (about := about_wins(self.unit)) else ""
        yield (
            f"  exploitability {gain.number} ({gain.sure}): its winnings a "
            f"game{counts}, on average over the seats"
        )
        if self.equally_good:
            yield f"  {self.equally_good.text}"


def response_document(
    graph: StateGraph, found: BestResponse, state: int, ties: Ties | None = None
) -> Responded:
    """The value of a best response at a state, and the loss of the policy to it.

    Parameters
    ----------
    ties : Ties, optional
        The effect of the choice among equally good actions, of a mixture with an optimal policy.
    """
    return Responded.on(
        graph,
        **_worth_facts(graph, found, state),
        to=found.against,
        exploitability=found.exploitability(state),
        exploitability_bound=found.exploitability_bound(state),
        equally_good=ties,
    )


def seats_response_document(
    graph: StateGraph, found: Response, state: int | None = None
) -> Responded:
    """The best result of one seat against one policy of all others.

    Parameters
    ----------
    state : int, optional
        The position, with the first seat to move; the start unless given.
    """
    return Responded.on(
        graph,
        kind="certified",
        to=found.policy,
        state=None if state is None else state_fields(graph, state),
        **seats_worth(graph, found.win_probabilities),
        best_responses=list(found.best),
        error_bound=found.error_bound,
    )


def _worth_facts(graph: StateGraph, found: Evaluation, s: int) -> dict[str, Any]:
    two, bound = graph.players == 2, math.inf
    if found.bounds is not None and found.bounds_second is not None:
        bound = max(float(found.bounds[s]), float(found.bounds_second[s]))
    facts: dict[str, Any] = {
        "kind": "certified" if math.isfinite(bound) else "estimated",
        "policy": found.policy,
        "against": found.against if two else None,
        "method": found.method,
        "status": str(found.status),
        "sweeps": found.sweeps,
        "theta": found.theta,
        "state": state_fields(graph, s),
        "value": float(found.values[s]),
        "error_bound": bound,
    }
    if math.isinf(found.values[s]):
        facts["never_ends"] = True  # with positive probability, and loses without bound
    if two:
        facts["value_second"] = float(found.values_second[s])
    if not graph.is_score:
        facts["win_probability"] = float(found.win_probability[s])
        if two:
            facts["win_probability_second"] = float(found.win_probability_second[s])
    return facts
