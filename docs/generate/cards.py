"""A card for each game: its rules as its docstring tells them, and facts found by solving it.

Only digits that are certified are printed, and no times, so that a card changes
only with the rules, or with what is known of the game.
"""

from __future__ import annotations

import inspect
import json
import textwrap
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

import rollwise
from rollwise import hidden
from rollwise.analysis.losses import loss_of
from rollwise.analysis.second_aims import length_ranges
from rollwise.answer import kept
from rollwise.answer.average import average_of, average_of_policy
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import Policies
from rollwise.builders.rules import Rules
from rollwise.cli.hidden_games import solved_document
from rollwise.derive.average import Average
from rollwise.game import Game, parameter_specs
from rollwise.games import available
from rollwise.graph.policies import Policy, ties_in_play
from rollwise.numbers.printed import how_many
from rollwise.parameters import typed
from rollwise.plot.fields import action_name
from rollwise.simulate.match import expected_lengths
from rollwise.words import Narrator

ROOT = Path(__file__).resolve().parents[2]
ANSWERS, LARGE = (
    tomllib.loads((ROOT / "tests" / f"{name}.toml").read_text(encoding="utf-8"))
    for name in ("answers", "large_answers")
)
MEASURED = ROOT / "benchmarks" / "large.json"
OWN = ("The maintainers' own", "A program written", "A value iteration written")  # not published
TEACHES = tomllib.loads(Path(__file__).with_name("teaches.toml").read_text(encoding="utf-8"))
GAMES = 20  # that are played; of these the one with most decisions is shown
WIDTH = 96  # letters in a line
WORTHS = ("win_probability", "score", "payoff")  # of an answer
DIGITS = 9  # after the point


Fact = tuple[str, str]  # a known answer, its source

# Too large for one graph, with the parameters of a small version: they take minutes.
BY_LAYERS = {"bozo": {"sheet": "three"}, "yahtzee": {"boxes": 2}, "yatzy": {"boxes": 2}}


def index() -> str:
    """The page that lists the cards."""
    rows = []
    for name, cls in sorted([*available().items(), *available(hidden=True).items()]):
        rows.append(f"- [{title(name)}]({name}.md) ({_players(cls)}): {TEACHES[name]}")
    return INDEX + "\n".join(rows) + "\n"


def _players(cls: type[Game]) -> str:
    """For how many a game is, in words."""
    ranges = [spec for spec in parameter_specs(cls) if spec.name == "players"]
    least, most = (ranges[0].at_least, ranges[0].at_most) if ranges else (cls.players,) * 2
    return WORDS[int(least)] + (f" to {WORDS[int(most)]}" if most != least else "")


WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight")
INDEX = """\
# Which games come with rollwise?

Each game has a card: rules, parameters, a position with its best action, the certified answer for
the default parameters, rules of thumb, and published answers. The rule sheets are in
[src/rollwise/games](../../src/rollwise/games).

A rule of thumb for two players *loses* so many games of a hundred (or so much of a stake) against
perfect play, on average of both seats, and *to an expert*, the best response. Published answers of
large games without a [recorded run](../../benchmarks/RESULTS.md#known-answers-of-large-games) are
marked *not compared*.

Games, numbers of players, and lessons:

"""


def card(name: str) -> str:
    """The card of a game, in Markdown."""
    cls = available()[name]
    game = cls()
    if name in BY_LAYERS:
        return _card_by_layers(game)
    solution = rollwise.solve(game)
    parts = [
        f"# {title(name)}",
        inspect.getdoc(cls) or "",
        _parameters(cls),
        position(name),
        "## Answer",
        _facts(solution),
    ]
    if cls.policies():
        parts += ["## Rules of thumb", _policies(game, solution)]
    return _joined([*parts, _known(name, cls)])


