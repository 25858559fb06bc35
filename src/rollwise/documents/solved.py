"""The answer of ``rollwise solve``: a value for one player or two, or one for each seat."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from rollwise.analysis.records import CubeWindow
from rollwise.documents.model import (
    UNSET,
    Bound,
    Chance,
    DeviationGain,
    GameDocument,
    Kind,
    Maybe,
    Number,
    Part,
    Rows,
    Seconds,
    State,
    UnsetType,
    Value,
    about,
    about_draws,
    as_number,
    bound_text,
    seats_text,
    seconds_text,
    sizes,
    sizes_text,
    state_fields,
    undecided_lines,
    worth_lines,
)
from rollwise.graph.layout import field_words
from rollwise.graph.naming import in_fields, state_text
from rollwise.many.ties import SeatTies
from rollwise.numbers.printed import (
    certified,
    chance,
    estimated,
    estimated_chance,
    gain_text,
    how_many,
    percent,
    rounded,
    rounded_up,
    scaled,
    sure_text,
)

if TYPE_CHECKING:
    from rollwise.answer.layered_states import LayeredStates
    from rollwise.answer.solution import Solution
    from rollwise.graph import StateGraph
    from rollwise.many.equilibrium import OtherEquilibria

MOST_NAMED = 1_000  # components listed by name
AVERAGE = "average in the long run"  # of play without an end
Unit = Annotated[
    str, about("the name of a value: win probability, expected score or payoff, average")
]
Draws = Annotated[bool, about("whether games can be drawn; a draw is half a win")]
Seats = Annotated[Maybe[list[float]], about("of each seat")]
Bounds = Annotated[Maybe[list[Number]], about("lower and upper bound by the method")]


class StandardErrors(Part, frozen=True):
    """True errors of the drawn states, in standard errors."""

    states: int
    mean: Number
    root_mean_square: Number
    within_one: Annotated[Number, about("share of the states")]
    within_two: Annotated[Number, about("share of the states")]


class Estimate(Part, frozen=True):
    """The estimated value of the start beside the true one."""

    samples: Annotated[int, about("draws of each entry")]
    seed: int
    entries: Annotated[int, about("actions with several outcomes")]
    standard_error: Number
    own_error: Annotated[Number, about("standard error by its own draws")]
    inherited_error: Annotated[Number, about("standard error by other estimates")]
    true_value: Value
    true_bound: Bound
    true_error: Number
    in_standard_errors: StandardErrors


class OtherEquilibrium(Part, frozen=True, kw_only=True):
    """Another equilibrium."""

    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    error_bound: Bound
    deviation_gain: DeviationGain
    differing_positions: Annotated[int, about("positions with other values")]
    first_difference: State

    def blocks(self) -> Iterator[str]:
        numbers, worst = seats_text(self, self.error_bound)
        gain = gain_text(as_number(self.deviation_gain))
        yield f"    another: {', '.join(numbers)} ({worst.sure}); {gain} (proved)"
        where = how_many(self.differing_positions, "position")
        yield f"      it has other values in {where}, as at {state_text(self.first_difference)}"


class Others(Part, frozen=True):
    """A search for other equilibria."""

    starts: int
    seed: Annotated[int, about("of the first start")]
    unsettled_starts: Annotated[int, about("starts without an equilibrium")]
    components_by_support: Annotated[int, about("components with all supports tried")]
    found: list[OtherEquilibrium]

    def blocks(self) -> Iterator[str]:
        supports = ""
        if self.components_by_support:
            count = how_many(self.components_by_support, "component")
            supports = f", and all supports of opposed decisions in {count}"
        starts = how_many(self.starts, "other start")
        yield f"  looked for others from {starts} (seed {self.seed}){supports}:"
        if self.unsettled_starts:
            yield f"    {self.unsettled_starts:,} of them came to no equilibrium"
        if not self.found:
            yield "    no other was found; this doesn't prove that there is none"
        for other in self.found:
            yield from other.blocks()


class Cubed(Part, frozen=True):
    """The cube actions of a game with a doubling cube, or the chances in a match."""

    unit: Unit
    limit_effect: Annotated[
        Maybe[Number], about("largest change of the value by a higher limit")
    ] = UNSET
    windows: Annotated[Maybe[list[CubeWindow]], about("of the first double, and of others")] = UNSET
    match_table: Annotated[
        Maybe[list[list[float | None]]],
        about("chances by the points that the player (rows) and the opponent need, from 1"),
    ] = UNSET
    after_crawford: Annotated[
        Maybe[list[float | None]], about("chances against an opponent who needs 1 point")
    ] = UNSET
    error_bound: Annotated[Maybe[Bound], about("of the chances")] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        if not isinstance(self.match_table, UnsetType):
            bound = rounded_up(scaled(as_number(self.error_bound), 100))
            yield "  chances in % before a game, by the points needed (rows: the player, columns:"
            yield f"  the opponent; certified ± {bound} % before rounding)"
            heads = ("", *(str(k + 1) for k in range(len(self.match_table))))
            cells = [[str(k), *map(_in_percent, row)] for k, row in enumerate(self.match_table, 1)]
            yield Rows(heads, cells, indent=4)
            row = " ".join(map(_in_percent, self.after_crawford or []))
            yield f"  after the Crawford game, against an opponent who needs 1: {row}"
        if not isinstance(self.limit_effect, UnsetType):
            effect = rounded_up(as_number(self.limit_effect))
            yield f"  a higher limit changes the value of the start by at most {effect}"
        if not self.windows:
            return
        yield f"  cube actions by the {self.unit} without a cube, of the player who decides:"
        rows = []
        for window in self.windows:
            numbers = window.doubles_from, window.no_double_to, window.takes_from, window.passes_to
            form = percent if self.unit == "win probability" else rounded
            texts = ["" if number is None else form(as_number(number)) for number in numbers]
            rows.append([f"cube {window.cube}", *texts])
        yield Rows(("", "doubles ≥", "no double ≤", "takes ≥", "passes ≤"), rows, ("",), indent=4)
        for window in self.windows:
            counts = "; ".join(f"{n:,} {name}" for name, n in window.counts.items())
            yield f"  positions with the cube at {window.cube}: {counts}"


def _in_percent(chance: float | None) -> str:
    return "" if chance is None else f"{100 * chance:.4f}"


class Solved(GameDocument, frozen=True, kw_only=True, tag="rollwise/solve/1"):
    """The value of a game from the start: one for the mover, or one for each seat."""

    method: str
    status: Annotated[str, about("certified, estimated, or the reason for an unproved answer")]
    states: Annotated[int, about("positions before a throw")]
    after_throws: Annotated[Maybe[int], about("situations after a throw")] = UNSET
    throws_counted: Annotated[
        Maybe[bool], about("false: states, actions and outcomes leave the throws out")
    ] = UNSET
    keep: Annotated[Maybe[str], about("by layers: all, or start")] = UNSET
    kept_states: Annotated[Maybe[int], about("by layers: states with a kept answer")] = UNSET
    actions: int
    outcomes: int
    layers: Maybe[int] = UNSET
    largest_layer: Annotated[Maybe[int | None], about("its positions; null if unknown")] = UNSET
    components: Annotated[Maybe[int], about("strongly connected ones")] = UNSET
    largest_component: Annotated[Maybe[int], about("its states")] = UNSET
    start: State
    unit: Unit
    draws: Draws
    average: Annotated[Maybe[Number], about("of play without an end, per unit of duration")] = UNSET
    average_bound: Maybe[Bound] = UNSET
    value: Maybe[Value] = UNSET
    win_probability: Maybe[Chance] = UNSET
    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    error_bound: Bound
    start_error_bound: Annotated[
        Maybe[Bound], about("of the start, where some state has no bound")
    ] = UNSET
    deviation_gain: Maybe[DeviationGain] = UNSET
    mixing_components: Annotated[Maybe[int], about("components with mixed actions")] = UNSET
    mixing_states: Annotated[Maybe[int], about("states with mixed actions")] = UNSET
    ties: Maybe[SeatTies] = UNSET
    unsettled: Annotated[
        Maybe[list[State]], about("a state of each component without an equilibrium")
    ] = UNSET
    unsettled_components: Maybe[int] = UNSET
    unproved_states: Annotated[Maybe[int], about("states without a proved bound")] = UNSET
    timed_out: Maybe[bool] = UNSET
    others: Maybe[Others] = UNSET
    seconds: Seconds
    kept_from: Annotated[Maybe[str], about("the run that found a kept answer")] = UNSET
    undecided: Annotated[Maybe[int], about("states with an undecided best action")] = UNSET
    sweeps: Annotated[Maybe[int], about("or iterations of another kind")] = UNSET
    claimed_error: Annotated[Maybe[Number], about("see claim_is_bound")] = UNSET
    claim_is_bound: Annotated[
        Maybe[bool], about("whether the method proves its claimed error; else it stopped there")
    ] = UNSET
    details: Annotated[Maybe[dict[str, Any]], about("of the method's run")] = UNSET
    value_bounds: Bounds = UNSET
    win_probability_bounds: Bounds = UNSET
    value_exact: Annotated[Maybe[str], about("a fraction")] = UNSET
    win_probability_exact: Annotated[Maybe[str], about("a fraction")] = UNSET
    estimate: Maybe[Estimate] = UNSET
    rounding: Annotated[
        Maybe[str], about("how the game's numbers were rounded; bounds are for the rounded ones")
    ] = UNSET
    check: Annotated[Maybe[list[str]], about("oddities of the rules")] = UNSET
    cube: Annotated[Maybe[Cubed], about("with as=cube")] = UNSET
    stops: Annotated[
        Maybe[dict[str, int]],
        about("of fields without an end: the numbers from which stopping is proved best"),
    ] = UNSET
    of_best_play: ClassVar[bool] = True

    def _layers_text(self) -> str:
        text = how_many(self.layers or 0, "layer")
        if not self.largest_layer:
            return text
        return f"{text}, the largest of {how_many(self.largest_layer, 'position')}"

    def _limits(self) -> Iterator[str]:
        """The limits of the answer: rounded numbers, caps, and actions too close to decide."""
        if self.rounding:
            yield f"  {self.rounding}: bounds are for the rounded ones"
        if self.stops and self.caps:
            stops, caps = (
                " or ".join(f"{name}={number}" for name, number in numbers.items())
                for numbers in (self.stops, self.caps)
            )
            yield f"  stopping is proved best from {stops} on; {caps} and beyond are not needed"
        for line in undecided_lines(self.undecided):
            yield f"  {line}"

    def blocks(self) -> Iterator[str | Rows]:
        yield self.title
        start = state_text(self.start)
        spent = seconds_text(self.seconds, self.kept_from)
        if self.ties:
            yield from self._seats(start)
            yield f"  {spent}"
            if self.others:
                yield from self.others.blocks()
            return
        if self.estimate:
            yield from self._estimated(start, self.estimate)
        elif as_number(self.error_bound) == math.inf and not self.layers:
            yield f"  value of the start ({start}): {self.value}, without an error bound"
        elif self.average is not UNSET:
            average = certified(as_number(self.average), as_number(self.average_bound))
            yield f"  average in the long run: {average.number} ({average.sure})"
        else:
            value, bound = as_number(self.value), self.error_bound
            yield from worth_lines(start, value, bound, name=self.unit, draws=self.draws)
        exact = {"win probability": self.win_probability_exact, "value": self.value_exact}
        for name, text in exact.items():
            if text:
                short = f"{text[:90]}... ({len(text):,} characters)"
                yield f"  {name} exactly: {text if len(text) <= 200 else short}"
        yield from self._limits()
        if self.cube:
            yield from self.cube.blocks()
        if self.layers:
            aside = " (without the throws)" if self.throws_counted is False else ""
            yield f"  {sizes_text(self)}{aside} in {self._layers_text()}"
            if self.keep == "start":
                yield "  kept: the answer of the start; --save FOLDER keeps all"
            yield f"  strategy-iteration by layers: {spent}"
            return
        components = f"{self.components:,} components, the largest of "
        components += f"{self.largest_component:,} states"
        if self.components == 1:
            components = "one component"
        elif self.largest_component == 1:
            components = "each state a component"
        yield f"  {sizes_text(self)}; {components}"
        yield f"  {self.method}: {spent}{_compiled()}"

    def _estimated(self, start: str, run: Estimate) -> Iterator[str]:
        """The estimated value of the start, and its errors."""
        is_chance = self.unit == "win probability"
        written, unit = (estimated_chance, " %") if is_chance else (estimated, "")
        scale, worth = 1.0, as_number(self.value)
        truth = certified(run.true_value, run.true_bound)
        subject = f"{self.unit} from the start ({start}):"
        if is_chance:
            scale, worth = 0.5, as_number(self.win_probability)
            truth = chance(run.true_value, run.true_bound)
            subject = f"the mover at the start ({start}) wins"
        error, off = scale * as_number(run.standard_error), scale * as_number(run.true_error)
        number = written(worth, error)
        sure = f"estimated ± {number.bound}, a standard error{about_draws(self.draws)}"
        yield f"  {subject} {number.number} ({sure})"
        own, inherited = (
            written(0.0, scale * as_number(one)).bound
            for one in (run.own_error, run.inherited_error)
        )
        yield (
            f"  {own} from its own draws and {inherited} inherited from other estimates, whose "
            "squares add up"
        )
        distance = f", {off / error:+.2f} standard errors" if error else ""
        off_by = f"off by {100 * off if unit else off:+.1e}{unit}{distance}"
        yield f"  the truth is {truth.number} ({truth.sure}): {off_by}"
        yield (
            f"  {run.entries:,} entries (actions with several outcomes), each drawn "
            f"{run.samples:,} times, seed {run.seed}"
        )
        errors = run.in_standard_errors
        if errors.states:
            yield (
                f"  true errors of {errors.states:,} states that were drawn, in standard errors: "
                f"mean {errors.mean:+.2f}, root mean square {errors.root_mean_square:.2f}, "
                f"{100 * as_number(errors.within_two):.0f} % within 2"
            )

    def _seats(self, start: str) -> Iterator[str]:
        """The result of each seat, and the proof."""
        kind = "an equilibrium"
        if self.unsettled_components:
            kind = "a profile, not an equilibrium"
        elif self.unproved_states:
            kind = "an equilibrium, as far as can be seen"
        gets = "gets on average" if self.payoffs else "wins"
        yield f"  {kind}; from the start ({start}) each seat {gets}:"
        numbers, sure = self._worths
        for seat, number in enumerate(numbers, 1):
            yield f"    seat {seat}: {number}"
        yield f"    ({sure})"
        yield f"  {self._gain}"
        mixing = "no state mixes actions"
        if self.mixing_components:
            states = how_many(self.mixing_states or 0, "state")
            mixing = f"of which {self.mixing_components:,} mix actions, in {states}"
        yield f"  {sizes_text(self)}; {how_many(self.components or 0, 'component')}, {mixing}"
        if self._ties:
            yield f"  {self._ties}"

    def claims(self) -> Iterator[str]:
        """The proved claims about an equilibrium of several seats, a line each."""
        yield self._worths[1]
        yield self._gain
        if self._ties:
            yield self._ties

    @property
    def _worths(self) -> tuple[list[str], str]:
        """The result of each seat, and the proof of all."""
        has_bound = isinstance(self.start_error_bound, UnsetType)
        bound = as_number(self.error_bound if has_bound else self.start_error_bound)
        numbers, worst = seats_text(self, bound)
        return numbers, sure_text(bound, worst)

    @property
    def _gain(self) -> str:
        """The largest gain of a player by another policy."""
        if self.unproved_states:
            return gain_text(math.inf, " by another policy")
        gain = bound_text(as_number(self.deviation_gain))
        return f"in every position, no player gains more than {gain} by another policy (proved)"

    @property
    def _ties(self) -> str:
        """The effect of other choices among equally good actions; empty if there is none."""
        return self.ties.text(payoffs=bool(self.payoffs)) if self.ties else ""


def _compiled() -> str:
    """A note about time spent in compiling, where there was any; it comes only once."""
    if "rollwise.machine.kernel_cache" not in sys.modules:  # and Numba stays where it is
        return ""
    from rollwise.machine.kernel_cache import has_compiled

    return "; some of it compiling, once on this machine" if has_compiled() else ""


def kind_of(solution: Solution) -> Kind | UnsetType:
    """The kind of a solution's values; UNSET where nothing is proved."""
    if solution.estimated:
        return "estimated"
    if solution.run.fractions is not None and not _rounding(solution):
        return "exact"
    return "certified" if math.isfinite(solution.error_bound) else UNSET


