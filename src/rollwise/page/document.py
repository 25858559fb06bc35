"""The data of a page: the packed graph of a game, its values, its policies and its words.

A document is one run of bytes: the length of a head, the head as JSON, and parts one after the
other, with their lengths in the head. All text is in the head, as text and never as HTML.

Only the values of `anchors` are saved, as doubles. The page computes other states' values by
looking ahead, when it needs them.
"""

from __future__ import annotations

import inspect
import json
import re
import struct
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise import __version__
from rollwise.answer.references import AnyPolicy, Policies
from rollwise.answer.solution import Solution
from rollwise.coach.json_lines import record_head
from rollwise.coach.ledger import GRADES, stake
from rollwise.coach.tally import (
    losses_rest_on_ties,
    policy_losses,
    score_bins,
    shares_against,
)
from rollwise.errors import PolicyError, RollwiseError
from rollwise.game import Game
from rollwise.graph import NO_THROW, ROLLS_LEFT, StateGraph
from rollwise.graph.choices import first_of_each_state, has_choice, outcome_action, places_of
from rollwise.graph.packed import PackedGraph, anchors, packed, stream
from rollwise.graph.policies import Policy
from rollwise.many.seats import payoffs_of
from rollwise.numbers.printed import rounded_up, scaled
from rollwise.page.words import Fields, Progress, sets_of, values_of, words_of
from rollwise.parameters import typed
from rollwise.plot.fields import changes_along, often_met, set_fields
from rollwise.thumb.language import Rule
from rollwise.thumb.sentences import sentence_of
from rollwise.words import Narrator, Words
from rollwise.words.narration import FACES

MADE_BY = f"rollwise {__version__}"
FORMAT = 1
SAMPLE = 10_000  # outcomes examined for the fields that change within a turn

Api = Mapping[str, bool | str]


class OpenFacts(NamedTuple):
    """Facts about a whole game, in addition to the answer at its start.

    Attributes
    ----------
    error_bound : float
        Of all positions.
    fingerprint : str
        See `rollwise.coach.table.Table.fingerprint`.
    fields : mapping
        The numbers of a sample of positions, an array for each field.
    """

    error_bound: float
    fingerprint: str
    fields: Fields


def document(
    solution: Solution,
    progress: Progress | None = None,
    policies: Sequence[AnyPolicy] = (),
    api: Api | None = None,
    fits: Callable[[bytes], None] = lambda _: None,
) -> bytes:
    """The data of a page of a solved game, its policies and other given policies.

    Parameters
    ----------
    fits : callable
        Called with the graph and its values, before policies and words are asked. It raises an
        exception if they are too large.
    """
    by_rules = solution  # policies know the states of the rules only
    if solution.graph.has_pool:  # its turns have states between throws
        solution = replace(solution, space=solution.graph.flat)
    graph = solution.graph
    if progress is not None:
        progress("packing the graph", 0, None)
    small = packed(graph)
    known = small.place[_known(solution)]
    known.sort()
    parts = {
        **{f"field {f}": column for f, column in enumerate(small.fields)},
        "menu": small.menu,
        "slots": small.slots,
        "targets": small.targets,
        "anchors": stream(np.diff(known, prepend=0)),
        **{
            f"values {seat}": values.astype("<f8").view(np.uint8).reshape(-1, 8).T.tobytes()
            for seat, values in enumerate(_values(solution, small.states[known]).T)
        },
    }
    fits(b"".join(parts.values()))
    if progress is not None:
        progress("comparing opponents", 0, None)
    record, losses = _record(by_rules), policy_losses(by_rules, policies)
    shares = shares_against(by_rules, policies)
    rests_on_ties = losses_rest_on_ties(by_rules, policies)
    found, failed = _policies(by_rules, policies)
    narrator = Narrator(graph, solution.game)
    words, of_words = words_of(narrator, small, progress)
    parts |= of_words
    players: list[dict[str, Any]] = []
    for name, about, policy in found:
        if progress is not None:
            progress("asking the policies", len(players), None)
        mixes = not np.isin(policy.probability, (0.0, 1.0)).all()
        parts[f"policy {name}"] = (_mixed if mixes else _taken)(graph, small, policy)
        players.append({"name": name, "about": about, "mixes": mixes})
    head = {
        **_about(solution),
        **_tables(graph, small),
        **_throw_dice(narrator),
        **_endings(solution),
        **_certainty(solution),
        "has_pool": by_rules.graph.has_pool,
        "anchors": len(known),
        "map": _map(solution),
        "policies": players,
        "failed": failed,
        "record": record,
        "losses": [{"name": name, "loss": loss} for name, loss in losses.items()],
        "losses_rest_on_ties": rests_on_ties,
        "shares": shares,
        "scores": [list(one) for one in score_bins(solution)],
        **words,
        "seen_by_next": _seen_by_next(solution),
        "is_open": False,
        "api": api,
        "parts": {name: len(part) for name, part in parts.items()},
    }
    return _packed(head, parts.values())


