"""A sheet of one side with a rule of thumb, and a page of the figures of `rollwise balance`."""

from __future__ import annotations

import html
import re
from contextlib import suppress
from itertools import chain, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.balance import Balance
from rollwise.analysis.thumb.frontier import Frontier
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.documents.balance import Balanced
from rollwise.documents.learned import thumb_document
from rollwise.documents.model import Rows, html_of, scrolling
from rollwise.errors import UsageError
from rollwise.graph.choices import has_choice
from rollwise.machine.atomic_files import HtmlPage
from rollwise.plot import plot, require_plotly
from rollwise.plot.fields import action_name, field_text, set_fields
from rollwise.plot.kinds.limit import find_limits, limit_notes
from rollwise.plot.pages import document, embed, resource, style

FORMATS = (".html", ".pdf")
MOST_LIMITS = 10
MOST_AGAIN = 1 / 3  # of the columns, with another best action above the limit; Pig has 26 %


def check_sheet(path: Path) -> None:
    """Raise, before any work, if a sheet can't be written to a file.

    Raises
    ------
    UsageError
        The name doesn't end in .html or .pdf; or there is no browser to make a .pdf.
    MissingExtra
        Plotly isn't installed.
    OutputError
        The file can't be written.
    """
    from rollwise.machine.atomic_files import check_place
    from rollwise.plot.pages import find_browser

    if path.suffix not in FORMATS:
        raise UsageError(f"--out {path}: the name of a sheet must end in {' or '.join(FORMATS)}")
    require_plotly()
    if path.suffix == ".pdf":
        find_browser()
    check_place(path)


def write_page(page: str, path: Path) -> None:
    """Write a page to a file, .html or .pdf, all at once or not at all.

    Raises
    ------
    UsageError, OutputError
        See `check_sheet`.
    """
    from rollwise.machine.atomic_files import write_atomically, write_text
    from rollwise.plot.pages import printed

    check_sheet(path)
    if path.suffix == ".pdf":
        content = printed(page)
        write_atomically(path, lambda place: place.write_bytes(content))
    else:
        write_text(path, page)


def cheat_sheet(policies: Policies, found: Frontier) -> HtmlPage:
    """The last of the rules on one side of paper, with the costs of shorter rules.

    Parameters
    ----------
    policies : Policies
        For the game of the rules.
    found : Frontier
        With one rule at least.
    """
    require_plotly()
    graph = policies.graph
    title = f"{graph.game}: a rule to remember"
    body = (
        f"<main>\n<h1>{html.escape(title)}</h1>\n<p class='sub'>{html.escape(graph.title)}</p>\n"
        f"{card(policies, found, 'h2')}</main>\n<script>{resource('report', 'fit.js')}</script>"
    )
    return HtmlPage(title, document(title, style("sheet.css"), body))


def card(policies: Policies, found: Frontier, heading: str, *, errors: bool = True) -> str:
    """The last of the rules as a card, with its loss, the losses of shorter rules, and the limits.

    Parameters
    ----------
    heading : {"h2", "h3"}
        The level of the parts' headings.
    errors : bool
        Whether a picture of its errors follows.
    """
    rule, errs = found.rules[-1], ""
    is_average = policies.game is not None and policies.game.made_from.objective == "average"
    losses = thumb_document(policies.graph, found, is_average=is_average)
    if errors:
        policy = rule.rule.policy(policies.graph, policies.game, "this rule")
        with suppress(UsageError):  # a game with one position only
            errs = embed(plot(policies.solution, "regret", policy=policy), "errs")
    sentences = "\n".join(
        f"<p>{html.escape(part)}</p>" for part in re.split(r"(?<=\.) (?=[A-Z])", rule.text)
    )
    parts = [f"<div class='rule'>\n{sentences}\n</div>\n"]
    for title, body in (
        ("Its loss, and shorter rules", html_of(losses.blocks())),
        ("Best play", limit_table(policies.solution)),
        ("Where it errs", errs),
    ):
        if body:
            parts.append(f"<{heading}>{title}</{heading}>\n{body}\n")
    return "".join(parts)