def _rounding(solution: Solution) -> str:
    """The rounding of the numbers of a model, or of the chances of beliefs."""
    return "" if solution.game is None else solution.game.rounding


def seats_worth(graph: StateGraph, worth: Sequence[float]) -> dict[str, list[float]]:
    """The results of all seats, under the key of their unit."""
    name = "payoffs" if graph.is_score else "win_probabilities"
    return {name: list(worth)}


def solved_document(
    solution: Solution,
    check: Maybe[Sequence[str]] = UNSET,
    others: OtherEquilibria | None = None,
) -> Solved:
    """The value of a game of any size and number of seats.

    Parameters
    ----------
    check : sequence of str, optional
        The findings of `rollwise.analysis.findings`.
    others : OtherEquilibria, optional
        Equilibria found besides.
    """
    seconds = {name: round(spent, 6) for name, spent in solution.seconds.items()}
    if solution.profile is not None:
        facts = _seats_facts(solution, others)
    else:
        facts = _graph_facts(solution) if solution.is_whole else _layers_facts(solution)
        facts["value"] = None if solution.gave_up else solution.value
        facts["win_probability"] = None if solution.gave_up else solution.win_probability
        facts["error_bound"] = solution.error_bound
        if not solution.gave_up:
            facts |= _form_facts(solution)
        if solution.game is not None and solution.game.rest is not None:
            rest = solution.game.rest
            facts |= {"stops": rest.named(rest.proved)}
    return Solved.on(
        solution.subject,
        kind=kind_of(solution),
        method=solution.method,
        status=solution.status,
        unit=solution.worth_name,
        draws=solution.space.has_draws,
        seconds=seconds,
        kept_from=solution.kept_from or UNSET,
        rounding=_rounding(solution) or UNSET,
        check=check,
        **facts,
    )


