"""Documents about a whole game: balance, head starts, changes of rules, and habits of players."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from rollwise.documents.model import (
    UNSET,
    Bound,
    Chance,
    Document,
    EquallyGood,
    GameDocument,
    Maybe,
    Number,
    Part,
    State,
    Value,
    about,
    unit,
)
from rollwise.documents.parts import game_head, state_fields
from rollwise.documents.policies import Loss, LossSpread, good_of, spread_of
from rollwise.documents.solved import Unit
from rollwise.graph.policies import ties_in_play

if TYPE_CHECKING:
    from rollwise.analysis.balance import Balance
    from rollwise.analysis.difference import Difference
    from rollwise.analysis.exploit import Exploitation, Response
    from rollwise.analysis.handicap import Handicap
    from rollwise.analysis.played import Played
    from rollwise.analysis.tuning import Tuning
    from rollwise.answer.references import Policies
    from rollwise.answer.solution import Solution
    from rollwise.graph import StateGraph
    from rollwise.simulate.lengths import Certified


class Figure(Part, frozen=True):
    """A certified number."""

    value: Number
    error_bound: Bound


def figure(found: Certified | None) -> Figure | None:
    """A number with its certified error bound."""
    return None if found is None else Figure(found.value, found.bound)


class TunedGame(Part, frozen=True):
    """A game of a tuning run."""

    parameters: Annotated[dict[str, str], about("as typed")]
    amount: Number
    error_bound: Bound


class Tuned(Document, frozen=True, tag="rollwise/tune/1"):
    """The games of a tuning run, and the game nearest to the aim."""

    game: str
    parameters: Annotated[dict[str, Any], about("fixed ones")]
    measure: str
    goal: float | str
    reached: bool
    best: TunedGame
    points: list[TunedGame]
    stopped: Annotated[bool, about("by Ctrl-C")]


def tuning_document(game: str, fixed: Mapping[str, str], found: Tuning) -> Tuned:
    """The games of a tuning run, and the game nearest to the aim."""
    best, *points = (
        TunedGame.from_result(point, parameters=dict(point.parameters))
        for point in (found.best, *found.points)
    )
    goal, reached = found.aim.goal, found.reached
    measure = found.aim.measure
    return Tuned(game, dict(fixed), measure, goal, reached, best, points, found.stopped)


class SolvedGame(Part, frozen=True):
    """A game with its value."""

    game: str
    parameters: dict[str, Any]
    positions: int
    value: Value
    win_probability: Chance
    error_bound: Bound
    players: Maybe[int] = UNSET


class ChangedAction(Part, frozen=True):
    """A position with another best action."""

    state: State
    old_action: str
    new_action: str
    cost: Annotated[float, unit("value", "of the old action in the new game")]


class Versions(Document, frozen=True, kw_only=True, tag="rollwise/diff/1"):
    """Two games, and the loss of the old game's strategy in the new one."""

    old: SolvedGame
    new: SolvedGame
    states_in_both: int
    states_changed: int
    states_changed_in_play: int
    loss: Loss
    loss_first: Annotated[Loss, about("moving first")]
    loss_second: Annotated[Loss, about("moving second")]
    spread: LossSpread | None
    exploitability: Annotated[Number, about("gain of a best response, over the seats")]
    error_bound: Bound
    unit: Unit
    changed: list[ChangedAction]


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
        loss_first=loss.first,
        loss_second=loss.second,
        spread=spread_of(loss.spread),
        unit=graph.view.worth_name,
        changed=[
            ChangedAction(
                state_fields(graph, int(state)),
                names.text(int(label[before])),
                graph.vocabulary.text(int(label[after])),
                float(cost),
            )
            for state, before, after, cost in zip(*columns, strict=False)
        ],
    )


def _solved(solution: Solution) -> SolvedGame:
    graph = solution.graph
    value, bound = float(solution.value), float(solution.error_bounds[0])
    facts = {**game_head(graph), "positions": graph.n_positions, "value": value}
    chance = graph.view.win_probability(value)
    return SolvedGame.from_result(None, **facts, win_probability=chance, error_bound=bound)


class GameLength(Part, frozen=True):
    """The distribution of lengths."""

    unit: Annotated[str, about("turns or moves")]
    quantiles: Annotated[dict[str, int | None], about("by percent")]
    chances: Annotated[list[float], unit("probability", "of the lengths from 0")]
    longer: Annotated[Chance, about("of a longer game")]


