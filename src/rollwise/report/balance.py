"""The figures of `rollwise balance` as a page, with two plots."""

from __future__ import annotations

import html

import numpy as np

from rollwise.analysis.balance import Balance
from rollwise.documents.balance import Balanced
from rollwise.documents.model import Rows, html_of
from rollwise.machine.atomic_files import HtmlPage
from rollwise.plot import require_plotly
from rollwise.plot.pages import STYLE, document, embed
from rollwise.report.cheat_sheet import SHEET_STYLE

PAGE_STYLE = """
th:first-child, td:first-child { white-space: nowrap; }
.scroll { overflow-x: auto; }
.scroll th:last-child, .scroll td:last-child { text-align: right; }
.figures td:last-child { text-align: left; }
@media (max-width: 500px) { .figures td { display: block; border: 0; white-space: normal; }
  .figures td:first-child { font-weight: 700; border-top: 1px solid #8884; } }
"""


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
        f"{figures.positions:,} positions; all players play best unless otherwise noted</p>\n"
        + "\n".join(parts)
        + f"\n<footer>{html.escape(figures.certainty)}</footer>\n</main>"
    )
    return HtmlPage(title, document(title, STYLE + SHEET_STYLE + PAGE_STYLE, body))


def _pictures(found: Balance) -> dict[str, str]:
    """Pictures by the heading above them."""
    from rollwise.plot.kinds.turns import draw_decided, draw_lengths

    drawn = {}
    if np.count_nonzero(found.lengths.chance) > 1:
        lengths = draw_lengths(found.solution, found.lengths, "the best play")
        drawn["How long it lasts"] = embed(lengths, "lengths")
    if found.drama is not None and found.drama.decided.turn.sum() > 0:
        decided = draw_decided(found.solution.graph, found.drama.decided, found.sure)
        drawn["How it is fought out"] = embed(decided, "decided")
    return drawn
