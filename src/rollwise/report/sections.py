"""The parts of a report: functions from facts to HTML (or an empty text)."""

from __future__ import annotations

import html
import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.lengths import Lengths
from rollwise.analysis.second_aims import length_ranges
from rollwise.analysis.thumb.frontier import Frontier, find_rules
from rollwise.answer.average import average_of
from rollwise.answer.references import Policies
from rollwise.coach.tally import policy_losses
from rollwise.documents.model import Rows, html_of
from rollwise.documents.solved import solved_document
from rollwise.errors import RollwiseError, UsageError
from rollwise.graph import THROW
from rollwise.graph.naming import ONLY_MOVE
from rollwise.numbers.printed import certified, how_many, rounded_up, with_minus
from rollwise.parameters import typed
from rollwise.plot import plot
from rollwise.plot.boards import Cards, different
from rollwise.plot.fields import best_text, shown_costs
from rollwise.plot.kinds.amounts import given_away
from rollwise.plot.kinds.limit import find_limits
from rollwise.plot.kinds.policy import best_classes
from rollwise.plot.kinds.turns import draw_lengths
from rollwise.plot.pages import embed, marked
from rollwise.report import seats
from rollwise.report.cheat_sheet import card, limit_table
from rollwise.report.facts import SECONDS, Facts, command, encode, policies
from rollwise.words import Narrator

MOST_MOVES = 30  # moves named in a sentence
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
POSITIONS = 3  # as boards
MOST_BEST = 30  # moves in the list of frequencies

Section = Callable[[Facts], str]


def what(facts: Facts) -> str:
    """The rules of the game in brief."""
    solution = facts.solution
    graph, game = solution.graph, solution.game
    described = "" if game is None else game.description
    parts = [f"<p>{marked(' '.join(p.split()))}</p>" for p in described.split("\n\n") if p.strip()]
    one_ends = "a payoff" if graph.has_stakes else "a win or a loss"
    seats_for = "turns and payoffs" if graph.has_stakes else "turns"
    aims = {
        "win": f"a game for one player, with {one_ends} at the end"
        if graph.players == 1
        else f"a game for {_COUNTS.get(graph.players, graph.players)} players, with {seats_for}",
        "maximize": "a game for one player; the most points are best",
        "minimize": "a game for one player; the fewest points are best",
    }
    if facts.is_average:
        aims["maximize"] = "a game for one player without an end; the best average counts"
    who = "The player never has" if graph.players == 1 else "The players never have"
    fate = "" if facts.choice.any() else f" {who} a choice."
    parts.append(f"<p>It is {aims[graph.objective]}.{fate}</p>")
    specs = {} if game is None else {spec.name: spec.about for spec in game.specs}
    if graph.parameters:
        heads = ("parameter", "value", "meaning")
        rows = [(name, typed(x), specs.get(name, "")) for name, x in graph.parameters.items()]
        table = Rows(heads, rows, left=("parameter", "value", "meaning"))
        parts.append(html_of(["This report is for the game with", table], "parameters"))
    own = [name for name in graph.field_names if name not in graph.throw_names]
    fields = ", ".join(f"<code>{html.escape(name)}</code>" for name in own)
    moves = {graph.vocabulary.text(label) for label in graph.vocabulary.labels if label != THROW}
    names = [name for name in graph.vocabulary.all_texts if name in moves]
    acts = ", ".join(f"<b>{html.escape(name)}</b>" for name in names[:MOST_MOVES])
    if len(names) > MOST_MOVES:
        acts += f", and {len(names) - MOST_MOVES:,} more"
    if names == [ONLY_MOVE]:
        moves_are = "Each has one move."
    else:
        moves_are = f"{'The moves are' if len(names) > 1 else 'The only move is'} {acts}."
    parts.append(f"<p>A position is described by {fields}, as the mover sees it. {moves_are}</p>")
    return "\n".join(parts)


def edge(facts: Facts) -> str:
    """The edge of the first player, or the value of the game to its one player."""
    return _edge(facts) + facts.spread