def limit_table(solution: Solution) -> str:
    """From which number in a field on an action is best, by up to two other fields.

    Of many numbers of a field some are shown, evenly spread. Further fields have their most
    frequent numbers. The table is empty where limits don't describe the whole decision, and where
    all of them are the same.
    """
    graph = solution.graph
    states = np.flatnonzero(has_choice(graph))
    if set_fields(solution, states):
        return ""
    try:
        limits = find_limits(solution, states, [])
    except UsageError:
        return ""
    if not limits.tells_all or limits.again > MOST_AGAIN * len(limits.states):
        return ""
    table = graph.rows[limits.states]
    counts = {f: len(np.unique(column)) for f, column in enumerate(table.T) if f != limits.field}
    others = sorted((f for f in counts if counts[f] > 1), key=lambda f: (-counts[f], f))
    name, along = action_name(solution, limits.action), graph.columns[limits.field]

    def text(f: int, number: float) -> str:
        return field_text(solution, graph.columns[f], int(number))

    if not others:
        (limit,) = limits.limit.tolist()
        told = f"{name.capitalize()} from {along} {text(limits.field, limit)} on."
        return f"<p>{html.escape(told)}</p>"

    down, *across = sorted(others[:2])
    rest = others[2:]
    inside = np.ones(len(table), np.bool_)
    shared = []
    for f in rest:
        numbers, often = np.unique(table[inside, f], return_counts=True)
        inside &= table[:, f] == numbers[np.argmax(often)]
        shared.append(f"{graph.columns[f]} {text(f, numbers[np.argmax(often)])}")
    values = {
        tuple(row): limit
        for row, limit in zip(
            table[inside][:, [down, *across]].tolist(), limits.limit[inside], strict=True
        )
    }
    ys, *columns = (_some(np.unique(table[inside, f])) for f in (down, *across))
    xs = list(product(*columns))
    heads = [text(f, x) for f, some in zip(across, columns, strict=True) for x in some] or [""]
    head = "".join(f"<th scope='col'>{html.escape(x)}</th>" for x in heads)
    cells = [[values.get((y, *x)) for x in xs] for y in ys]
    texts = [
        ["" if z is None else "never" if np.isnan(z) else text(limits.field, z) for z in line]
        for line in cells
    ]
    if len({*chain.from_iterable(texts)} - {""}) < 2:
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{html.escape(text(down, y))}</th>"
        f"{''.join(f'<td>{html.escape(t)}</td>' for t in line)}</tr>"
        for y, line in zip(ys, texts, strict=True)
    )
    fields = [graph.columns[f] for f in (down, *across)]
    told = f"{name.capitalize()} from this {along} on"
    if across:
        told += f"; rows: {fields[0]}, columns: {fields[1]}"
    words = html.escape(". ".join(["; ".join([told, *shared]), *limit_notes(limits)]) + ".")
    words = words.replace("..", ".")
    corner = html.escape(" \\ ".join(fields))
    table_html = f"<table class='limits'><tr><th>{corner}</th>{head}</tr>{rows}</table>"
    return f"<p>{words}</p>{scrolling(table_html, told)}"


def _some(numbers: NDArray[np.int32]) -> list[int]:
    """Some numbers, evenly spread."""
    n = min(len(numbers), MOST_LIMITS)
    return [int(x) for x in numbers[np.linspace(0, len(numbers) - 1, n).round().astype(int)]]


def balance_page(found: Balance, figures: Balanced) -> HtmlPage:
    """The figures of a game on one page.

    Parameters
    ----------
    figures : Balanced
        The document of `found`.
    """
    require_plotly()
    title = f"{figures.game}: edge, luck and skill"
    drawn = _pictures(found)
    parts = [
        f"<h2>{heading}</h2>\n<div class='figures'>"
        f"{html_of([Rows(('', ' '), lines, ('', ' '))], heading)}</div>\n{drawn.get(heading, '')}"
        for heading, lines in figures.parts()
        if lines
    ]
    parts += [f"<h2>{heading}</h2>\n{html_of(part, heading)}" for heading, part in figures.tables()]
    body = (
        f"<main>\n<h1>{html.escape(title)}</h1>\n<p class='sub'>{html.escape(figures.title)}, "
        f"{figures.size}; all players play best unless otherwise noted</p>\n"
        + "\n".join(parts)
        + f"\n<footer>{html.escape(' '.join(figures.notes))}</footer>\n</main>"
    )
    return HtmlPage(title, document(title, style("sheet.css", "balance.css"), body))


def _pictures(found: Balance) -> dict[str, str]:
    """Pictures by the heading above them."""
    from rollwise.plot.kinds.turns import draw_decided, draw_lengths

    drawn = {}
    if np.count_nonzero(found.lengths.chance) > 1:
        lengths = draw_lengths(found.solution, found.lengths, "the best play")
        drawn["How long it lasts"] = embed(lengths, "lengths")
    turn = found.drama and found.drama.decided
    if turn and turn.chance.sum() > 0:
        decided = draw_decided(found.solution.graph, turn, found.sure)
        drawn["How it is fought out"] = embed(decided, "decided")
    return drawn