def _graph_facts(solution: Solution) -> dict[str, Any]:
    graph = solution.graph
    facts: dict[str, Any] = _sizes_before_throws(graph)
    facts |= {"components": len(graph.components), "start": state_fields(graph, 0)}
    facts["largest_component"] = graph.components.largest
    facts["undecided"] = None if solution.gave_up else int(solution.undecided.sum()) or None
    return facts | _run_facts(solution)


def _sizes_before_throws(graph: StateGraph) -> dict[str, int]:
    """The size of a graph, with its positions and its situations after a throw apart."""
    after = {"after_throws": graph.n_states - graph.n_positions} if graph.throw_names else {}
    return sizes(graph) | {"states": graph.n_positions} | after


def _form_facts(solution: Solution) -> dict[str, Any]:
    """The further facts about a game in a form, by the word after ``as=``."""
    game: Any = solution.game
    form = getattr(game, "form", "")
    if form == "average":
        from rollwise.answer.average import average_of

        average, bound = average_of(solution)
        return {"average": average, "average_bound": bound}
    if form != "cube":
        return {}
    from rollwise.analysis.betting import effect_of_the_limit, match_table, windows

    if game.match:
        table = match_table(solution)
        cube = Cubed(
            "win probability",
            match_table=table.chances,
            after_crawford=table.after_crawford,
            error_bound=table.error_bound,
        )
        return {"cube": cube}
    effect = effect_of_the_limit(solution)
    cube = Cubed.from_result(
        None,
        unit="expected payoff" if game.has_gammons else "win probability",
        limit_effect=UNSET if effect is None else effect,
        windows=windows(solution),
    )
    return {"cube": cube}