def _edge(facts: Facts) -> str:
    solution = facts.solution
    if solution.has_stakes:
        who = "the first player" if solution.graph.players == 2 else "the player"
        return (
            f"{_big(f'{solution.value:+z.4f} points')}\n<p>This is the average gain of {who} a "
            f"game with best play of all players. {_sure(facts)}</p>"
        )
    if facts.is_average:
        number = certified(*average_of(solution))
        return (
            f"{_big(number.number)}\n<p>This is the average of best play in the long "
            f"run ({number.sure}). Values of positions compare with it. Play goes on for ever: a "
            "game below is a cycle, until play returns to its beginning, and each unit of time "
            "costs this average.</p>"
        )
    if solution.is_score:
        return (
            f"{_big(f'{solution.value:z.4f} points')}\n<p>This is the average score of best play. "
            f"{_sure(facts)}</p>"
        )
    chance = 100 * (solution.win_probability or 0.0)
    draws = solution.space.has_draws
    if solution.graph.players == 1:
        half = " (a draw counts as half a win)" if draws else ""
        return (
            f"{_big(f'{chance:.2f} %')}\n<p>This is the win probability of best "
            f"play{half}. {_sure(facts)}</p>"
        )
    other = 100 - chance
    shares = [(name, x, f"{x:.2f} %") for name, x in (("first", chance), ("second", other))]
    if abs(chance - other) < 1e-9:
        verdict = "Neither player: moving first and moving second are equally good."
    else:
        who = "first" if chance > other else "second"
        verdict = (
            f"The player who moves {who}: of 1,000 games between perfect players, about "
            f"{10 * max(chance, other):.0f} go to that player."
        )
    half = " (A draw counts as half a win.)" if draws else ""
    return f"<p>{verdict}{half}</p>\n{seats.edge_bar(shares)}\n<p>{_sure(facts)}</p>"


def _big(number: str) -> str:
    """The result in large letters."""
    return f"<p class='big'>{with_minus(number)}</p>"


def _sure(facts: Facts) -> str:
    solution = facts.answer
    bound = solution.error_bound if solution.is_score else 50 * solution.error_bound
    if not np.isfinite(bound):
        return "How far this can be off has not been proved."
    places = int(-np.log10(2 * bound)) if bound > 0 else 15
    if places < 5:  # no more than is shown
        unit = "points" if solution.is_score else "percentage points"
        return f"It is proved to be off by no more than {rounded_up(bound)} {unit}, and rounded."
    return f"It is rounded from a number with {min(places, 15)} proved decimals."


def _ties(facts: Facts) -> str:
    """The effect of equally good moves on the length of a game, if any."""
    found = facts.ties
    if found is None:
        return ""
    some = f"{found.states:,} of the {found.reached:,} reached positions"
    where = some if found.reached > 1 else "the only position"
    told = f" In {where}, several moves are equally good"
    unit = facts.lengths.unit
    ranges = None if facts.guess else length_ranges(facts.solution, [unit])
    if ranges is None:
        return f"{told}; players with another choice among them may have longer or shorter games."
    (one,) = ranges
    least, most = (f"{end:.4f}" for end in (one.least, one.most))
    if least == most:
        return f"{told}; whichever they take, games last as long on average."
    return f"{told}; depending on the choice, a game has {least} to {most} {unit} on average."


def duration(facts: Facts) -> str:
    """How long it lasts."""
    found = facts.lengths
    if not found.chance.sum() > 0:
        return f"<p>{facts.no_end}</p>"
    words = {
        "turns": " A turn is all moves of one player before the next one goes on.",
        "rolls": " The counted moves are rolls: moves with more than one outcome.",
    }.get(found.unit, "")
    if np.count_nonzero(found.chance) == 1 and not found.is_cut:
        takes = f"every game takes {how_many(round(found.mean), found.unit.removesuffix('s'))}"
        drawn = ""
    else:
        more = "more than " if found.is_cut else ""
        takes = f"a game takes {more}{found.mean:.1f} {found.unit} on average, and {_rarely(found)}"
        drawn = embed(draw_lengths(facts.solution, found, "the best play"), "turns")
    lasts = f"With the best play {takes}" if facts.choice.any() else takes.capitalize()
    return f"<p>{lasts}{facts.guess}.{words}{_ties(facts)}</p>\n{drawn}"


def _rarely(found: Lengths) -> str:
    """The length that at most one game in a hundred exceeds, in words."""
    long = found.quantile(0.99)
    if long is None:
        return f"more than one game in a hundred takes over {found.longest:,}"
    if found.tail == 0 and not found.chance[long + 1 :].any():
        return f"none takes more than {long}"
    return f"at most one game in a hundred takes more than {long}"