def hidden_card(name: str) -> str:
    """The card of a game with hidden dice or simultaneous choices."""
    cls = available(hidden=True)[name]
    found = hidden.solve(cls())
    about = solved_document(found)
    shown = about.value_exact or digits(found.value, found.error_bound, DIGITS - 1)
    sizes = how_many(about.positions, "position")
    if about.situations:
        sizes += f", {about.histories:,} histories, {about.situations:,} situations of both players"
    if about.unit == "payoff":
        worth = f"The expected payoff of the first player is **{shown}**"
    else:
        chance = digits(50 * (1 + found.value), 50 * found.error_bound, DIGITS - 3)
        worth = f"The first player wins **{chance} %** of the games (value {shown})"
    proof = "in fractions" if found.is_exact else f"to {DIGITS - 1} digits or more"
    facts = [
        _fact(_given(known.get("parameters", {})), known["value"], known)
        for known in ANSWERS["hidden"]
        if known["game"] == name
    ]
    parts = [
        f"# {title(name)}",
        inspect.getdoc(cls) or "",
        _parameters(cls),
        "## Answer",
        f"- {worth}, proved {proof}.\n- {sizes}.",
    ]
    return _joined([*parts, _facts_known(facts)])


def _card_by_layers(game: Game) -> str:
    """The card of a game that is too large for one graph."""
    solution = kept.solve_by_layers(game)
    n, layers = len(solution.space.states), len(solution.space.progress)
    turn = Rules(game).turn_states
    parts = [
        f"# {title(game.name)}",
        game.description,
        _parameters(type(game)),
        position(game.name),
        "## Answer",
        f"The largest expected score is **{digits(solution.value, solution.error_bound)}**\n"
        f"({n:,} positions, each with a turn of {turn:,} states; solved in {layers} layers).",
        _known(game.name, type(game)),
    ]
    return _joined(parts)


def _joined(parts: list[str]) -> str:
    return "\n\n".join(filter(None, parts)) + "\n"


def title(name: str) -> str:
    """A game's name as a heading."""
    return (available() | available(hidden=True))[name].heading


def _parameters(cls: type[Game]) -> str:
    specs = parameter_specs(cls)
    rows = []
    for spec in specs:
        span = "" if spec.type is bool else f" ({spec.range_text.removeprefix('from ')})"
        rows.append(f"- `{spec.name}={typed(spec.default)}`{span}: {spec.about}")
    return "\n".join(rows)


def position(name: str) -> str:
    """A position of a game, as `rollwise play` shows it, and its best action."""
    cls = available()[name]
    game = cls(**BY_LAYERS.get(name, {}))
    solution = rollwise.solve(game)
    narrator, state = Narrator(solution.graph, game), middle(solution)
    here = solution.graph.view[state]
    best = int(solution.graph.action_label[solution.best_actions[state]])
    lines = [narrator.board(state), *textwrap.wrap(narrator.position(state), WIDTH)]
    if here.is_choice:
        lines.append(f"The best of {len(here.actions)} choices: {action_name(solution, best)}")
    return "\n".join(["```text", *(line for line in lines if line), "```"])


def middle(solution: rollwise.Solution) -> int:
    """A decision from a game between perfect players; a position if there is none.

    It is as unlike the start as any, and the nearest to the middle of the longest of some games.
    """
    games = [met(solution, seed) for seed in range(GAMES)]
    longest = max(games, key=len)
    rows = solution.graph.fields
    unlike = [int(np.count_nonzero(rows[s] != rows[0])) for s in longest]
    half = len(longest) // 2
    return longest[max(range(len(longest)), key=lambda k: (unlike[k], -abs(k - half)))]


def met(solution: rollwise.Solution, seed: int) -> list[int]:
    """The states of a game between perfect players in which there is a choice, or else all."""
    random, view, state = np.random.default_rng(seed), solution.graph.view, 0
    found: list[int] = []
    while True:
        found.append(state)
        action = view.action(int(solution.best_actions[state]))
        outcome = action.outcomes[int(random.choice(len(action.chances), p=action.chances))]
        if outcome.is_over:
            return [s for s in found if view[s].is_choice] or found
        state = outcome.target