def _run_facts(solution: Solution) -> dict[str, Any]:
    """Details and bounds from the method, beside its values."""
    run = solution.run
    if not run.details:
        return {}
    facts: dict[str, Any] = {"sweeps": run.sweeps, "claimed_error": run.claimed_error}
    facts |= {"claim_is_bound": run.claim_is_bound, "details": dict(run.details)}
    if solution.gave_up or run.lower is not None:
        low, high = (float(bound[0]) for bound in solution.bounds)
        facts["value_bounds"] = [low, high]
        if not solution.is_score:
            win_probability = solution.graph.view.win_probability
            facts["win_probability_bounds"] = [win_probability(low), win_probability(high)]
    if run.fractions is not None and not _rounding(solution):
        facts |= exactly(solution, run.fractions[0])
    if solution.estimated and not solution.gave_up:
        from rollwise.answer.estimates import Calibration

        errors = Calibration.of(solution)
        start = {name: float(column[0]) for name, column in run.columns.items()}
        drawn = {name: run.details[name] for name in ("samples", "seed", "entries")}
        facts["estimate"] = Estimate.from_result(None, **drawn, **start, in_standard_errors=errors)
    return facts


def exactly(solution: Solution, value: Fraction) -> dict[str, str]:
    """A value, and its win probability, as fractions."""
    from rollwise.methods.result import fraction_text

    exact = {"value_exact": fraction_text(value)}
    chance = solution.graph.view.win_probability(value)
    if chance is not None:
        exact["win_probability_exact"] = fraction_text(chance)
    return exact