def strategy(facts: Facts) -> str:
    """The strategy in pictures."""
    if not facts.choice.any() or not facts.has_maps:
        return ""
    words = (
        "<p>Point at a place (or touch it) to see the position, the value of each move there, and "
        "the cost of a wrong one.</p>"
    )
    if only := seats.only_move(facts):
        return only
    for kind in _main_kinds(facts):
        with suppress(UsageError):  # it makes no sense for this game
            return f"{words}\n{embed(plot(facts.solution, kind), kind)}"
    return ""


def _main_kinds(facts: Facts) -> list[str]:
    """The kinds of the one picture of the strategy, the best first."""
    solution = facts.solution
    with suppress(UsageError):
        limits = find_limits(solution, np.flatnonzero(facts.choice), [])
        varying = np.ptp(solution.graph.rows[limits.states], axis=0)
        if limits.tells_all and np.count_nonzero(np.delete(varying, limits.field)) > 1:
            return ["limit", "policy"]
    return ["policy"]


def pictures(facts: Facts) -> str:
    """More pictures of the strategy."""
    if not facts.choice.any() or not facts.has_maps:
        return ""
    parts = []
    for kind in ("policy", "surface"):
        if kind == _main_kinds(facts)[0]:
            continue
        with suppress(UsageError):
            figure = plot(facts.solution, kind)
            # A boundary of a few steps is seen better in the maps.
            if kind == "policy" or np.isfinite(figure.data[0].z).sum() >= 400:
                parts.append(embed(figure, f"more-{kind}"))
    return "\n".join(parts)


def rule(facts: Facts) -> str:
    """A rule of thumb as a card."""
    if facts.rules == 0 or not facts.choice.any() or not facts.has_maps:
        return ""
    policies = Policies.of(facts.solution)
    found = find_rules(policies, seconds=SECONDS, evaluations=facts.rules, entire=True)
    if not found.rules:
        return ""
    named = _better(facts, found)
    if named:
        table = limit_table(facts.solution)
        return f"{named}{f'<h3>Best play</h3>{table}' if table else ''}"
    return card(policies, found, "h3", errors=False)


def _better(facts: Facts, found: Frontier) -> str:
    """A policy of the rule sheet that loses less than the best of the rules, as a card."""
    solution = facts.solution
    named = {} if solution.game is None else solution.game.policies()
    losses = policy_losses(solution)
    name = min((name for name in losses if name in named), key=losses.__getitem__, default=None)
    scale = 1.0 if solution.is_score else 50.0
    best = found.rules[-1].loss * (1.0 if solution.is_score else 100.0)
    if name is None or scale * losses[name] >= best:
        return ""
    about = (inspect.getdoc(named[name]) or name).partition("\n")[0]
    return (
        f"<div class='rule'><p>{marked(about)}</p></div>\n<p>This is <b>{html.escape(name)}</b> of "
        f"the rule sheet. Against perfect play it loses {scale * losses[name]:z.4f} {facts.unit}, "
        f"less than the best of {found.scored:,} rules of a search.{facts.of_ties}</p>\n"
    )


def three(facts: Facts) -> str:
    """Three positions that come often and where a mistake is dear, as boards.

    They have different best moves, if possible. Otherwise the last ones are the dearest mistakes
    of the policies of the rule sheet.
    """
    if not facts.choice.any():
        return ""
    solution = facts.solution
    visits = np.where(facts.choice, facts.lengths.visits, 0.0)
    weight = np.where(facts.choice, visits * facts.costs, 0.0)
    states = np.flatnonzero(facts.choice)
    states = states[np.argsort(-weight[states], kind="stable")]
    states = states[weight[states] > 0]
    if not len(states):
        return ""
    _, first = np.unique(best_classes(solution, states).classes, return_index=True)
    shown = {
        s: f"a mistake costs {facts.costs[s]:.2f} {facts.unit}"
        for s in states[np.sort(first)[:POSITIONS]].tolist()
    }
    for s, words in (
        *_traps(facts, visits),
        *((s, "") for s in different(solution, states, partial(best_text, solution), POSITIONS)),
    ):
        if len(shown) < POSITIONS and s not in shown:
            shown[s] = words or f"a mistake costs {facts.costs[s]:.2f} {facts.unit}"
    cards = Cards(solution)
    drawn = "\n".join(
        cards.html(s, f"{best_text(solution, s)}; {words}") for s, words in shown.items()
    )
    return f"<div class='boards'>\n{drawn}\n</div>"