def open_document(part: Solution, facts: OpenFacts, api: Api) -> bytes:
    """The data of the page of a game with a server: the answer at the start."""
    graph, narrator = part.graph, Narrator(part.graph, part.game)
    record, sets = _record(part), sets_of(narrator, facts.fields)
    head = {
        **_about(part),
        **_certainty(part),
        "bound": bound_text(facts.error_bound, part.is_score),
        "has_pool": part.graph.has_pool,
        "fields": list(facts.fields),
        "ranges": [[int(column.min()), int(column.max())] for column in facts.fields.values()],
        "sets": sets,
        "values": values_of(narrator, facts.fields, sets),
        "has_throws": bool(graph.throw_names),
        "no_throw": NO_THROW if graph.throw_names else None,
        "start": graph.view[0].address,
        "policies": [
            {"name": name, "about": about_policy(function), "mixes": True}
            for name, function in ({} if part.game is None else part.game.policies()).items()
        ],
        "failed": [],
        "record": record and record | {"rules": facts.fingerprint},
        "losses": [],
        "losses_rest_on_ties": False,
        "shares": {},
        "scores": [],
        "faces": [narrator.face_name(face) for face in range(1, FACES + 1)],
        "seen_by_next": _seen_by_next(part)[: len(facts.fields)],
        "is_open": True,
        "api": api,
        "parts": {},
    }
    return _packed(head, ())


