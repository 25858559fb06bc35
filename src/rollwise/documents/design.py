"""Documents about a whole game: its length, head starts, changes of rules, habits of players."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from rollwise.analysis.records import LossSpread, UnsolvedGame
from rollwise.documents.learned import Loss
from rollwise.documents.model import (
    UNSET,
    Bound,
    Caps,
    Chance,
    DeviationGain,
    Document,
    EquallyGood,
    Figure,
    GameDocument,
    Kind,
    Maybe,
    Number,
    Part,
    Rows,
    State,
    Value,
    about,
    about_caps,
    as_number,
    game_head,
    number_or_none,
    state_fields,
    unit,
)
from rollwise.documents.solved import AVERAGE, Seats, Unit, seats_worth
from rollwise.graph.choices import first_of_each_state
from rollwise.graph.naming import state_text, title_of
from rollwise.graph.policies import ties_in_play
from rollwise.numbers.printed import (
    POINTS,
    between,
    certified,
    chance,
    column,
    gain_text,
    how_many,
    in_common,
    in_runs,
    percents,
    rounded_up,
)

if TYPE_CHECKING:
    from rollwise.analysis.exploit import Exploitation
    from rollwise.analysis.handicap import Handicap
    from rollwise.analysis.length_range import LengthRange, Spread
    from rollwise.analysis.lengths import Curve
    from rollwise.analysis.losses import Difference
    from rollwise.analysis.tuning import Point, Tuning
    from rollwise.answer.references import Policies
    from rollwise.answer.solution import Solution
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy, Ties


WINS = "win probability"  # the unit of games that are won or lost


class TunedGame(Part, frozen=True):
    """A game of a tuning run."""

    parameters: Annotated[dict[str, str], about("as typed")]
    amount: Number
    error_bound: Bound
    equally_good: Annotated[bool, about("whether another optimal policy may have another amount")]
    deviation_gain: Maybe[DeviationGain] = UNSET
    caps: Caps = UNSET


class Tuned(Document, frozen=True, tag="rollwise/tune/1"):
    """The games of a tuning run, and the game nearest to the goal."""

    game: str
    parameters: Annotated[dict[str, Any], about("fixed ones")]
    measure: str
    goal: Annotated[float | str | None, about("a number, min, max, or null: none was given")]
    reached: Annotated[bool, about("whether the goal may be met exactly, or lies between amounts")]
    best: Annotated[TunedGame | None, about("the game nearest to the goal")]
    points: list[TunedGame]
    at_the_end: Annotated[
        list[str],
        about("parameters with the best game at an end of the range, if rules allow more"),
    ]
    stopped: Annotated[bool, about("by Ctrl-C")]
    kind: Annotated[Kind, about("the kind of the numbers")] = "certified"
    unsolved: Annotated[Maybe[list[UnsolvedGame]], about("games without an answer")] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        from rollwise.analysis.tuning import CHANCES

        unsolved = self.unsolved or []

        is_chance, measure, goal = self.measure in CHANCES, self.measure, self.goal
        amounts = [point.amount for point in self.points]
        bounds = [point.error_bound for point in self.points]
        marks = [()] if self.best is None else [("",), ("nearest",)]
        rows = [
            (
                *point.parameters.values(),
                text.number,
                text.bound,
                *marks[point == self.best],
            )
            for point, text in zip(
                self.points, (percents if is_chance else column)(amounts, bounds), strict=True
            )
        ]
        rows += [
            (*one.parameters.values(), "not solved", "", *[""] * bool(marks[0])) for one in unsolved
        ]
        varied = self.points[0].parameters
        yield Rows((*varied, measure, "certified ±", *marks[0]), rows, left=("",))
        yield from (
            f"{' '.join(f'{name}={v}' for name, v in one.parameters.items())}: {one.reason}"
            for one in unsolved
        )
        nearest = self.best or self.points[0]
        best = " ".join(f"{name}={value}" for name, value in nearest.parameters.items())
        if isinstance(goal, str):
            yield f"the {'least' if goal == 'min' else 'largest'} {measure}: {best}"
        elif goal is not None:
            wanted = f"{100 * goal:g} %" if is_chance else f"{goal:g}"
            if not self.reached:
                side = "above" if as_number(nearest.amount) > goal else "below"
                yield f"no game of these has {measure} = {wanted}: all are {side} it"
            yield f"nearest to {wanted}: {best}"
        if self.at_the_end and (isinstance(goal, str) or not self.reached):
            names = " and of ".join(self.at_the_end)
            yield f"that is at the end of the range of {names}: a wider one may go further"
        tied = sum(point.equally_good for point in self.points)
        if tied:
            yield (
                f"ties: in {tied:,} of the {how_many(len(self.points), 'game')} play comes to "
                f"equally good actions; another optimal policy may have another amount of {measure}"
            )
        gains = [point.deviation_gain for point in self.points if point.deviation_gain is not UNSET]
        if gains:
            gain = gain_text(max(map(as_number, gains)), " by another policy")
            games = "the game" if len(self.points) == 1 else "each game of three or more"
            yield f"all play an equilibrium of {games}, which need not be the only one: {gain}"
        if measure != "value" or "as" in self.parameters:
            yield from about_caps(*(point.caps for point in self.points))


def tuning_document(game: str, fixed: Mapping[str, str], found: Tuning) -> Tuned:
    """The games of a tuning run, and the game nearest to the aim."""
    return Tuned.from_result(
        found,
        game=game,
        parameters=dict(fixed),
        points=list(map(_tuned, found.points)),
        best=None if found.best is None else _tuned(found.best),
        unsolved=found.unsolved or None,
        measure=found.aim.measure,
        goal=found.aim.goal,
    )


def _tuned(point: Point) -> TunedGame:
    gain = UNSET if point.deviation_gain is None else point.deviation_gain
    return TunedGame.from_result(point, deviation_gain=gain, caps=dict(point.caps) or UNSET)


class SolvedGame(Part, frozen=True, kw_only=True):
    """A game with its value, or with the results of its seats."""

    game: str
    parameters: dict[str, Any]
    players: Maybe[int] = UNSET
    caps: Caps = UNSET
    positions: int
    value: Maybe[Value] = UNSET
    win_probability: Maybe[Chance] = UNSET
    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    error_bound: Bound

    def text(self, unit: str) -> str:
        """The game with its value and its size."""
        seats = self.win_probabilities or self.payoffs
        if seats:
            rows = (percents if unit == WINS else column)(seats, self.error_bound)
            numbers, worst = in_common(rows)
            worth = f"{unit} of each seat {', '.join(numbers)} ({worst.sure})"
        else:
            value = as_number(self.value)
            worth = f"{unit} {(chance if unit == WINS else certified)(value, self.error_bound)}"
        title = title_of(self.game, self.parameters)
        return f"{title}: {worth}, {how_many(self.positions, 'position')}"


class ChangedAction(Part, frozen=True):
    """A position with another best action."""

    state: State
    old_action: str
    new_action: str
    cost: Annotated[float, unit("probability, or points", "of the old action in the new game")]


class Versions(Document, frozen=True, kw_only=True, tag="rollwise/diff/1"):
    """Two games, and the loss of the old game's strategy in the new one."""

    old: SolvedGame
    new: SolvedGame
    states_in_both: int
    states_changed: int
    states_changed_in_play: int
    loss: Loss
    losses: Annotated[list[Loss], about("in each seat, the others playing best or an equilibrium")]
    spread: LossSpread | None
    exploitability: Annotated[Number, about("gain of a best response, over the seats")]
    error_bound: Bound
    unit: Unit
    changed: Annotated[list[ChangedAction], about("positions of good play first")]
    equally_good: Annotated[EquallyGood | None, about("by the old game")]
    kind: Annotated[Kind, about("the kind of the numbers")] = "certified"

    def blocks(self) -> Iterator[str | Rows]:
        from rollwise.analysis.losses import spread_words

        is_score = self.unit != WINS
        unit = "points" if is_score else POINTS
        yield f"from {self.old.text(self.unit)}"
        yield f"to   {self.new.text(self.unit)}"
        n = self.states_changed
        share = f" ({100 * n / self.states_in_both:.1f} %)" if self.states_in_both else ""
        yield (
            f"{how_many(self.states_in_both, 'state')} of both games with a choice in the new one; "
            f"in {n:,}{share} of them all old best actions are worse now; play comes to "
            f"{self.states_changed_in_play:,} of these"
        )
        spread = self.spread
        ends, bound = [as_number(self.loss)], self.error_bound
        if spread is not None and spread.is_known:
            ends, bound = [as_number(end) for end in spread.loss], as_number(spread.error_bound)
        written = column if is_score else partial(percents, unit=POINTS)
        lost, worst = in_common(written(ends, bound))
        number = " to ".join(one.removesuffix(f" {POINTS}") for one in lost)
        seats = " on average over the seats" if len(self.losses) > 1 else ""
        mark = "" if spread is None or spread.is_known else " *"
        yield (
            f"the old strategy loses {number} {unit}{seats}{mark} ({worst.sure}); "
            "with optimal play where the old game lacks the state or the action"
        )
        if len(self.losses) > 2:
            rows = written(self.losses, bound)
            each = ", ".join(row.number.removesuffix(f" {POINTS}") for row in rows)
            yield f"in each seat, where all others play the new equilibrium: {each} {unit}"
        yield from spread_words([spread])
        if self.equally_good:
            yield f"old strategy, {self.equally_good.text}"
        listed = self.changed[: self.states_changed_in_play] or self.changed
        if listed:
            words, scale = ("state", "was best", "is best"), 1.0 if is_score else 100.0
            cells = (
                (
                    state_text(one.state),
                    one.old_action,
                    one.new_action,
                    f"{scale * one.cost:z.4f}",
                )
                for one in listed
            )
            yield Rows((*words, f"costs ({unit})"), cells, left=words, fold=words)
        yield from about_caps(self.old.caps, self.new.caps)