def _traps(facts: Facts, visits: NDArray[np.float64]) -> Iterator[tuple[int, str]]:
    """The dearest mistake of each policy of the rule sheet: its state, and its cost in words."""
    solution = facts.solution
    policies = Policies.of(solution, any_players=True)
    for name in () if solution.game is None or not facts.has_maps else solution.game.policies():
        with suppress(RollwiseError):
            lost = shown_costs(solution, given_away(solution, policies.find(name)))
            s = int(np.argmax(visits * lost))
            if visits[s] * lost[s] > 0:
                yield s, f"{name} loses {lost[s]:.2f} {facts.unit}"


def scores(facts: Facts) -> str:
    """The distribution of scores and payoffs, or of the length of a game that is won or lost."""
    if not facts.solution.is_score:
        return duration(facts)
    with suppress(RollwiseError):
        return embed(plot(facts.solution, "scores"), "scores")
    return ""


def table(facts: Facts) -> str:
    """The strategy as a table."""
    if not facts.choice.any():
        return ""
    text, rows, left = encode(facts)
    words = [
        f"The best move in {how_many(int(facts.choice.sum()), 'position')}, in "
        f"{how_many(rows, 'row')}, the most frequent first."
    ]
    if left:
        words[-1] = f"These are the {rows:,} rows that matter most often; {left:,} are left out."
    if '"ranged":-1' not in text:
        words.append(
            "Neighbouring positions with the same answer share a row, without a value where theirs "
            "differ much."
        )
    words.append("Type numbers into the fields to find a position.")
    return (
        f"{_summary(facts)}\n<p>{facts.drawn}{' '.join(words)}</p>\n"
        "<div id='strategy-table'></div>\n"
        f"<script>rollwiseTable('strategy-table', {text});</script>"
    )


def _summary(facts: Facts) -> str:
    """How often each move is the best one."""
    best = best_classes(facts.solution, np.flatnonzero(facts.choice))
    names, classes = best.names, best.classes
    visits = facts.lengths.visits[facts.choice]
    positions = np.bincount(classes, minlength=len(names))
    often = np.bincount(classes, visits, len(names)) / max(visits.sum(), 1e-300)
    order = np.argsort(-often, kind="stable")
    named = order if len(order) <= MOST_BEST + 1 else order[:MOST_BEST]
    rest = order[len(named) :]
    told = [(names[i], often[i], positions[i]) for i in named.tolist()]
    if len(rest):
        told.append((how_many(len(rest), "other"), often[rest].sum(), positions[rest].sum()))
    cells = [(name, f"{100 * share:.1f} %", f"{count:,}") for name, share, count in told]
    table = Rows(("best move", "of all decisions", facts.counted), cells, left=("best move",))
    words = "How often each move is the best one"
    return html_of([f"{words}, in games played well{facts.guess}:", table], words.lower())


def hardness(facts: Facts) -> str:
    """How hard the decisions are."""
    if not facts.choice.any():
        return ""
    solution = facts.solution
    graph = solution.graph
    visits = np.where(facts.choice, facts.lengths.visits, 0.0)
    cost = np.where(facts.choice, facts.costs, 0.0)
    met = visits.sum()
    parts = []
    if met > 0:
        limits = (0.01, 0.1, 1.0, 10.0)
        shares = [100 * visits[cost <= limit].sum() / met for limit in limits]
        cells = [
            (f"at most {limit:g} {facts.unit.removesuffix('s' * (limit == 1))}", f"{share:.1f} %")
            for limit, share in zip(limits, shares, strict=True)
        ]
        words = (
            f"A game played well holds {met:.1f} decisions on average{facts.guess}. In so "
            "many of them the second-best move would cost"
        )
        table = Rows(("", " "), cells, left=("",))
        parts.append(html_of([words, table], "costs of the second-best move"))
        narrator = Narrator(graph, solution.game)
        worst = np.argsort(-(visits * cost), kind="stable")[:5]
        worst = worst[(visits * cost)[worst] > 0]
        rows = [
            (narrator.position(s), best_text(solution, s), f"{cost[s]:.2f}") for s in worst.tolist()
        ]
        heads = ("position", "best", f"a mistake costs ({facts.unit})")
        words = "The decisions that matter most"
        told = f"{words}: they come often, and a mistake is dear:"
        parts.append(html_of([told, Rows(heads, rows, left=heads[:2])], words.lower()))
    if not facts.has_maps:
        return "\n".join(parts)
    words = "<p>Dark places are close decisions; bright ones, where mistakes are dear:</p>"
    with suppress(UsageError):  # a single position, described by the tables above
        parts += [words, embed(plot(solution, "regret"), "regret")]
    return "\n".join(parts)


