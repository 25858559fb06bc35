"""A game's answer as one page for people without knowledge of dynamic programming.

The page is one file and needs no network. It contains the figures, the table and the script of
its search.
"""

from __future__ import annotations

import html
from pathlib import Path

from rollwise import __version__
from rollwise.answer.solution import Solution
from rollwise.builders import Progress
from rollwise.machine.atomic_files import HtmlPage
from rollwise.numbers.given import whole_number
from rollwise.plot import require_plotly
from rollwise.plot.pages import document, marked, resource, style
from rollwise.report.facts import Facts
from rollwise.report.sections import sections_of


def report(solution: Solution, progress: Progress | None = None, *, rules: int | None = 0) -> str:
    """The report as HTML.

    Parameters
    ----------
    solution : Solution
        With the game's rules, the source of its description and policies.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.
    rules : int, optional
        Number of rules of thumb scored for a cheat card; 0 for none, None for as many as typically
        take ten seconds, in a game that isn't large.

    Raises
    ------
    MissingExtra
        Plotly isn't installed.
    UsageError
        A negative number of rules of thumb, or rules for a game too large for one graph.
    """
    require_plotly()
    if rules is not None:
        rules = whole_number("rules", rules, 0)
    facts = Facts.of(solution, rules)
    parts = []
    contents = []
    open_, folded = sections_of(facts)
    for number, (heading, write) in enumerate([*open_, *folded]):
        if progress is not None:
            progress("writing the report", number, len(open_) + len(folded))
        body = write(facts)
        title = heading if isinstance(heading, str) else heading(facts)
        if not body:
            continue
        contents.append(f'<a href="#part{number}">{title}</a>')
        tag, head = "section", f"<h2>{title}</h2>"
        if number >= len(open_):
            tag, head = "details", f"<summary>{head}</summary>"
        parts.append(f'<{tag} id="part{number}">{head}\n{body}\n</{tag}>')
    script = resource("report", "table.js")
    title = f"{facts.name}, solved"
    game = facts.solution.game
    first = "" if game is None else " ".join(game.description.split("\n\n")[0].split())
    about = f"<p>{marked(first)}</p>\n" if first else ""
    body = (
        f"<main>\n<header><h1>{html.escape(title)}</h1>\n"
        f"<p class='sub'>{html.escape(facts.solution.graph.title)}</p>\n{about}"
        f"<nav>{' '.join(contents)}</nav></header>\n"
        + "\n".join(parts)
        + f"\n<footer>Made by rollwise {__version__}.</footer>\n</main>"
    )
    return document(title, style("report.css"), body, f"<script>{script}</script>\n")


def report_page(
    solution: Solution, path: str | Path | None = None, *, rules: int | None = 0
) -> HtmlPage:
    """The report for a notebook, and as a file too if a path is given: see `Solution.report`."""
    text = report(solution, rules=rules)
    return HtmlPage(solution.title, text, "report").also_at(path)


def write_report(
    solution: Solution,
    path: Path,
    progress: Progress | None = None,
    *,
    rules: int | None = 0,
) -> None:
    """Write the report to a file, all at once or not at all.

    Raises
    ------
    OutputError
        The file can't be written.
    """
    from rollwise.machine.atomic_files import check_place, write_text

    check_place(path)
    text = report(solution, progress, rules=rules)
    write_text(path, text)


__all__ = ["report", "report_page", "write_report"]