def _facts(solution: rollwise.Solution) -> str:
    graph = solution.graph
    shown = digits(solution.value, solution.error_bound)
    if not solution.is_score:
        chance = float(50 * (1 + solution.value))
        shown = f"{digits(chance, 100 * solution.error_bound, DIGITS - 2)} %"
    if isinstance(solution.game, Average):
        worth = f"The best average in the long run is **{digits(*average_of(solution), 6)}**"
    elif graph.objective != "win":
        aim = "smallest" if graph.objective == "minimize" else "largest"
        worth = f"The {aim} expected score is **{shown}**"
    elif graph.has_stakes:
        whose = "" if graph.players == 1 else " of the first player"
        worth = f"The expected payoff{whose} is **{shown}**"
    else:
        first = "" if graph.players == 1 else "first "
        worth = f"The {first}player wins **{shown}** of the games"
    lasts = _lasts(solution)
    after = graph.n_states - graph.n_positions
    thrown = f", {after:,} after a throw" if after else ""
    length = "; a cycle of play takes" if isinstance(solution.game, Average) else ", in"
    return f"{worth}{length} {lasts} on average ({graph.n_positions:,} states{thrown})."


def _lasts(solution: rollwise.Solution) -> str:
    """How long a game lasts on average; a range where optimal policies differ in it."""
    graph = solution.graph
    lengths = expected_lengths(graph, solution.policy)[0]
    ranges = length_ranges(solution, ["turns", "moves"])
    texts = []
    for k, one in enumerate(lengths):
        if ranges is None:
            texts.append(digits(one.value, one.bound, 4))
        else:
            texts.append(span(ranges[k].least, ranges[k].most, ranges[k].error_bound, 4))
    if ranges is None and ties_in_play(graph, solution.policy) is not None:
        texts = [f"{text} (by one of several best policies)" for text in texts]
    turns, moves = f"{texts[0]} turns", f"{texts[1]} moves"
    if graph.players != 2:
        return moves
    return turns if texts[0] == texts[1] else f"{turns} ({moves})"


def span(least: float, most: float, bound: float, places: int) -> str:
    """A range to so many places, or a number where it is one in these."""
    low, high = (digits(end, bound, places) for end in (least, most))
    return low if low == high else f"{low} to {high}"


def _policies(game: Game, solution: rollwise.Solution) -> str:
    rows = []
    of_two = solution.graph.players == 2
    text = OF_TWO if of_two else _of_one(solution)
    for name, function in type(game).policies().items():
        about = (inspect.getdoc(function) or "").partition("\n")[0].removesuffix(".")
        policy = Policies(solution.graph, game).find(name)
        figures = _rule_of_two(solution, policy) if of_two else _rule_of_one(solution, policy)
        rows.append(f"- `{name}`: {about[0].lower()}{about[1:]}. {text.format(*figures)}.")
    return "\n".join(rows)


OF_TWO = "Loses {}, to an expert {}"


def _of_one(solution: rollwise.Solution) -> str:
    """How a policy of one player does, with places for its worth and its loss."""
    if not solution.graph.is_score:
        return "Wins {} % of the games, worse by {} percentage points"
    kind = "payoff" if solution.graph.has_stakes else "score"
    name = "Average" if isinstance(solution.game, Average) else f"Expected {kind}"
    return f"{name} {{}}, worse by {{}}"


def _rule_of_one(solution: rollwise.Solution, policy: Policy) -> list[str]:
    found = evaluate(solution.graph, policy, starts=[0])
    assert found.bounds is not None
    bound = float(found.bounds[0]) + solution.error_bound
    score, loss = float(found.values[0]), abs(float(found.values[0]) - solution.value)
    if isinstance(solution.game, Average):
        (score, bound), (best, best_bound) = (
            average_of_policy(solution.game, policy),
            average_of(solution),
        )
        bound, loss = bound + best_bound, best - score
    places = 6
    if not solution.graph.is_score:
        score, loss, bound, places = 50 * (1 + score), 50 * loss, 50 * bound, 4
    return [digits(score, bound, places), digits(loss, bound, places)]