def _packed(head: Mapping[str, Any], parts: Iterable[bytes]) -> bytes:
    text = json.dumps(head, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return b"".join([struct.pack("<I", len(text)), text, *parts])


def _about(solution: Solution) -> dict[str, Any]:
    """The description of the game."""
    graph, game = solution.graph, solution.game
    about = [] if game is None else paragraphs(game, paid=graph.has_stakes)
    return {
        "format": FORMAT,
        "made_by": MADE_BY,
        "title": graph.title,
        "name": solution.heading,
        "about": about,
        "goal": goal(about, graph.objective, graph.parameters),
        "parameters": parameters_of(game, graph.parameters),
        "fields_about": _fields_about(solution),
        "describes": game is not None and _describes(game),
        "players": graph.players,
        "objective": graph.objective,
        "sign": graph.view.sign,
        "is_score": graph.is_score,
        "has_stakes": graph.has_stakes,
        "has_rewards": bool(graph.lotteries.reward.any()),
        "unit": () if game is None else list(game.action_unit),
        "worth_name": graph.view.worth_name,
        "average": getattr(game, "rate", None),
    }


def _describes(game: Game) -> bool:
    """Whether positions have words besides their fields, which the board shows."""
    if type(game).describe is Game.describe:
        return False
    start = game.start()  # an average has the words of its game, which may have none
    return Words(game).text("describe", start) != Game.describe(game, start)


def paragraphs(game: Game, *, paid: bool = False) -> list[str]:
    """The description of a game, by paragraphs; without one, a sentence with its aim.

    Parameters
    ----------
    paid : bool
        Whether it is played for payoffs.
    """
    wanted = {
        "maximize": "the most points",
        "minimize": "the fewest points",
        "average": "the most points on average in the long run",
    }
    aim = wanted.get(game.objective, "the largest payoff" if paid else "to win")
    whose = {1: "one player, who", 2: "two players, and each"}
    plain = f"{game.heading} is for {whose.get(game.players, f'{game.players} players, and each')}"
    text = game.description or f"{plain} wants {aim}."
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def parameters_of(game: Game | None, values: Mapping[str, Any]) -> list[dict[str, str]]:
    """The name, value and meaning of each parameter."""
    abouts = {} if game is None else {spec.name: spec.about for spec in game.specs}
    return [
        {"name": name, "value": typed(value), "about": abouts.get(name, "")}
        for name, value in values.items()
    ]


def goal(about: Sequence[str], objective: str, parameters: Mapping[str, Any]) -> str:
    """The first part of a description, and the first sentence about winning if it has none.

    Names of parameters are replaced by their values. In games for points the page adds the
    objective.
    """
    names_end = re.compile(r"\b(win|wins|won)\b").search
    first = about[0] if about else ""
    if objective == "win" and not names_end(first):
        sentences = re.split(r"(?<=[.!?]) (?=[A-Z\d])", " ".join(about[1:]))
        first = " ".join(filter(None, [first, next(filter(names_end, sentences), "")]))
    values = {f"`{name}`": typed(value) for name, value in parameters.items()}
    return re.sub(r"`\w+`", lambda name: values.get(name[0], name[0]), first).replace("`", "")


def _fields_about(solution: Solution) -> dict[str, str]:
    """The comments of the fields of a game's state, where its class has them."""
    if solution.game is None:
        return {}
    try:
        source = inspect.getsource(type(solution.game.made_from.start()))
    except (OSError, TypeError):  # a plain tuple, or typed in a session
        return {}
    return dict(re.findall(r"^    (\w+)\s*:[^#\n]*#\s*(.+)$", source, re.MULTILINE))


def _tables(graph: StateGraph, small: PackedGraph) -> dict[str, Any]:
    """The graph, but for its streams."""
    lotteries = graph.lotteries
    labels: dict[int, None] = dict.fromkeys(small.kinds[:, 0].tolist())
    return {
        "fields": list(graph.field_names),
        "has_throws": bool(graph.throw_names),
        "no_throw": NO_THROW if graph.throw_names else None,
        "ranges": [_range(column) for column in graph.fields.T],
        "n_states": graph.n_states,
        "n_positions": len(graph.states),
        "start": int(small.place[0]),
        "kinds": small.kinds.tolist(),
        "names": [[label, graph.vocabulary.text(label)] for label in labels],
        "menus": small.menus,
        "throws": None if graph.throws is None else graph.throws.tolist(),
        "lotteries": {
            "sizes": np.diff(lotteries.indptr).tolist(),
            "reward": lotteries.reward.tolist(),
            "weight": lotteries.weight.tolist(),
            "over": lotteries.over.astype(int).tolist(),
            "passes": lotteries.passes.astype(int).tolist(),
        },
    }


def _range(column: NDArray[np.int32]) -> list[int]:
    """The least and the largest number of a field; a field without a throw doesn't count."""
    numbers = column[column != NO_THROW]
    return [int(numbers.min()), int(numbers.max())] if len(numbers) else [0, 0]


def _known(solution: Solution) -> NDArray[np.int64]:
    """The states with saved values: the start, anchors, and those of mixed actions.

    The first screen shows the value of the start, and so needs no other one.
    """
    graph, found = solution.graph, np.union1d(anchors(solution.graph), [0])
    if solution.profile is None:
        return found
    mixed = ~np.isin(solution.profile.policy.probability, (0.0, 1.0))
    return np.union1d(found, graph.action_state[mixed])


def _values(solution: Solution, states: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values of states: of the mover, or in an equilibrium of each seat, a column each."""
    if solution.profile is None:
        return solution.values[states, None]
    values: NDArray[np.float64] = solution.profile.as_values(solution.profile.values[states])
    return values


def _endings(solution: Solution) -> dict[str, Any]:
    """The payoffs of lotteries to the mover, or in an equilibrium to each seat, as values."""
    lotteries = solution.graph.lotteries
    if solution.profile is None:
        return {"payoffs": lotteries.payoff[:, None].tolist()}
    return {"payoffs": solution.profile.as_values(payoffs_of(solution.graph)).tolist()}


def _throw_dice(narrator: Narrator) -> dict[str, Any]:
    """The dice of each throw, by its numbers, and the fields with the numbers, if they are some."""
    graph = narrator.graph
    columns = [f for f in graph.throw_columns if graph.columns[f] != ROLLS_LEFT]
    layered = graph.throws is not None
    throws = np.unique(graph.rows[:, columns] if graph.throws is None else graph.throws, axis=0)
    dice = {
        " ".join(map(str, throw)): [[cell.kind, cell.text, *cell.numbers] for cell in cells]
        for throw in throws.tolist()
        if NO_THROW not in throw and (cells := narrator.throw_cells(throw))
    }
    return {"throw_dice": dice, "dice_fields": columns if dice and not layered else []}


def _certainty(solution: Solution) -> dict[str, Any]:
    """The error bound of the values, and the threshold for equally good choices.

    `best_below` lies between the costs of the best actions and of the others. The page computes
    values itself, and their last digits can't affect the choice.
    """
    cost, best = solution.regret, solution.is_best
    least = float(cost[~best].min(initial=np.inf))
    most = float(cost[best].max(initial=0.0))
    between = (most + least) / 2 if np.isfinite(least) else 1.0
    return {
        "bound": bound_text(solution.error_bound, solution.is_score),
        "best_below": between,
        "stake": stake(solution),
        "grades": [list(row) for row in GRADES],
    }


def bound_text(bound: float, is_score: bool) -> str:
    """How far values can be off, in the units of the page."""
    return rounded_up(scaled(bound, 1 if is_score else 50))


def _record(solution: Solution) -> dict[str, Any]:
    """The headers of a game's record; empty without rules."""
    game = solution.game
    if game is None:
        return {}
    return record_head(game, {}) | {"rules": solution.graph.content_hash}


def _policies(
    solution: Solution, others: Sequence[AnyPolicy]
) -> tuple[list[tuple[str, str, Policy]], list[str]]:
    """The policies of a game, and others: names, descriptions, and policies.

    A policy of the game that fails is no opponent: a warning says so, and its name is in the
    second list.
    """
    graph, game = solution.graph, solution.game
    found, failed = [], list[str]()
    if (
        solution.profile is not None
        or (solution.best_actions != first_of_each_state(graph, solution.is_best)).any()
    ):
        found.append(("optimal", "", solution.policy))
    for name, function in ({} if game is None else game.policies()).items():
        try:
            found.append(
                (name, about_policy(function), Policies.of(solution, any_players=True).find(name))
            )
        except RollwiseError as error:
            # in a derived game, policies of the inner rules needn't know the added fields
            if game is not None and game.made_from is game:
                warn_of_failing(name, error)
                failed.append(name)
    known = {"random": Policy.uniform(graph), **{name: policy for name, _, policy in found}}
    for asked in others:
        policy, about = Policies.of(solution, any_players=True).find(asked), ""
        if isinstance(asked, str) and asked.endswith(".json"):
            about = sentence_of(Rule.load(asked, graph, game), graph)
        alike = known.setdefault(policy.name, policy)
        if alike is policy:
            found.append((policy.name, about, policy))
        elif not np.array_equal(alike.probability, policy.probability):
            raise PolicyError(
                f"{graph.title}: two opponents are called {policy.name}; give one another name"
            )
    return found, failed


def warn_of_failing(name: str, error: RollwiseError) -> None:
    """Warn that a page has no opponent with a policy of the rules that fails."""
    warnings.warn(f"the page leaves out the policy {name}: {error}", stacklevel=2)


def about_policy(function: object) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _taken(graph: StateGraph, small: PackedGraph, policy: Policy) -> bytes:
    """The action of a policy in each state with a choice, as an index within the state."""
    taken = places_of(graph, first_of_each_state(graph, policy.probability == 1.0))
    with_choice = small.states[has_choice(graph)[small.states]]
    return stream(np.diff(taken[with_choice], prepend=0))


def _mixed(graph: StateGraph, small: PackedGraph, policy: Policy) -> bytes:
    """How likely a policy takes each action, in millionths, state by state where it can choose."""
    chosen = small.actions[has_choice(graph)[graph.action_state[small.actions]]]
    return stream(np.rint(1e6 * policy.probability[chosen]).astype(np.int64))


def _map(solution: Solution) -> dict[str, list[int]]:
    """The fields along the axes of the map, and the position at which it opens.

    The field with the most changes within a turn goes across. Down goes the field with the most
    changes of the answer. Sets, and throws among the fields, have no axis if others vary. Of the
    slices, the one with the most positions outside its most frequent answer opens, at the position
    that comes up most often.
    """
    graph = solution.graph
    states = np.flatnonzero(has_choice(graph))
    if not len(states):
        states = np.arange(len(graph.states))
    fields: NDArray[np.int32] = graph.fields[states]
    best = graph.action_label[solution.best_actions[states]]
    answer = np.unique(best, return_inverse=True)[1].astype(np.float64)
    changes, ranges = changes_along(fields, answer), np.ptp(fields, axis=0)
    order = sorted(range(fields.shape[1]), key=lambda f: (-changes[f], -ranges[f], f))
    sets = [f for f in set_fields(solution, states) if f < fields.shape[1]]
    sets += [f for f in graph.throw_columns if f < fields.shape[1] and f not in sets]
    order = [f for f in order if f not in sets] or order
    turn = _changes_in_turn(graph)
    turn[sets] = 0
    axes = sorted(order[:1] if not turn.any() else [int(np.argmax(turn))])
    axes += [f for f in order if f not in axes][:1]
    others = [f for f in range(fields.shape[1]) if f not in axes]
    _, belongs = np.unique(fields[:, others], axis=0, return_inverse=True)
    pairs, sizes = np.unique(
        np.column_stack([belongs, answer.astype(np.int64)]), axis=0, return_counts=True
    )
    most = np.zeros(belongs.max() + 1, np.int64)
    np.maximum.at(most, pairs[:, 0], sizes)
    inside = belongs == np.argmax(np.bincount(belongs) - most)
    often = np.where(inside, often_met(solution)[states], -1.0)
    return {"axes": axes, "at": fields[np.argmax(often)].tolist()}


def _changes_in_turn(graph: StateGraph) -> NDArray[np.int64]:
    """The number of outcomes within a turn that change each field."""
    goes_on = np.flatnonzero((graph.outcome_passes == 0) & (graph.outcome_state >= 0))
    if graph.players == 1 or not len(goes_on):
        return np.zeros(len(graph.field_names), np.int64)
    goes_on = goes_on[:: max(1, len(goes_on) // SAMPLE)]
    before = graph.fields[graph.action_state[outcome_action(graph)[goes_on]]]
    return np.asarray((before != graph.fields[graph.outcome_state[goes_on]]).sum(axis=0))


def _seen_by_next(solution: Solution) -> list[int]:
    """The index of each field in the next player's view; -1 where it is unknown."""
    graph, game = solution.graph, solution.game
    if game is not None and game.base_game is not game:  # the other's points stand elsewhere
        return [-1] * len(graph.field_names)
    return list(Narrator(graph, game).seen_by_next)