class ActionUse(Part, frozen=True):
    """The use of an action in good play."""

    number: int
    name: str
    offered: Annotated[int, about("positions with the action")]
    best: Annotated[int, about("positions where it is a best action")]
    only_best: Annotated[int, about("positions where it is the only one")]
    in_a_game: Annotated[float, about("how often it is taken")]
    dominated_by: str | None


class DecisionFigures(Part, frozen=True):
    """Decisions in good play."""

    positions: Annotated[int, about("with a choice")]
    positions_that_matter: int
    in_a_game: Figure
    that_matter_in_a_game: Figure
    threshold: Annotated[float, about("a decision matters beyond this loss")]
    never_best: Annotated[list[str], about("actions")]
    options: list[ActionUse]


class DecidedTurn(Part, frozen=True):
    """The turn in which the winner is nearly certain."""

    mean_turn: Number
    quantiles: Annotated[dict[str, int | None], about("by percent")]
    chances: Annotated[list[float], unit("probability", "of the turns from 0")]
    later: Chance


class SkillFigures(Part, frozen=True):
    """Results of levels of skill against each other."""

    share: Figure
    levels: list[str]
    means: Annotated[list[list[float]], about("the row's level against the column's")]
    against_best: list[float]
    error_bound: Bound


class BalanceRule(Part, frozen=True):
    """A rule of thumb."""

    numbers: Annotated[int, about("integers in the rule")]
    loss: Loss
    spread: LossSpread | None
    error_bound: Bound
    text: str


class SampleMean(Part, frozen=True):
    """A mean over simulated games."""

    mean: float
    standard_error: float


class BesideFigure(Part, frozen=True):
    """A figure beside simulated games."""

    name: str
    exact: float
    error_bound: Bound
    samples: list[SampleMean]
    standard_errors_off: float


class PlayedFigures(Part, frozen=True):
    """All figures beside simulated games."""

    games: int
    seeds: list[int]
    figures: list[BesideFigure]
    disagreements: Annotated[list[str], about("differences beyond chance")]


class Balanced(GameDocument, frozen=True, kw_only=True, tag="rollwise/balance/1"):
    """Edge, luck, length, decisions, drama and skill of a game."""

    positions: int
    unit: Unit
    value: Figure
    win_probability: Chance
    luck: Annotated[Figure, about("standard deviation of the result")]
    edge: Number
    equally_good: EquallyGood | None
    turns: Figure
    moves: Figure
    length: GameLength
    decisions: DecisionFigures
    draws: Annotated[Figure | None, about("share of drawn games")]
    lead_changes: Annotated[Figure | None, about("in a game")]
    comebacks: Annotated[Figure | None, about("share of games")]
    decided: DecidedTurn | None
    skill: SkillFigures | None
    rules: list[BalanceRule] | None
    played: Annotated[PlayedFigures | None, about("with --simulate")]


def balance_document(found: Balance, played: Played | None = None) -> Balanced:
    """The figures of a game; each with its proved error bound, or none where it has none."""
    from rollwise.analysis.balance import QUANTILES

    solution, chosen, drama, skill = found.solution, found.decisions, found.drama, found.skill
    graph, lasts = solution.graph, found.lengths

    def quantiles(of: Any) -> dict[str, int | None]:
        return {str(q): of.quantile(q / 100) for q in QUANTILES}

    decided = None
    if drama is not None:
        turn = drama.decided
        decided = DecidedTurn(turn.mean, quantiles(turn), turn.turn.tolist(), turn.later)
    return Balanced.on(
        graph,
        kind="certified",
        positions=graph.n_positions,
        unit=graph.view.worth_name,
        value=figure(found.value),
        win_probability=graph.view.win_probability(found.value.value),
        luck=figure(found.luck),
        edge=found.edge,
        equally_good=good_of(ties_in_play(graph, solution.policy)),
        turns=figure(found.turns),
        moves=figure(found.moves),
        length=GameLength(lasts.unit, quantiles(lasts), lasts.chance.tolist(), lasts.tail),
        decisions=DecisionFigures.from_result(
            chosen,
            positions_that_matter=chosen.matter,
            in_a_game=figure(chosen.in_a_game),
            that_matter_in_a_game=figure(chosen.matter_in_a_game),
            options=[ActionUse.from_result(option) for option in chosen.options],
        ),
        draws=None if drama is None else figure(drama.draws),
        lead_changes=None if drama is None else figure(drama.lead_changes),
        comebacks=None if drama is None else figure(drama.comebacks),
        decided=decided,
        skill=None if skill is None else SkillFigures.from_result(skill, share=figure(skill.share)),
        rules=None
        if found.rules is None
        else [
            BalanceRule.from_result(rule, spread=spread_of(rule.spread))
            for rule in found.rules.rules
        ],
        played=None if played is None else _played(played),
    )