def difference_document(found: Difference, limit: int | None = None) -> Versions:
    """Two games side by side, and the loss of the old game's strategy in the new one."""
    graph, loss = found.new.graph, found.loss
    names, label = found.old.graph.vocabulary, graph.action_label
    columns = (found.changed[:limit], found.before, found.after, found.costs)
    return Versions.from_result(
        loss,
        old=_solved(found.old),
        new=_solved(found.new),
        states_in_both=found.in_both,
        states_changed=len(found.changed),
        states_changed_in_play=found.in_play,
        unit=AVERAGE if _is_average(found.new) else graph.view.worth_name,
        changed=[
            ChangedAction(
                state_fields(graph, int(state)),
                names.text(int(label[before])),
                graph.vocabulary.text(int(label[after])),
                float(cost),
            )
            for state, before, after, cost in zip(*columns, strict=False)
        ],
        equally_good=found.ties,
    )


def _solved(solution: Solution) -> SolvedGame:
    from rollwise.answer.average import average_of

    graph, profile = solution.graph, solution.profile
    facts = {**game_head(graph), "positions": graph.n_positions}
    if profile is not None:
        bound = float(profile.error_bounds[0].max())
        facts |= seats_worth(graph, profile.worth)
        return SolvedGame(**facts, error_bound=bound)
    value, bound = float(solution.value), float(solution.error_bounds[0])
    if _is_average(solution):
        value, bound = average_of(solution)
    chance = graph.view.win_probability(value)
    return SolvedGame(**facts, value=value, win_probability=chance, error_bound=bound)


