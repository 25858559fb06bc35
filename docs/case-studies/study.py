"""What the case studies share: a page that is written while its numbers are computed."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise import Policy, Solution, StateGraph
from rollwise.errors import RollwiseError
from rollwise.numbers import printed as printed_numbers
from rollwise.plot.pages import find_browser, write_figure

HERE = Path(__file__).parent
WIDTH = 800  # of a picture in a page, in pixels
LINE = 100  # letters


@dataclass
class Page:
    """A page in the making.

    Attributes
    ----------
    name : str
        Of the page and its figures: ``NAME.md``, ``NAME-FIGURE.svg``.
    out : Path
        Where they go.
    small : bool
        Whether to take small parameters, as tests do.
    form : {"svg", "html"}
        Of the figures (a surface is a .png in place of .svg); an .html page needs no
        browser to be made.
    """

    name: str
    out: Path
    small: bool = False
    form: str = "svg"
    parts: list[str] = field(default_factory=list)

    def text(self, markdown: str) -> None:
        """Add paragraphs, which are filled anew once their numbers are in."""
        for block in re.split(r"\n\s*\n", textwrap.dedent(markdown).strip()):
            self.parts.append(_filled(block))

    def code(self, lines: str, language: str = "python") -> None:
        """Add lines as they are."""
        self.parts.append(f"```{language}\n{textwrap.dedent(lines).strip()}\n```")

    def table(self, head: Sequence[str], rows: Iterable[Sequence[Any]], words: int = 1) -> None:
        """Add a table; all but the first `words` columns are numbers, to the right."""
        line = "|---" * min(words, len(head)) + "|---:" * (len(head) - words) + "|"
        first, *others = (
            f"| {' | '.join(minus(str(cell)) for cell in row)} |" for row in (head, *rows)
        )
        self.parts.append("\n".join([first, line, *others]))

    def figure(self, name: str, figure: go.Figure, alt: str, width: int = WIDTH) -> None:
        """Add a figure, with its description for screen readers in `alt`."""
        form = self.form
        if form == "svg" and any(trace.type == "surface" for trace in figure.data):
            form = "png"  # what is drawn in space is a picture anyway
        file = self.out / f"{self.name.replace('_', '-')}-{name}.{form}"
        write_figure(figure, file, alt, width)
        if form == "svg":
            _settle_names(file)
        self.parts.append(
            f"[Figure: {alt}]({file.name})" if form == "html" else f"![{alt}]({file.name})"
        )

    def write(self) -> None:
        """Write the page."""
        note = f"<!-- Written by {self.name}.py: change that, not this. -->"
        whole = "\n\n".join([note, *self.parts])
        (self.out / f"{self.name}.md").write_text(whole + "\n", encoding="utf-8")


def run(name: str, study: Callable[[Page], None], arguments: Sequence[str] | None = None) -> None:
    """Read the command line and make a study's page."""
    parser = argparse.ArgumentParser(description=f"Compute the case study {name} and its page.")
    parser.add_argument("--small", action="store_true", help="small parameters, figures as .html")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder to write to")
    parser.add_argument(
        "--figures", choices=("svg", "html"), help="svg, the default, needs a browser"
    )
    given = parser.parse_args(arguments)
    form = given.figures or ("html" if given.small else "svg")
    page = Page(name, given.out, given.small, form)
    try:
        if form == "svg":
            find_browser()  # before any work
        given.out.mkdir(parents=True, exist_ok=True)
        study(page)
    except RollwiseError as error:
        print(f"{name}: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    page.write()
    print(given.out / f"{name}.md")


def printed(name: str) -> dict[str, Any]:
    """What a source document printed, for comparison."""
    with (HERE / "printed.toml").open("rb") as file:
        found: dict[str, Any] = tomllib.load(file)[name]
    return found


def where(graph: StateGraph, name: str, condition: NDArray[np.bool_], yes: int, no: int) -> Policy:
    """The policy that takes the action `yes` where a condition holds, else `no`.

    Where the action isn't allowed, the first one of the rules is taken.
    """
    wanted = np.where(condition, yes, no)[graph.action_state]
    n = graph.n_actions
    place = np.where(graph.action_label == wanted, np.arange(n), n)
    found = np.minimum.reduceat(place, graph.action_indptr[:-1])
    return Policy.of_actions(graph, name, np.where(found < n, found, graph.action_indptr[:-1]))


def has_choice(solution: Solution) -> NDArray[np.bool_]:
    """In which states there is a choice: (n_states,) bool."""
    return np.asarray(np.diff(solution.graph.action_indptr) > 1)


def best_labels(solution: Solution) -> NDArray[np.int64]:
    """The number of the best action of each state: (n_states,) int64."""
    return np.asarray(solution.graph.action_label[solution.best_actions])


def percent(chance: float, digits: int = 2) -> str:
    """A probability in percent."""
    return f"{100 * chance:.{digits}f} %"


def power(number: float | Decimal, digits: int = 0) -> str:
    """A small number as a bound is written, rounded up: ``2 × 10⁻¹³``."""
    up = Context(prec=digits + 1, rounding=ROUND_CEILING).create_decimal(number)
    factor, exponent = f"{up:.{digits}e}".split("e")
    ten = "10" + f"{int(exponent)}".translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return ten if factor == "1" else f"{factor} × {ten}"


def points(share: float, digits: int = 4) -> str:
    """A loss of chance to win in percentage points; rounding below zero isn't shown."""
    return f"{max(100 * share, 0.0):.{digits}f}"


def certified(value: float, bound: float) -> str:
    """A number with the digits that its bound earns, and the bound."""
    shown = printed_numbers.certified(value, bound)
    return f"{shown.number} ± {power(Decimal(shown.bound), 1)}"


def log_axes(figure: go.Figure, *letters: str) -> go.Figure:
    """Give axes a logarithmic scale, in both layouts of a figure."""
    spec = {"type": "log", "dtick": 1, "exponentformat": "power"}
    for letter in letters:
        _set_axis(figure, letter, spec, ("range", "tick0"))
    return figure


def named_ticks(figure: go.Figure, letter: str, names: Sequence[str]) -> go.Figure:
    """Write names in the place of the numbers 0, 1, 2 ... on an axis, in both layouts."""
    spec = {"tickvals": list(range(len(names))), "ticktext": list(names)}
    _set_axis(figure, letter, spec, ("dtick", "tick0"))
    return figure


def _set_axis(figure: go.Figure, letter: str, spec: dict[str, Any], gone: Sequence[str]) -> None:
    """Change an axis in both layouts of a figure; what is gone is left to Plotly."""
    meta, layouts = _layouts(figure)
    key = f"{letter}axis"
    for layout in layouts:
        kept = {k: v for k, v in layout.get(key, {}).items() if k not in gone}
        layout[key] = {**kept, **spec}
    figure.update_layout({key: {**spec, **dict.fromkeys(gone)}}, meta=meta)


def _settle_names(file: Path) -> None:
    """Give an .svg the same names inside each time it is made, where Plotly draws lots."""
    text = file.read_text(encoding="utf-8")
    lots = re.findall(r"\b(?:defs-|trace)([0-9a-f]{6})\b", text)
    for number, lot in enumerate(dict.fromkeys(lots)):
        text = text.replace(lot, f"drawn{number}")
    file.write_text(text + "\n", encoding="utf-8")


def _layouts(figure: go.Figure) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A copy of a figure's meta, and of the two layouts in it."""
    meta = dict(figure.layout.meta)
    for name in ("wide", "narrow"):
        meta[name] = dict(meta[name])
    return meta, [meta["wide"], meta["narrow"]]


def minus(cell: str) -> str:
    """A number with a minus sign in the place of a hyphen."""
    return re.sub(r"^-(?=\d)", "−", cell)


def _filled(block: str) -> str:
    if block.startswith(("#", "|", "```", "<", ">", "!")):
        return block
    items = re.split(r"\n(?=- |\d+\. )", block) if re.match(r"- |\d+\. ", block) else [block]
    lines = []
    for item in items:
        bullet = re.match(r"- |\d+\. ", item)
        lines += textwrap.wrap(
            " ".join(item.split()),
            LINE,
            subsequent_indent=" " * len(bullet[0]) if bullet else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines)