def _rule_of_two(solution: rollwise.Solution, policy: Policy) -> list[str]:
    graph = solution.graph
    found = loss_of(Policies(graph, solution.game, solution), policy)
    spread, bound = found.spread, found.error_bound
    assert found.exploitability is not None
    assert found.exploitability_bound is not None
    least = most = found.loss
    if spread is not None:
        assert spread.is_known, f"{graph.title}: the loss of {policy.name} is unknown"
        (least, most), bound = spread.loss, spread.error_bound
    scale, places = (1, 6) if graph.has_stakes else (100, 4)
    shown = span(scale * least, scale * most, scale * bound, places)
    known, known_bound = found.exploitability, found.exploitability_bound
    half = scale if graph.has_stakes else scale / 2
    return [shown, digits(half * known, half * known_bound, places)]


def _known(name: str, cls: type[Game]) -> str:
    facts = []
    for answer in ANSWERS["answer"]:
        if answer["game"] != name or answer["source"].startswith(OWN):
            continue
        parameters = answer.get("parameters", {})
        if "win_probabilities" in answer:
            facts.append(_known_to_many(cls(**parameters), answer))
            continue
        solution = rollwise.solve(cls(**parameters))
        what, here = "win_probability", (1 + solution.value) / 2
        if solution.is_score:
            what, here = "payoff" if solution.has_stakes else "score", solution.value
        given = _given(parameters)
        printed = answer[what]
        half_digit = Fraction(1, 2 * 10 ** len(printed.partition(".")[2] or "0000"))
        agree = abs(Fraction(here) - Fraction(printed)) <= max(half_digit, Fraction(1, 10**4))
        assert agree, f"{name}: {printed} is printed, and {here} found"
        facts.append(_fact(given, printed, answer))
    for table in ANSWERS.values():
        if (
            isinstance(table, dict)
            and table["game"] == name
            and not table["source"].startswith(OWN)
        ):
            given = _given(table["parameters"])
            facts.append(_fact(given, table["what"], table))
    for answer in LARGE["answer"]:
        if answer["game"] == name and not answer["source"].startswith(OWN):
            given = _given(answer.get("parameters", {}))
            given += f" `as=chase target={answer['target']}`" if "target" in answer else ""
            (printed,) = (answer[what] for what in WORTHS if what in answer)
            if answer["name"] not in json.loads(MEASURED.read_text(encoding="utf-8")):
                printed += ", not compared"
            facts.append(_fact(given, printed, answer))
    return _facts_known(facts)


def _facts_known(facts: list[Fact]) -> str:
    """The section of known answers: a row for neighbours of one source; nothing without any."""
    rows = [
        f"- {'; '.join(text for text, _ in group)} ({source})"
        for source, group in groupby(facts, key=itemgetter(1))
    ]
    return "\n".join(["## Known answers", "", *rows]) if rows else ""


def _fact(given: str, known: str, answer: Mapping[str, Any]) -> Fact:
    """A known answer and its source."""
    return f"{given.strip() or 'Default'}: {known}", answer["source"]


def _known_to_many(game: Game, answer: Mapping[str, Any]) -> Fact:
    """The fact on a game for three or more."""
    found, printed = rollwise.equilibrium(game), answer["win_probabilities"]
    for worth, text in zip(found.win_probabilities, printed, strict=True):
        half_digit = Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
        assert abs(Fraction(worth) - Fraction(text)) <= half_digit, f"{game.name}: {text}"
    return _fact(_given(answer["parameters"]), ", ".join(printed), answer)


def _given(parameters: Mapping[str, Any]) -> str:
    return " ".join(f"`{name}={str(value).lower()}`" for name, value in parameters.items())


def digits(value: float, bound: float, places: int = DIGITS) -> str:
    """A number to so many places, or fewer: certain ones, but for the last one's rounding."""
    while not bound <= 0.5 * 10.0**-places:
        places -= 1
        if places < 3:
            raise ValueError(f"{value} ± {bound:.1e} isn't known to {places} places")
    return f"{round(value, places) + 0.0:.{places}f}"  # never -0.000