def _is_average(solution: Solution) -> bool:
    return solution.game is not None and solution.game.made_from.objective == "average"


ORDINALS = ("first", "second", "third", "fourth", "fifth")


def moving(seat: int | None) -> str:
    """The words for the seat of a player, 0 for the first mover; without a seat for their mean."""
    if seat is None:
        return "on average"
    return f"moving {ORDINALS[seat] if seat < len(ORDINALS) else f'{seat + 1}th'}"


class NearestHead(Part, frozen=True):
    """The head start nearest to an even game, for a seat of the player with it."""

    seat: Annotated[int | None, about("1 moves first; null: on average over the seats")]
    points: int
    outside: Annotated[bool, about("whether all head starts are on one side of an even game")]


class HeadStart(Part, frozen=True):
    """The result with a head start."""

    points: int
    seats: Annotated[list[Figure | None], about("moving first, second, ...")]
    mean: Annotated[Figure | None, about("over the seats")]


class Handicapped(GameDocument, frozen=True, kw_only=True, tag="rollwise/handicap/1"):
    """The worth of each head start, and the nearest ones to an even game."""

    field: Annotated[str, about("of the points given")]
    others: Annotated[list[str], about("the same field of each other player, by their moves")]
    policy: str
    against: str
    unit: Unit
    even: Annotated[float, about("the result of a seat in an even game")]
    nearest: list[NearestHead]
    apart: Annotated[list[int], about("head starts with a position that no play reaches")]
    start: Annotated[dict[str, int], about("the same fields at the start of the game")]
    heads: list[HeadStart]
    equally_good: EquallyGood | None

    def blocks(self) -> Iterator[str | Rows]:
        others = self.against if len(self.others) == 1 else f"the others ({self.against})"
        yield f"{self.title}: {self.policy} begins with points ({self.field}), {others} as usual"
        scale = 100 if self.unit == WINS else 1
        rows, bounds = [], [0.0]
        best = [near.points for near in self.nearest if near.seat is None]
        for head in self.heads:
            amounts = [*head.seats, head.mean]
            bounds += [as_number(one.error_bound) for one in amounts if one]
            cells = [
                "-" if one is None else f"{scale * as_number(one.value):z.4f}" for one in amounts
            ]
            mark = "nearest to even" if head.points in best else ""
            rows.append((str(head.points), *cells, mark))
        seats = 1 + len(self.others)
        heads = (self.field, *map(moving, range(seats)), moving(None), "")
        yield Rows(heads, rows, left=("",))
        unit = "% of the games are won" if self.unit == WINS else "points are gained"
        yield f"{unit} with that head start (certified ± {rounded_up(scale * max(bounds))})"
        for near in self.nearest:
            out = ", and all are on one side of it" if near.outside else ""
            name = moving(None if near.seat is None else near.seat - 1)
            yield f"{name}, {self.field}={near.points} is nearest to even{out}"
        if not any(set(self.start.values()) == {head.points} for head in self.heads):
            yield f"the game itself starts with {state_text(self.start)}: no row has that start"
        if any(None in head.seats for head in self.heads):
            yield "-: no play comes to that position"
        elif self.apart:
            yield (
                f"play never comes to some positions with {self.field}={in_runs(self.apart)}; they "
                "were solved too"
            )
        if self.equally_good:
            yield self.equally_good.text


