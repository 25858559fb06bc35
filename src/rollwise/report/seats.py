"""The parts of a report specific to three or more players."""

from __future__ import annotations

import html
from collections.abc import Iterable
from contextlib import suppress
from itertools import cycle

import numpy as np

from rollwise.analysis.thumb.frontier import find_rules
from rollwise.answer.advice import advise
from rollwise.answer.evaluation import evaluate_seats, respond_to
from rollwise.answer.references import Policies
from rollwise.documents.learned import thumb_document
from rollwise.documents.model import Rows, html_of
from rollwise.documents.solved import solved_document
from rollwise.errors import UsageError
from rollwise.numbers.printed import how_many
from rollwise.numbers.shares import seat_names
from rollwise.plot import plot
from rollwise.plot.kinds.policy import best_classes
from rollwise.plot.pages import embed
from rollwise.plot.style import COLOURS, ink_on
from rollwise.report.facts import SECONDS, Facts, ways_to_play
from rollwise.words import Narrator

MOST_RESPONDED = 100_000  # states; a best response in more takes long
MOST_MIXED = 20  # positions in the list
RANDOM = "random"


def _scale(facts: Facts) -> tuple[float, str]:
    """The factor and the unit of shown losses."""
    return (1.0, "points") if facts.solution.has_stakes else (100.0, "percentage points")


def edge_bar(parts: Iterable[tuple[str, float, str]]) -> str:
    """A bar of shares: the name, the share and the text of each part."""
    cells = "".join(
        f"<div style='flex:{share:.5f};background:{colour};color:{ink_on(colour)}'>{name}<br>"
        f"<b>{text}</b></div>"
        for (name, share, text), colour in zip(parts, cycle(COLOURS), strict=False)
    )
    return f"<div class='edge'>{cells}</div>"


def edge(facts: Facts) -> str:
    """The result of each seat, and its meaning."""
    found, bar = facts.solution.equilibrium, ""
    if not found.payoffs:
        names = [f"seat {seat + 1}" for seat in range(found.players)]
        bar = edge_bar(zip(names, found.worth, found.texts(found.worth), strict=True))
    words = (
        "With three or more players there is no best play in itself: it depends on the "
        "others. This is an <b>equilibrium</b>: all play one policy, and no player gains "
        "by another one while the others keep to it."
        if facts.choice.any()
        else "No player ever has a choice."
    )
    solved = solved_document(facts.answer)
    return f"<p>{words} A shared win counts in part.</p>\n{bar}" + html_of(
        solved.claims() if bar else solved.blocks()
    )


def strategy(facts: Facts) -> str:
    """The strategy in pictures."""
    if not facts.choice.any():
        return ""
    told = {
        "policy": "The colour shows the mover's best action. Point at a place (or touch it) to "
        "see the value of each move, and the results of the others there.",
        "limit": "From where on the last move is best:",
        "rivals": "Which rival to hurt: how much higher that limit is than with two rivals in each "
        "other's places. Where it doesn't change, the order of the rivals is irrelevant.",
    }
    parts = []
    if only := only_move(facts):
        return only
    for kind, words in told.items():
        with suppress(UsageError):  # it makes no sense for this game
            parts.append(f"<p>{words}</p>\n{embed(plot(facts.solution, kind), kind)}")
    return "\n".join(parts)


def only_move(facts: Facts) -> str:
    """A sentence in place of a picture of one colour."""
    names = best_classes(facts.solution, np.flatnonzero(facts.choice)).names
    if len(names) > 1:
        return ""
    return f"<p>The best move is always the same: <b>{html.escape(names[0])}</b>.</p>"


