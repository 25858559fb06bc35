"""One page for people with the figures of `rollwise balance`, and two of them drawn."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np

from rollwise.analysis.balance import Balance
from rollwise.analysis.played import Played
from rollwise.machine.html_pages import HtmlPage
from rollwise.plot import require_plotly
from rollwise.plot.kinds.length import draw_decided, draw_lengths
from rollwise.plot.pages import STYLE, embed, library
from rollwise.report import balance_words as words
from rollwise.report.cheat_sheet import SHEET_STYLE, check_sheet, write_page
from rollwise.report.html_parts import scrolled

PAGE_STYLE = """
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
table.figures td { text-align: left; }
.scroll { overflow-x: auto; }
.scroll th:last-child, .scroll td:last-child { text-align: right; }
@media (max-width: 500px) { table.figures td { display: block; border: 0; white-space: normal; }
  table.figures td:first-child { font-weight: 700; border-top: 1px solid #8884; } }
"""

__all__ = ["balance_page", "check_sheet", "write_balance"]


def write_balance(found: Balance, played: Played | None, sure: float, path: Path) -> None:
    """Write the page to a file, .html or .pdf, all at once or not at all.

    Raises
    ------
    UsageError, OutputError
        See `rollwise.report.cheat_sheet.check_sheet`.
    """
    write_page(balance_page(found, played, sure).html, path)


def balance_page(found: Balance, played: Played | None, sure: float) -> HtmlPage:
    """The figures of a game on one page.

    Parameters
    ----------
    played : Played, optional
        Games that were played beside them.
    sure : float
        The chance with which a game counts as decided.
    """
    require_plotly()
    graph = found.solution.graph
    title = f"{graph.game}: what it does to its players"
    name = html.escape(title)
    parts = []
    for heading, lines, figure in _parts(found, sure):
        if lines:
            parts.append(f"<h2>{heading}</h2>\n{_figures(lines)}\n{figure}")
    for heading, table in (
        ("What each action is good for", words.options_table(found)),
        ("Played games beside the figures", None if played is None else words.played_table(played)),
    ):
        if table is not None:
            parts.append(f"<h2>{heading}</h2>\n{_table(table, heading)}")
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{name}</title>\n<style>{STYLE}{SHEET_STYLE}{PAGE_STYLE}</style>\n{library()}\n"
        f"</head>\n<body>\n<main>\n<h1>{name}</h1>\n<p class='sub'>{html.escape(graph.title)}, "
        f"{graph.n_positions:,} positions; everybody plays best unless something else is said</p>\n"
        + "\n".join(parts)
        + f"\n<footer>{html.escape(words.certainty(found))}</footer>\n</main>\n</body>\n</html>\n"
    )
    return HtmlPage(title, page)


def _parts(found: Balance, sure: float) -> list[tuple[str, list[words.Line], str]]:
    """The headings, with their figures and pictures."""
    graph = found.solution.graph
    how_long = ""
    if np.count_nonzero(found.lengths.chance) > 1:
        how_long = embed(draw_lengths(found.solution, found.lengths, "the best play"), "lengths")
    decided = ""
    if found.drama is not None and found.drama.decided.turn.sum() > 0:
        decided = embed(draw_decided(graph, found.drama.decided, sure), "decided")
    return [
        ("Who has the edge" if graph.players == 2 else "What to expect",
         words.edge_lines(found), ""),
        ("How long it lasts", words.length_lines(found), how_long),
        ("How it is fought out", words.drama_lines(found, sure), decided),
        ("Decisions", words.decision_lines(found), ""),
        ("Luck and skill", words.skill_lines(found), ""),
        ("How hard it is to play well", words.rule_lines(found), ""),
    ]  # fmt: skip


def _figures(lines: list[words.Line]) -> str:
    rows = "\n".join(
        f"<tr><td>{html.escape(name.strip())}</td><td>{html.escape(text)}</td></tr>"
        for name, text in lines
    )
    return f"<table class='figures'>\n{rows}\n</table>"


def _table(table: words.Listed, name: str) -> str:
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