def handicap_document(found: Handicap) -> Handicapped:
    """The worth of each head start, and the nearest ones to an even game."""
    nearest = []
    for seat in (*range(found.seats), None):
        head = found.nearest(seat)
        if head is not None:
            number = None if seat is None else seat + 1
            nearest.append(NearestHead(number, head.points, not found.is_within(seat)))
    return Handicapped.on(
        found.subject,
        found,
        kind="certified",
        nearest=nearest,
        equally_good=found.ties,
    )


class TriedResponse(Part, frozen=True, kw_only=True):
    """A response to a player, on average over the seats."""

    trust: Annotated[
        float,
        about(
            "0 is optimal play, of three or more players the best guarantee; 1 full trust in the "
            "learned habits"
        ),
    ]
    gain: Annotated[Figure, about("against the learned player, or such players in all other seats")]
    promise: Annotated[Figure, about("against any player nearly sure to fit the games")]
    risk: Annotated[
        Figure, about("the most that opponents together can take from the best guarantee")
    ]
    likely: Annotated[
        Maybe[tuple[float, float]], about("result against nine in ten likely policies")
    ] = UNSET


class DifferentAction(Part, frozen=True):
    """A position where the response differs from optimal play."""

    state: State
    optimal: str
    best: Annotated[str, about("the action of the response")]
    gain: float