def certainty(facts: Facts) -> str:
    """The method of the answer, and its proof."""
    solution = facts.answer
    plain, known = "the chance to win is plain", "chances"
    if solution.is_score:
        plain, known = ("the payoff", "payoffs") if solution.has_stakes else ("the score", "scores")
        plain += " is plain"
    last = "the next move ends the game"
    if facts.is_average:
        last = "the next move returns to the beginning of a cycle"
    positions, moves, outcomes, circles, _ = facts.size
    return f"""
<p>No games were played to find this. The rules were unfolded into all
positions that can arise: <b>{positions:,}</b>, with {how_many(moves, "move")} and
{how_many(outcomes, "outcome")}. Then the positions were worked out backwards.
Where {last}, {plain}. One step earlier it is an average of
known {known}, and the best move is the one with the best average; and so on, back
to the start. Where positions lead round in a circle, the equations of the whole circle are solved
together ({circles}).
This is called dynamic programming. The answer:</p>
{html_of(solved_document(solution).blocks())}
<p>The bound is a proof and no guess: {facts.how_proved} for every rounding of
the computer. <code>e-13</code> means thirteen places behind the point. The status of this answer
is: <b>{html.escape(solution.status)}</b>.</p>
{_again(facts)}"""


def _again(facts: Facts) -> str:
    game = facts.solution.game
    typed = None if game is None else command(game)
    if typed is None:
        return ""
    if facts.rules:
        typed += f" --rules {facts.rules}"
    return f"<p>To get this report again: <code>{html.escape(typed)}</code></p>"


def glossary(facts: Facts) -> str:
    """The words."""
    score, players = facts.solution.is_score, facts.solution.graph.players
    by = {1: ".", 2: ", by both players."}.get(players, ", by all players.")
    words = {
        "Position": "everything of importance for the rest of the game.",
        "Best move": "the move with the best result when everything after it is also "
        "played as well as can be" + by,
        "Cost of a move": "how much worse off one is after it than after the best move, on "
        "average.",
        "Proved within": "the distance from the true value can't be larger. Numbers without such "
        "a bound are called estimates.",
    }
    if not score:
        words["Chance to win"] = (
            "the mover's share of won games, over very many games from this position."
        )
    return "<dl>" + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in words.items()) + "</dl>"


def _edge_title(facts: Facts) -> str:
    if facts.solution.graph.players >= 2:
        return "Who has the edge"
    return "What to expect" if facts.solution.is_score else "How likely it is to win"


Titled = tuple[str | Callable[[Facts], str], Section]

SECTIONS: list[Titled] = [
    (_edge_title, edge),
    ("A rule to remember", rule),
    ("Best moves in a picture", strategy),
    ("Positions to know", three),
    ("What can happen", scores),
]
FOLDED: list[Titled] = [
    ("The game", what),
    ("How long it lasts", lambda facts: duration(facts) if facts.solution.is_score else ""),
    ("More pictures", pictures),
    ("Best moves, position by position", table),
    ("How hard the decisions are", hardness),
    ("How the usual ways to play do", policies),
    ("How the answer was found, and how sure it is", certainty),
    ("The words", glossary),
]

OF_MANY: list[Titled] = [
    (_edge_title, seats.edge),
    ("A rule to remember", seats.rule),
    ("Best moves in pictures", seats.strategy),
    ("Positions to know", three),
    ("How long it lasts", duration),
]
FOLDED_OF_MANY: list[Titled] = [
    ("The game", what),
    ("Where moves are mixed", seats.mixtures),
    ("Best moves, position by position", table),
    ("How hard the decisions are", hardness),
    ("How the usual ways to play do", seats.policies),
    ("Claims and their limits", lambda facts: seats.claims(facts) + _again(facts)),
    ("The words", glossary),
]


def sections_of(facts: Facts) -> tuple[list[Titled], list[Titled]]:
    """The parts of the report, and the folded ones: with three players or more some are others."""
    if facts.solution.graph.players > 2:
        return OF_MANY, FOLDED_OF_MANY
    return SECTIONS, FOLDED