def _played(played: Played) -> PlayedFigures:
    figures = [
        BesideFigure.from_result(
            one,
            samples=[SampleMean(*sample) for sample in one.samples],
            standard_errors_off=one.furthest,
        )
        for one in played.figures
    ]
    return PlayedFigures(played.games, list(played.seeds), figures, played.disagreements())


SEATS = ("first", "second", "mean")


class NearestHeads(Part, frozen=True):
    """The head start nearest to an even game, for each seat of the stronger player."""

    first: int | None
    second: int | None
    mean: int | None


class HeadStart(Part, frozen=True):
    """The result with a head start."""

    points: int
    first: Annotated[Figure | None, about("moving first")]
    second: Annotated[Figure | None, about("moving second")]
    mean: Annotated[Figure | None, about("over both seats")]


class Handicapped(GameDocument, frozen=True, kw_only=True, tag="rollwise/handicap/1"):
    """The worth of each head start, and the nearest ones to an even game."""

    field: Annotated[str, about("of the points given")]
    other: Annotated[str, about("the same field of the other player")]
    policy: str
    against: str
    unit: Unit
    even: Annotated[float, about("the result of an even game")]
    nearest: NearestHeads
    heads: list[HeadStart]


def handicap_document(graph: StateGraph, found: Handicap) -> Handicapped:
    """The worth of each head start, and the nearest ones to an even game."""
    nearest = {which: found.nearest(which) for which in SEATS}
    heads = [
        HeadStart(head.points, *(figure(getattr(head, which)) for which in SEATS))
        for head in found.heads
    ]
    return Handicapped.on(
        graph,
        found,
        kind="certified",
        unit=graph.view.worth_name,
        nearest=NearestHeads(*(None if one is None else one.points for one in nearest.values())),
        heads=heads,
    )


class TriedResponse(Part, frozen=True, kw_only=True):
    """A response to a player, on average over the seats."""

    trust: Annotated[float, about("0 is optimal play, 1 full trust in the learned habits")]
    gain: Annotated[Figure, about("against the learned player")]
    promise: Annotated[Figure, about("against any player nearly sure to fit the games")]
    risk: Annotated[Figure, about("the most that an opponent can win from it")]
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


def exploitation_document(
    policies: Policies, player: str, games: int, risk: float, found: Exploitation, limit: int
) -> Exploited:
    """The choices of a player, and the responses to them with gain and risk."""
    from rollwise.analysis.exploit import differences

    graph = policies.graph
    states, actions, gains = differences(policies, found)
    labels, text = graph.action_label, graph.vocabulary.text
    usual = policies.solution.best_actions
    columns = (states[:limit].tolist(), actions.tolist(), gains.tolist())
    return Exploited.on(
        graph,
        kind="certified",
        player=player,
        games=games,
        decisions=found.friend.decisions,
        states=found.friend.states,
        unit=graph.view.worth_name,
        risk_allowed=risk,
        optimal=_response(found.optimal, likely=found.likely_optimal),
        best=_response(found.best, likely=found.likely),
        tried=[_response(one) for one in found.responses],
        states_that_differ=len(states),
        differences=[
            DifferentAction(
                state_fields(graph, s), text(int(labels[usual[s]])), text(int(labels[a])), gain
            )
            for s, a, gain in zip(*columns, strict=False)
        ],
    )


def _response(found: Response, **likely: Any) -> TriedResponse:
    names = ("gain", "promise", "risk")
    figures = {name: figure(getattr(found, name)) for name in names}
    return TriedResponse.from_result(found, **figures, **likely)
