"""Answers about the choice among optimal policies: ranges, second aims and frontiers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

from rollwise.documents.model import (
    UNSET,
    Bound,
    Chance,
    DeviationGain,
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
    as_number,
    bound_text,
    seats_text,
    state_fields,
    worth_lines,
)
from rollwise.documents.scores import EndRange, bound_is_proved, loss_text
from rollwise.documents.solved import Draws, Seats, Unit, seats_worth
from rollwise.graph.naming import state_text
from rollwise.many.ties import SeatTies
from rollwise.numbers.printed import (
    Printed,
    chances,
    column,
    gain_text,
    how_many,
    in_common,
    percent,
    percents,
    rounded_up,
    scaled,
)

if TYPE_CHECKING:
    from rollwise.analysis.frontier import Frontier
    from rollwise.analysis.second_aims import SecondAims
    from rollwise.answer.optimal_set import OptimalSet, Range
    from rollwise.answer.solution import Solution

WINS = "chance to win"
UNPROVED = "unknown, without a proved bound"


class AimValue(Part, frozen=True):
    """The value of a second aim."""

    aim: str
    value: Number
    error_bound: Bound


class NamedRange(EndRange, frozen=True):
    """The range of a quantity over optimal policies."""

    name: str


class AgainstRange(Part, frozen=True):
    """The values of optimal policies against another one."""

    policy: str
    first: Annotated[EndRange, about("moving first")]
    second: Annotated[EndRange, about("moving second")]


class OptimalPolicies(GameDocument, frozen=True, kw_only=True, tag="rollwise/optimal/1"):
    """The differences between optimal policies."""

    start: State
    unit: Unit
    draws: Draws
    value: Value
    win_probability: Chance
    error_bound: Bound
    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    ties: Annotated[Maybe[SeatTies], about("of three or more players: of the equilibrium")] = UNSET
    deviation_gain: Annotated[
        Maybe[DeviationGain], about("of three or more players who follow the policy of the aims")
    ] = UNSET
    reached_states: int
    tied_states: Annotated[int, about("reached states with several equally good actions")]
    loss_bound: Annotated[
        Number,
        about(
            "largest loss of these policies; of three or more players the largest cost of an "
            "equally good action for its mover"
        ),
    ]
    then: Annotated[list[AimValue], about("second aims")]
    ranges: list[NamedRange]
    against: Maybe[AgainstRange] = UNSET

    @property
    def is_proved(self) -> bool:
        """Whether every bound is proved."""
        against = [self.against.first, self.against.second] if self.against else []
        bounds = [one.error_bound for one in (*self.ranges, *against)]
        bounds += [self.error_bound, *(aim.error_bound for aim in self.then)]
        return all(map(bound_is_proved, bounds))

    def blocks(self) -> Iterator[str | Rows]:
        yield self.title
        place, value = state_text(self.start), as_number(self.value)
        if self.ties:
            gets = "gets on average" if self.payoffs else "wins"
            yield f"  an equilibrium; from the start ({place}) each seat {gets}:"
            numbers, worst = seats_text(self, as_number(self.error_bound))
            yield from (f"    seat {seat}: {text}" for seat, text in enumerate(numbers, 1))
            yield f"    ({worst.sure})"
        else:
            yield from worth_lines(place, value, self.error_bound, name=self.unit, draws=self.draws)
        yield (
            f"  several actions are equally good in {self.tied_states:,} of "
            f"{how_many(self.reached_states, 'state')} reached by optimal play"
        )
        if self.tied_states and self.ties:
            yield f"  each costs its mover at most {bound_text(self.loss_bound)} (certified)"
            if self.ties.positions:
                yield f"  {self.ties.text(payoffs=bool(self.payoffs))}"
        elif self.tied_states:
            yield loss_text(self.loss_bound)
        for aim in self.then:
            (worth,) = _written(aim.aim)([as_number(aim.value)], [aim.error_bound])
            text = f"{worth.number} ({worth.sure})"
            yield f"  then {aim.aim}: {text if bound_is_proved(aim.error_bound) else UNPROVED}"
        if not isinstance(self.deviation_gain, UnsetType):
            how = " if all choose so" if self.then else ""
            gain = gain_text(as_number(self.deviation_gain), f" by another policy{how}")
            yield f"  in every position, {gain} (proved)"
        if self.ranges:
            which = "all optimal policies"
            which = which if bound_is_proved(self.loss_bound) else "policies of such actions"
            yield f"  over {'the remaining policies' if self.then else which}:"
        for one in self.ranges:
            ends, worst = one.written(_written(one.name))
            text = f"from {ends[0]} to {ends[1]} ({worst.sure})"
            yield f"    {one.name}: {text if bound_is_proved(one.error_bound) else UNPROVED}"
        if self.against:
            is_chance = self.unit == "win probability"
            wins = "wins" if is_chance else self.unit
            seats = {"first": self.against.first, "second": self.against.second}
            for seat, value_range in seats.items():
                (least, most), worst = value_range.written(chances if is_chance else column)
                text = f"{wins} from {least} to {most} ({worst.sure}{about_draws(self.draws)})"
                text = text if bound_is_proved(value_range.error_bound) else UNPROVED
                yield f"  against {self.against.policy}: moving {seat}, {text}"


def _written(quantity: str) -> Callable[..., list[Printed]]:
    """The format of the amounts of a quantity: percent for ``win:first`` and ``score<=5``."""
    is_chance = re.fullmatch(r"(\w+ )?(win(:[\w-]+)?|draw|score\W+\d+)", quantity)
    return percents if is_chance else column


def optimal_document(
    solution: Solution,
    every: OptimalSet,
    aims: SecondAims,
    ranges: Sequence[Range],
    against: tuple[str, tuple[Range, Range]] | None = None,
) -> OptimalPolicies:
    """The differences between optimal policies.

    Parameters
    ----------
    every : OptimalSet
        All optimal policies.
    aims : SecondAims
        The policies chosen by second aims, if there are any.
    ranges : sequence of Range
        Ranges over the chosen policies.
    against : str and two of Range, optional
        Another policy, and the values against it from both seats.
    """
    graph, versus, profile = solution.graph, None, solution.profile
    seats: dict[str, Any] = {"win_probabilities": UNSET}  # those of a solution are of all states
    if profile is not None:
        from rollwise.many.equilibrium import proved
        from rollwise.many.finding import Found

        chosen = profile
        if aims.aims:  # breaking ties may move others to deviate
            policy = Found(aims.policy_of(solution).probability, [])
            chosen = proved(graph, profile.game, policy, {})
        seats |= {**seats_worth(graph, profile.worth), "error_bound": profile.error_bound}
        seats |= {"ties": profile.ties, "deviation_gain": chosen.deviation_gain}
    if against is not None:
        versus = AgainstRange(against[0], *map(EndRange.from_result, against[1]))
    return OptimalPolicies.on(
        graph,
        solution,
        kind="certified",
        start=state_fields(graph, 0),
        reached_states=every.graph.n_states,
        tied_states=every.n_ties,
        loss_bound=every.loss,
        then=[AimValue(aim, *worth) for aim, worth in zip(aims.aims, aims.values, strict=True)],
        ranges=ranges,
        against=versus,
        **seats,
    )


class FrontierCorner(Part, frozen=True):
    """A corner of the frontier."""

    mean: Annotated[Number, about("of the game's own aim: points, or the chance to win")]
    value: Annotated[Number, about("of the second aim")]
    mean_bound: Bound
    error_bound: Bound


class ScoreFrontier(GameDocument, frozen=True, kw_only=True, tag="rollwise/frontier/1"):
    """The frontier of the game's own aim against a second one."""

    own: Annotated[str, about("mean score, mean payoff or chance to win")]
    aim: str
    is_chance: Annotated[bool, about("whether the second aim is a probability")]
    gap: Annotated[Number, about("largest distance of a policy beyond the drawn frontier")]
    corners: list[FrontierCorner]

    def blocks(self) -> Iterator[str | Rows]:
        corners, wins = self.corners, self.own == WINS
        means = (percents if wins else column)(
            [c.mean for c in corners], [c.mean_bound for c in corners]
        )
        values = (percents if self.is_chance else column)(
            [c.value for c in corners], [c.error_bound for c in corners]
        )
        pairs = [(as_number(c.mean), as_number(c.value)) for c in corners]
        # units of the aim for a unit of the mean, between neighbouring corners
        slopes = [
            abs(far[1] - near[1]) / abs(far[0] - near[0]) / (100 if wins else 1)
            for near, far in pairwise(pairs)
        ]
        gained = [percent(one) if self.is_chance else f"{one:.6g}" for one in slopes]
        rows = zip(
            [one.number for one in means],
            [one.number for one in values],
            ["", *gained],
            strict=False,
        )
        of = "a percentage point" if wins else "a point of the mean"
        yield Rows((self.own, self.aim, f"gained {of}"), list(rows))
        far = as_number(self.gap)
        gap = f"{rounded_up(scaled(far, 100))} %" if self.is_chance else f"{rounded_up(far)}"
        bound = f"no policy lies more than {gap} beyond the line between two neighbours"
        if len(corners) == 1:
            bound = "this policy is best at both"
        yield (
            f"certified ± {in_common(means)[1].error} and ± {in_common(values)[1].error}; {bound} "
            "(certified)"
        )


def frontier_document(frontier: Frontier) -> ScoreFrontier:
    """The frontier of a game's own aim against a second one."""
    graph = frontier.subject
    assert graph is not None
    own = WINS if not graph.is_score else "mean payoff" if graph.has_stakes else "mean score"
    return ScoreFrontier.on(graph, frontier, kind="certified", own=own)