def mixtures(facts: Facts) -> str:
    """Where movers must mix, and how."""
    if not facts.choice.any():
        return ""
    found = facts.solution.equilibrium
    if not len(found.mixing):
        return (
            "<p>In no position is mixing necessary: for each there is one move at "
            "least as good as any other, whatever the others' chances are.</p>"
        )
    rows, narrator = [], Narrator(found.graph, facts.solution.game)
    for state in found.mixing[:MOST_MIXED].tolist():
        place = narrator.position(state)
        for one in advise(facts.solution, state).actions:
            often = f"{100 * (one.probability or 0.0):.5f} %"
            rows.append((place, one.action, often, *found.texts(one.seats, 3)))
            place = ""
    heads = ("position", "move", "how often", *seat_names(found.players))
    n = len(found.mixing)
    left = f" The first {MOST_MIXED} are shown." if n > MOST_MIXED else ""
    words = (
        f"In {how_many(n, 'position')}, in {how_many(found.mixing_components, 'component')}, "
        "movers mix: each certain move would be wrong after the others' best answers. The mover is "
        f"indifferent there, and the others are not.{left}"
    )
    return html_of([words, Rows(heads, rows, left=heads[:2])], "where moves are mixed")


def rule(facts: Facts) -> str:
    """The best rule of thumb as a card."""
    if facts.rules == 0 or not facts.choice.any():
        return ""
    found = find_rules(facts.solution, seconds=SECONDS, evaluations=facts.rules, entire=True)
    if not found.rules:
        return ""
    document = thumb_document(facts.solution.graph, found)
    return (
        f"<div class='rule'><p>{html.escape(found.rules[-1].text)}</p></div>\n"
        f"{html_of(document.blocks())}"
    )


def policies(facts: Facts) -> str:
    """The results of ways to play among equilibrium players."""
    found = facts.solution.equilibrium
    if not facts.choice.any() or found.graph.n_states > MOST_RESPONDED:
        return ""
    scale, unit = _scale(facts)

    def cells(name: str) -> list[str]:
        policy, got = Policies.of(facts.solution, any_players=True).find(name), []
        for seat in range(found.players):
            seated = [found.policy] * found.players
            seated[seat] = policy
            got.append(evaluate_seats(found.graph, seated).win_probabilities[seat])
        pairs = zip(found.worth, got, strict=True)
        behind = sum((share - one) / found.players for share, one in pairs)
        response = respond_to(found.graph, policy)
        gains = zip(response.best, response.win_probabilities, strict=True)
        gain = max(best - one for best, one in gains)
        return [*found.texts(got), f"{scale * behind:z.2f}", f"{scale * gain:z.2f}"]

    seats = [f"in seat {seat + 1}" for seat in range(found.players)]
    return ways_to_play(
        facts,
        (*found.game.policies(), RANDOM),
        [*seats, f"behind ({unit})", "gain against it"],
        "How each way to play does among others who play the equilibrium, and how far it is "
        "behind, on average over the seats. The last column is the gain of a seat's best "
        "response where all others play so.",
        cells,
    )


def claims(facts: Facts) -> str:
    """The claims of the report, and their limits."""
    found = facts.solution.equilibrium
    graph = found.graph
    unsettled = ""
    if found.unsettled:
        unsettled = (
            f"<p><b>In {how_many(len(found.unsettled), 'component')} no equilibrium was found.</b> "
            "The proved bound on the gain above includes them.</p>"
        )
    return f"""
<p>The rules were unfolded into all positions that can arise: <b>{graph.n_positions:,}</b>, with
{how_many(graph.n_outcomes, "outcome")} of moves. They were worked out backwards, in
{how_many(len(graph.components), "group")} of positions that lead round in a circle. In each group
best choices were improved over and over, until they stayed the same; where they went round for
ever, mixtures were found that leave each mover indifferent
({how_many(found.mixing_components, "group")}).</p>
<p>The bounds of the chances, and of the gain by another policy, are proved. Every rounding of the
computer is counted.</p>
<p>Not claimed: that this is the only equilibrium; anything about players who make
agreements; the choice between moves equally good for the mover.</p>
{unsettled}"""