class Exploited(GameDocument, frozen=True, kw_only=True, tag="rollwise/exploit/1"):
    """The choices of a player, and the responses to them with gain and risk."""

    player: str
    games: int
    decisions: Annotated[int, about("the player's choices")]
    states: Annotated[int, about("positions with a choice of the player")]
    unit: Unit
    risk_allowed: float
    optimal: TriedResponse
    best: TriedResponse
    tried: list[TriedResponse]
    states_that_differ: int
    differences: list[DifferentAction]
    equally_good: Annotated[EquallyGood | None, about("of optimal play against the player")]

    def blocks(self) -> Iterator[str | Rows]:
        scale, unit = (1.0, "points") if self.unit != WINS else (100.0, "%")
        player = self.player
        safe, whose, least = "optimal play", "", "can win from it"
        if self.players:
            safe, whose = "the safest play", " by all others"
            least = "together can take from the best guarantee"
        yield (
            f"{self.title}: {how_many(self.decisions, 'choice')} of {player} in "
            f"{how_many(self.games, 'game')}, in {how_many(self.states, 'position')}"
        )
        names = ("gain", "promise", "risk")
        figures = [[getattr(one, name) for name in names] for one in self.tried]
        worst = max(as_number(one.error_bound) for row in figures for one in row)
        rows = []
        for one, row in zip(self.tried, figures, strict=True):
            marks = [safe] * (not one.trust)
            marks += ["chosen"] * (one.trust == self.best.trust)
            cells = (f"{scale * figure.value:z.4f}" for figure in row)
            rows.append((f"{one.trust:g}", *cells, ", ".join(marks)))
        heads = ("trust", f"against {player}", "promised", "risked", "")
        yield Rows(heads, rows, left=("",))
        yield (
            f"{unit} on average over the seats, certified ± {rounded_up(scale * worst)}. Against "
            f"{player}: as learned{whose and f', played{whose}'}. Promised: against any policy "
            f"with each action at least as often as the games of {player} make nearly sure, times "
            f"the trust. Risked: the most that {'opponents' if whose else 'an opponent'} {least}."
        )
        best, usual = (
            " to ".join(f"{scale * bound:z.2f}" for bound in one.likely or ())
            for one in (self.best, self.optimal)
        )
        yield (
            f"The true policy of {player} isn't known. Against nine in ten likely policies "
            f"the chosen one gets {best} {unit}, and {safe} {usual} {unit} (estimated)."
        )
        if self.equally_good:
            yield self.equally_good.text
        if not self.states_that_differ:
            yield f"It differs from {safe} nowhere."
            return
        yield f"It differs from {safe} in {how_many(self.states_that_differ, 'position')}:"
        words = ("position", "safest" if whose else "optimal", "instead")
        differences = (
            (state_text(one.state), one.optimal, one.best, f"{scale * one.gain:z.4f}")
            for one in self.differences
        )
        gains = f"gains a game ({'points' if unit == 'points' else POINTS})"
        yield Rows((*words, gains), differences, left=words, fold=words)