def _layers_facts(solution: Solution) -> dict[str, Any]:
    space: LayeredStates = solution.space  # type: ignore[assignment]
    start = space.states[space.start].tolist()
    return {
        **sizes(space),
        "throws_counted": False if space.has_throws else None,
        "keep": space.keep,
        "kept_states": len(solution),
        "layers": len(space.progress),
        "largest_layer": space.largest_layer,
        "start": in_fields(space.field_names, start, field_words(space.game)),
    }


def _seats_facts(solution: Solution, others: OtherEquilibria | None) -> dict[str, Any]:
    graph, profile = solution.graph, solution.equilibrium
    components = graph.components
    first = components.order[components.indptr[list(profile.unsettled[:MOST_NAMED])]]
    at_start = float(profile.error_bounds[0].max())
    return {
        **_sizes_before_throws(graph),
        **seats_worth(graph, profile.worth),
        "components": len(components),
        "start": state_fields(graph, 0),
        "error_bound": profile.error_bound,
        "start_error_bound": UNSET if math.isfinite(profile.error_bound) else at_start,
        "deviation_gain": profile.deviation_gain,
        "mixing_components": profile.mixing_components,
        "mixing_states": len(profile.mixing),
        "ties": profile.ties,
        "unsettled": [state_fields(graph, state) for state in first.tolist()],
        "unsettled_components": len(profile.unsettled),
        "unproved_states": len(profile.unproved) or None,
        "timed_out": profile.timed_out,
        "others": None if others is None else _others(others),
    }


def _others(search: OtherEquilibria) -> Others:
    rows = [
        OtherEquilibrium(
            error_bound=other.found.error_bound,
            deviation_gain=other.found.deviation_gain,
            **seats_worth(other.found.graph, other.found.worth),
            differing_positions=other.differing,
            first_difference=state_fields(other.found.graph, other.first),
        )
        for other in search.others
    ]
    return Others(search.starts, search.seed, search.unsettled, search.components, rows)
