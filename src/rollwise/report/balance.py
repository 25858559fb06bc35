"""The figures of `rollwise balance` in words, for the terminal and for a page with two plots."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rollwise.analysis.balance import QUANTILES, Balance, Decided, most_taken
from rollwise.analysis.lengths import FEW, Lengths, turns_text
from rollwise.analysis.losses import loss_text, spread_words
from rollwise.analysis.played import Played
from rollwise.analysis.second_aims import length_ranges
from rollwise.graph.policies import ties_in_play
from rollwise.machine.atomic_files import HtmlPage
from rollwise.numbers.printed import estimated, rounded_up
from rollwise.plot import require_plotly
from rollwise.plot.pages import STYLE, document, embed, scrolled
from rollwise.report.cheat_sheet import SHEET_STYLE

MOST_NAMED = 12  # actions named in a line
PAGE_STYLE = """
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
table.figures td { text-align: left; }
.scroll { overflow-x: auto; }
.scroll th:last-child, .scroll td:last-child { text-align: right; }
@media (max-width: 500px) { table.figures td { display: block; border: 0; white-space: normal; }
  table.figures td:first-child { font-weight: 700; border-top: 1px solid #8884; } }
"""


class Line(NamedTuple):
    """A figure: its name and its text."""

    name: str
    text: str


class Listed(NamedTuple):
    """A table: its heads, its rows, and the notes below it."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: list[str]


def lines_of(found: Balance, sure: float) -> list[Line]:
    """All single figures, in the order of the page."""
    return [
        *edge_lines(found),
        *length_lines(found),
        *drama_lines(found, sure),
        *decision_lines(found),
        *skill_lines(found),
        *rule_lines(found),
    ]


def certainty(found: Balance) -> str:
    """How sure the figures are."""
    lasts = found.lengths
    cut = (  # not all games were followed to their end
        f", for {lasts.longest:,} {lasts.unit}: {100 * lasts.tail:.2g} % of the games last longer, "
        "and an action may be taken more often than is said"
    )
    return (
        f"Means and shares are certified (± {rounded_up(_worst(found))} at most), and shown "
        "rounded; how turns are distributed, and how often an action is taken, is followed in "
        f"floating point{cut if lasts.is_cut else ''}."
    )


def _worst(found: Balance) -> float:
    """The largest error bound of the shown figures, some of them in hundredths."""
    figures = [found.value, found.luck, found.turns, found.moves]
    figures += [found.decisions.in_a_game, found.decisions.matter_in_a_game]
    if found.drama is not None:
        figures += [found.drama.draws, found.drama.lead_changes, found.drama.comebacks]
    if found.skill is not None:
        figures.append(found.skill.share)
    off = [figure.bound for figure in figures]
    if found.skill is not None:
        off.append(found.skill.error_bound)
    if found.rules is not None:
        off += [rule.error_bound for rule in found.rules.rules]
    return 100 * max(off)


def edge_lines(found: Balance) -> list[Line]:
    """The value of the start, and the luck of a game."""
    graph, value, luck = found.solution.graph, found.value.value, found.luck.value
    chance = graph.view.win_probability(value)
    if graph.players == 1:
        worth = f"{value:z.4f}" if chance is None else f"{100 * chance:z.4f} %"
        name = graph.view.worth_name
        return [Line(name, worth), Line("luck", f"{luck:z.4f} (standard deviation)")]
    gets = f"gets {value:+z.4f}" if chance is None else f"wins {100 * chance:z.4f} %"
    if not found.has_luck:
        return [Line("first player", gets), Line("luck", "none: the dice decide nothing")]
    return [
        Line("first player", f"{gets}: ahead by {found.edge:+z.4f} of the luck of a game"),
        Line("luck", f"{luck:z.4f} (standard deviation of the result)"),
    ]


def length_lines(found: Balance) -> list[Line]:
    """The number of turns and moves of a game."""
    lasts, solution = found.lengths, found.solution
    figures = {"turns": found.turns.value, "moves": found.moves.value}
    ranges = length_ranges(solution, list(figures))
    lines = []
    for k, (name, value) in enumerate(figures.items()):
        ends = (value, value) if ranges is None else (ranges[k].least, ranges[k].most)
        if name != "turns" or solution.graph.players == 2:
            lines.append(Line(name, " to ".join(dict.fromkeys(f"{end:z.4f}" for end in ends))))
    lines.append(Line("a game lasts", _spread(lasts)))
    ties = ties_in_play(solution.graph, solution.policy)
    return lines if ties is None else [*lines, Line("ties", ties.text.removeprefix("ties: "))]


def _spread(lasts: Lengths) -> str:
    low, middle, high = (lasts.quantile_text(q / 100) for q in QUANTILES)
    unit = lasts.unit if middle != "1" else lasts.unit[:-1]
    if lasts.chance.max() >= 1 - FEW:
        return f"always {middle} {unit}"
    if low == high:
        return f"{middle} {unit} in at least nine games in ten"
    return f"{middle} {unit} in the middle; {low} to {high} in at least nine games in ten"


def _moments(decided: Decided) -> str:
    low, middle, high = (turns_text(decided.quantile(q / 100), decided.longest) for q in QUANTILES)
    if low == high:
        return f"turn {middle} in at least nine games in ten"
    return (
        f"turn {middle} in the middle; between turns {low} and {high} in at least nine games in ten"
    )


def drama_lines(found: Balance, sure: float) -> list[Line]:
    """How a game for two is fought out."""
    drama = found.drama
    if drama is None:
        return []
    decided = drama.decided
    late = f" of those by turn {decided.longest:,} ({100 * decided.later:.2g} % of games are later)"
    lines = [
        Line("lead changes", f"{drama.lead_changes.value:z.4f}"),
        Line(
            "decided",
            f"in turn {decided.mean:z.2f} on average{late if decided.is_cut else ''}: from then on "
            f"the winner's chance is at least {sure:.0%} ({_moments(decided)})",
        ),
        Line(
            "comebacks",
            f"{100 * drama.comebacks.value:z.4f} % of the games are won by a player whose chance "
            f"had been {1 - sure:.0%} or less",
        ),
    ]
    if found.solution.graph.has_draws:
        lines.append(Line("draws", f"{100 * drama.draws.value:z.4f} %"))
    return lines


def decision_lines(found: Balance) -> list[Line]:
    """The number of choices, the number that matter, and useless actions."""
    chosen, graph = found.decisions, found.solution.graph
    if not chosen.positions:
        return [Line("decisions", "none")]
    scale, unit = (1, "points") if graph.is_score else (50, "percentage points")
    lines = [
        Line(
            "decisions",
            f"{chosen.in_a_game.value:z.4f} in a game; {chosen.matter_in_a_game.value:z.4f} "
            f"matter: to choose at random costs more than {scale * chosen.threshold:.4g} {unit}",
        ),
        Line(
            "positions",
            f"{chosen.positions:,} with a choice, of which {chosen.matter:,} "
            f"({chosen.matter / chosen.positions:.1%}) matter",
        ),
    ]
    dominated = [
        f"{option.name} (by {option.dominated_by})"
        for option in chosen.options
        if option.dominated_by is not None
    ]
    for name, words in (
        ("never best", list(chosen.never_best)),
        ("dominated", dominated),
        ("never taken", [option.name for option in chosen.options if not option.in_a_game]),
    ):
        if words:
            more = len(words) - MOST_NAMED
            rest = f", and {more:,} more" if more > 0 else ""
            lines.append(Line(name, ", ".join(words[:MOST_NAMED]) + rest))
    return lines


def skill_lines(found: Balance) -> list[Line]:
    """The share of the result that depends on the players."""
    skill, graph = found.skill, found.solution.graph
    if skill is None:
        return []
    levels = ", ".join(skill.levels)
    drawn = "players are" if graph.players == 2 else "player is"
    share = f"{100 * skill.share.value:z.2f} % of the variance of the result"
    lines = [Line("skill", f"{share}, where the {drawn} drawn from: {levels}")]
    for level, gets in zip(skill.levels[:-1], skill.against_best, strict=False):
        chance = graph.view.win_probability(gets)
        amount = f"gets {gets:z.4f}" if chance is None else f"wins {100 * chance:z.4f} %"
        against = " against the best, on average over the seats" if graph.players == 2 else ""
        lines.append(Line(f"  {level}", amount + against))
    return lines


def rule_lines(found: Balance) -> list[Line]:
    """The losses of rules of thumb."""
    if found.rules is None:
        return []
    graph = found.solution.graph
    scale, unit = (1, "points") if graph.is_score else (100, "percentage points")
    lines = [
        Line(
            "rule of thumb" if k == 0 else "",
            f"{rule.numbers} integer{'' if rule.numbers == 1 else 's'}, "
            f"{loss_text(rule.loss, rule.spread, scale)} {unit} lost: {rule.text}",
        )
        for k, rule in enumerate(found.rules.rules)
    ]
    return lines + [Line("", text) for text in spread_words(r.spread for r in found.rules.rules)]


def options_table(found: Balance) -> Listed | None:
    """The use of each action, the most frequent actions first."""
    options = found.decisions.options
    if not options:
        return None
    rows = [
        (
            option.name,
            f"{option.offered:,}",
            f"{option.best / option.offered:.1%}",
            f"{option.only_best / option.offered:.1%}",
            f"{option.in_a_game:z.4f}",
        )
        for option in most_taken(options)
    ]
    more = len(options) - len(rows)
    notes = [f"and {more:,} more actions, taken less often"] if more > 0 else []
    heads = ("action", "positions that offer it", "best", "better than all", "taken in a game")
    return Listed(heads, rows, notes)


def played_table(played: Played) -> Listed:
    """The figures beside simulated games."""
    rows = []
    for figure in played.figures:
        scale, unit = (100, " %") if figure.is_share else (1, "")
        samples = [
            str(estimated(scale * sample.mean, scale * sample.standard_error)) + unit
            for sample in figure.samples
        ]
        exact = f"{scale * figure.exact:z.4f}{unit}"
        rows.append((figure.name, exact, *samples, f"{figure.furthest:.1f}"))
    heads = ("figure", "exact", *(f"played, seed {seed}" for seed in played.seeds), "off")
    note = (
        f"Means of {played.games:,} games of each pair of players, ± standard error (estimated). "
        "Off: by how many standard errors the exact figure is away from the further of both."
    )
    return Listed(heads, rows, [note])


def balance_page(found: Balance, played: Played | None, sure: float) -> HtmlPage:
    """The figures of a game on one page.

    Parameters
    ----------
    played : Played, optional
        Simulated games for comparison.
    sure : float
        Win probability from which on a game counts as decided.
    """
    require_plotly()
    graph = found.solution.graph
    title = f"{graph.game}: what it does to its players"
    parts = []
    for heading, lines, figure in _parts(found, sure):
        figures = "\n".join(
            f"<tr><td>{html.escape(name.strip())}</td><td>{html.escape(text)}</td></tr>"
            for name, text in lines
        )
        if lines:
            parts.append(
                f"<h2>{heading}</h2>\n<table class='figures'>\n{figures}\n</table>\n{figure}"
            )
    for heading, table in (
        ("The use of each action", options_table(found)),
        ("Played games beside the figures", None if played is None else played_table(played)),
    ):
        if table is not None:
            parts.append(f"<h2>{heading}</h2>\n{_table(table, heading)}")
    body = (
        f"<main>\n<h1>{html.escape(title)}</h1>\n<p class='sub'>{html.escape(graph.title)}, "
        f"{graph.n_positions:,} positions; all players play best unless otherwise noted</p>\n"
        + "\n".join(parts)
        + f"\n<footer>{html.escape(certainty(found))}</footer>\n</main>"
    )
    return HtmlPage(title, document(title, STYLE + SHEET_STYLE + PAGE_STYLE, body))


def _parts(found: Balance, sure: float) -> list[tuple[str, list[Line], str]]:
    """The headings, with their figures and pictures."""
    from rollwise.plot.kinds.turns import draw_decided, draw_lengths

    graph = found.solution.graph
    how_long = ""
    if np.count_nonzero(found.lengths.chance) > 1:
        how_long = embed(draw_lengths(found.solution, found.lengths, "the best play"), "lengths")
    decided = ""
    if found.drama is not None and found.drama.decided.turn.sum() > 0:
        decided = embed(draw_decided(graph, found.drama.decided, sure), "decided")
    return [
        ("Who has the edge" if graph.players == 2 else "What to expect",
         edge_lines(found), ""),
        ("How long it lasts", length_lines(found), how_long),
        ("How it is fought out", drama_lines(found, sure), decided),
        ("Decisions", decision_lines(found), ""),
        ("Luck and skill", skill_lines(found), ""),
        ("How hard it is to play well", rule_lines(found), ""),
    ]  # fmt: skip


def _table(table: Listed, name: str) -> str:
    rows = [
        "<tr>" + "".join(f"<th scope='col'>{html.escape(head)}</th>" for head in table.heads),
        *(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in table.rows
        ),
    ]
    rows[0] += "</tr>"
    notes = "".join(f"<p class='sub'>{html.escape(note)}</p>" for note in table.notes)
    return scrolled("\n".join(rows), name) + notes