def exploitation_document(
    policies: Policies, player: str, games: int, risk: float, found: Exploitation, limit: int
) -> Exploited:
    """The choices of a player, and the responses to them with gain and risk."""
    from rollwise.analysis.exploit import differences

    graph = policies.graph
    states, actions, gains = differences(policies, found)
    labels, text = graph.action_label, graph.vocabulary.text
    optimal = found.optimal.policy
    usual = first_of_each_state(graph, optimal.probability > 0.0)
    columns = (states[:limit].tolist(), actions.tolist(), gains.tolist())
    return Exploited.on(
        graph,
        kind="certified",
        player=player,
        games=games,
        decisions=found.friend.decisions,
        states=found.friend.states,
        risk_allowed=risk,
        optimal=TriedResponse.from_result(found.optimal, likely=found.likely_optimal),
        best=TriedResponse.from_result(found.best, likely=found.likely),
        tried=found.responses,
        states_that_differ=len(states),
        differences=[
            DifferentAction(
                state_fields(graph, s), text(int(labels[usual[s]])), text(int(labels[a])), gain
            )
            for s, a, gain in zip(*columns, strict=False)
        ],
        equally_good=ties_in_play(graph, optimal, found.friend.mean()),
    )


class Moments(Part, frozen=True):
    """A certified mean and standard deviation."""

    mean: Figure | None
    standard_deviation: Figure | None


class AimedMoves(Part, frozen=True):
    """The expected moves of a game for an aim of its players."""

    aim: str
    words: Annotated[str, about("the aim in words")]
    low: Annotated[float | None, about("proved lower bound of the mean; null: endless play")]
    high: Annotated[Number, about("proved upper bound of the mean")]
    mean: Figure | None
    standard_deviation: Figure | None
    endless: Annotated[str, about("the reason, if play can last forever")]
    equally_good: Annotated[
        Maybe[EquallyGood | None],
        about("for this aim: another choice may have another standard deviation; not by layers"),
    ] = UNSET

    @property
    def cells(self) -> list[str]:
        """The moves and their standard deviation."""
        from rollwise.analysis.length_range import OPPOSED

        if self.mean:
            return _cells(self)
        if self.low is None:
            return ["-" if self.aim in OPPOSED else "no end", ""]
        low, high = between(self.low, as_number(self.high))
        return [f"at least {low}" if self.high is None else f"{low} to {high}", "-"]


def _cells(of: Moments | AimedMoves) -> list[str]:
    """A mean and a standard deviation with their bounds."""
    both = (of.mean, of.standard_deviation)
    return [str(certified(x.value, x.error_bound)) for x in both if x]


class MovesOfGame(GameDocument, frozen=True, kw_only=True, tag="rollwise/length/1"):
    """The expected moves of a game for each aim of its players, and their spread."""

    policy: str | None
    unit: str
    lengths: list[AimedMoves]
    score: Annotated[Moments | None, about("points of the policy")]
    timed_out: bool
    equally_good: Annotated[EquallyGood | None, about("of the policy")]

    def blocks(self) -> Iterator[str | Rows]:
        yield f"{self.title}: expected moves of a game from the start"
        rows = [(one.words, *one.cells) for one in self.lengths]
        if self.score:
            rows.append((f"points of {self.policy}", *_cells(self.score)))
        yield Rows(("", "moves", "standard deviation"), rows, left=("",))
        yield "all figures are certified"
        for one in self.lengths:
            if one.endless:
                yield f"{one.words}: {one.endless}"
        yield from self._about_ties()
        if self.equally_good:
            yield f"policy {self.policy}, {self.equally_good.text}"

    def _about_ties(self) -> Iterator[str]:
        """The effect of ties on the standard deviations of the aims."""
        tied = [one for one in self.lengths if one.equally_good and one.aim != "policy"]
        if tied:
            counts = sorted(one.equally_good.states for one in tied if one.equally_good)
            some = " to ".join(f"{n:,}" for n in dict.fromkeys((counts[0], counts[-1])))
            aims = tied[0].words if len(tied) == 1 else f"{len(tied)} of these aims"
            yield (
                f"{aims}: in {some} of the states that play comes to, several actions are equally "
                "good; another choice may have another standard deviation"
            )
        if any(one.equally_good is UNSET and one.standard_deviation for one in self.lengths):
            yield (
                "where several actions are equally good for an aim, another choice may have "
                "another standard deviation"
            )


