"""The answer of ``rollwise certify``: how far given values or a policy are from the truth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from rollwise.documents.model import (
    UNSET,
    Bound,
    GameDocument,
    Number,
    State,
    UnsetType,
    about,
    as_number,
    number_or_none,
    place_text,
    state_fields,
    unit,
)
from rollwise.numbers.printed import certified, how_many, rounded_up

if TYPE_CHECKING:
    from rollwise.analysis.distance import Distance

Error = Annotated[Number, unit("probability, or points"), about("null: infinite")]


class Certified(GameDocument, frozen=True, kw_only=True, tag="rollwise/certify/1"):
    """The largest error of given values, or the largest loss of a policy."""

    subject: Annotated[Literal["values", "policy"], about("what was given")]
    name: Annotated[str, about("the file or the policy")]
    unit: Annotated[str, about("the name of a value: win probability, expected score or payoff")]
    compared: Annotated[int, about("states with a given value")]
    states: int
    largest_error: Error
    at_least: Annotated[Error, about("proved lower end of the largest error")]
    state: Annotated[State, about("the position of the largest error")]
    given: Number
    value: Annotated[Number, about("the true value there")]
    error_bound: Annotated[Bound, about("of the difference to the true value")]
    claim: Annotated[float | UnsetType, about("the claimed precision")] = UNSET
    is_met: Annotated[
        bool | UnsetType | None, about("whether the claim is true; null: undecided")
    ] = UNSET

    @classmethod
    def of_distance(cls, found: Distance, of: str, claim: float | None) -> Certified:
        worst, high, low = found.worst, found.high, found.low
        largest, least = float(high[worst]), float(low[found.compared].max())
        met: bool | UnsetType | None = UNSET
        if claim is not None:
            met = True if largest <= claim else False if least > claim else None
        return cls.on(
            found.graph,
            kind="certified",
            subject=of,
            name=found.name,
            unit=found.graph.view.worth_name,
            compared=len(found.compared),
            states=found.graph.n_states,
            largest_error=number_or_none(largest),
            at_least=number_or_none(least),
            state=state_fields(found.graph, worst),
            given=number_or_none(float(found.given[worst])),
            value=number_or_none(float(found.true[worst])),
            error_bound=number_or_none(float(found.bounds[worst])),
            claim=UNSET if claim is None else claim,
            is_met=met,
        )

    def blocks(self) -> Iterator[str]:
        what = "values" if self.subject == "values" else "policy"
        yield f"{self.title}: {what} {self.name}"
        count = how_many(self.compared, "state")
        if self.compared < self.states:
            count = f"{self.compared:,} of {how_many(self.states, 'state')}"
        kind = "error" if self.subject == "values" else "loss"
        largest = rounded_up(as_number(self.largest_error))
        place = place_text(self.state)
        yield f"  largest {kind} of {count}: at most {largest} (proved), at {place}"
        given = "infinite" if self.given is None else repr(self.given)
        if self.value is None:
            yield f"  given {given}, and the true {self.unit} is infinite"
        else:
            true = certified(self.value, self.error_bound)
            own = "given" if self.subject == "values" else "with the policy"
            yield f"  {own} {given}, true {self.unit} {true.number} (certified ± {true.bound})"
        if not isinstance(self.claim, UnsetType):
            words = {True: "met", False: "not met", None: "undecided"}
            yield f"  claim {self.claim:g}: {words[self.is_met]}"  # type: ignore[index]