def length_document(lengths: LengthRange) -> MovesOfGame:
    """The expected moves of a play for each aim of its players, and their spread."""
    return MovesOfGame.on(
        lengths.subject,
        kind="certified",
        policy=lengths.policy or None,
        unit="moves",
        lengths=[
            AimedMoves.from_result(
                one,
                words=lengths.words(one),
                low=one.bracket and one.bracket.low,
                high=one.bracket and number_or_none(one.bracket.high),
                equally_good=UNSET
                if one.by_layers
                else lengths.ties
                if one.aim == "policy"
                else one.ties,
                **_moments(one.moves),
            )
            for one in lengths.lengths
        ],
        score=None
        if lengths.score is None
        else Moments.from_result(None, **_moments(lengths.score)),
        timed_out=lengths.timed_out,
        equally_good=lengths.ties,
    )


class TurnRow(Part, frozen=True):
    """The chances within a number of turns."""

    turns: int
    over: Chance
    won: Annotated[list[Chance], about("by each seat; its share of the win with three or more")]
    best: Annotated[Maybe[Chance], about("the largest chance of the first seat")] = UNSET


class WithinTurns(GameDocument, frozen=True, kw_only=True, tag="rollwise/length/within/1"):
    """The chances that a game is over, and won, within 1, 2, 3, ... turns (--within)."""

    policies: Annotated[list[str], about("of each seat, or one for all")]
    unit: str
    equally_good: EquallyGood | None
    error_bound: Annotated[Bound, about("of each chance")]
    rows: list[TurnRow]

    def blocks(self) -> Iterator[str | Rows]:
        first, seats = self.rows[0], len(self.rows[0].won)
        names = ["won"] if seats == 1 else [f"player {seat + 1} won" for seat in range(seats)]
        heads = [self.unit, "over", *names]
        columns = [[row.over for row in self.rows]]
        columns += [[row.won[seat] for row in self.rows] for seat in range(seats)]
        if first.best is not UNSET:
            heads.append("best chance" if seats == 1 else "best chance of player 1")
            columns.append([row.best or 0.0 for row in self.rows])
        # each column has its own last digit, which its bounds justify
        found = [in_common(percents(one, self.error_bound)) for one in columns]
        counts = [str(row.turns) for row in self.rows]
        yield f"{self.title}: chances within a number of {self.unit}, {self.played}"
        yield Rows(tuple(heads), list(zip(counts, *(cells for cells, _ in found), strict=True)))
        yield found[0][1].sure
        if seats > 2:
            yield "players who win together share the win"
        if first.best is not UNSET:
            others = " while all others keep to their policies"
            against = {1: "", 2: " against the best defence"}.get(seats, others)
            yield f"best chance: with the best policy for each number of {self.unit}{against}"
        if self.equally_good:
            yield self.equally_good.text

    @property
    def played(self) -> str:
        """The policies in words."""
        if len(self.policies) > 2:
            return f"policies {', '.join(self.policies)}"
        return f"policy {' against '.join(self.policies)}"


def within_document(
    graph: StateGraph, policies: Sequence[Policy], found: Curve, ties: Ties | None
) -> WithinTurns:
    """The chances that a game is over, and won, by the number of turns."""
    rows = [
        TurnRow(
            k + 1,
            float(over),
            [float(one[k]) for one in found.won],
            UNSET if found.best is None else float(found.best[k]),
        )
        for k, over in enumerate(found.over)
    ]
    return WithinTurns.on(
        graph,
        kind="certified",
        policies=[policy.name for policy in policies],
        unit=found.unit,
        equally_good=ties,
        error_bound=found.error_bound,
        rows=rows,
    )


def _moments(spread: Spread | None) -> dict[str, Any]:
    if spread is None:
        return {"mean": None, "standard_deviation": None}
    return {"mean": spread.mean, "standard_deviation": spread.deviation}
