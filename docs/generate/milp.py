"""The table of docs/methods.md on mixed-integer programs, from benchmarks/milp.md."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ROOT / "benchmarks" / "milp.md"
PLACE = re.compile(r"(?<=<!-- from benchmarks/milp\.md -->\n).*?(?=<!-- end -->)", re.S)
SECTION = re.compile(r"^## (?P<title>.*)\n\n(?P<note>[^|\n].*\n\n)?(?P<table>(?:\|.*\n)+)", re.M)
LIMIT = re.compile(r"A run may take (\S+) s")
WAYS = {
    "By component, tight M": "by component, tight M (the default)",
    "By component, M = 1": "by component, M = 1",
    "By number of sticks, M = 1 (as published)": "by number of sticks, M = 1 (as published)",
    "Whole, tight M": "`--set whole=yes`, tight M",
    "Whole, M = 1, started from the answer": "`--set whole=yes`, M = 1, started from the answer",
    "Whole, M = 1": "`--set whole=yes --set tighten=0`, M = 1",
}
SOLVERS = {"scip": "SCIP", "highs": "HiGHS"}


def refreshed(page: str, measured: str) -> str:
    """A page with the table that the measurements give."""
    return PLACE.sub(lambda _: table(measured), page)


def table(measured: str) -> str:
    """Seconds by way, solver and number of sticks."""
    sections = {found["title"]: _rows(found["table"]) for found in SECTION.finditer(measured)}
    usual = LIMIT.search(measured)
    assert usual is not None
    limits = {
        found["title"]: (LIMIT.search(found["note"] or "") or usual)[1]
        for found in SECTION.finditer(measured)
    }
    strategy = {row["sticks"]: row["milliseconds"] for row in sections["Strategy iteration"]}
    lines = ["| way | solver | " + " | ".join(f"{sticks} sticks" for sticks in strategy) + " |"]
    lines.append("|---" * (2 + len(strategy)) + "|")
    for title, way in WAYS.items():
        for solver, name in SOLVERS.items():
            took = {
                row["sticks"]: row for row in sections.get(title, []) if row["solver"] == solver
            }
            if not took:
                continue
            cells = [_cell(took.get(sticks), limits[title]) for sticks in strategy]
            lines.append(f"| {way} | {name} | {' | '.join(cells)} |")
            way = ""
    cells = [_two_digits(float(took) / 1000) for took in strategy.values()]
    lines.append(f"| strategy iteration | | {' | '.join(cells)} |")
    return "".join(f"{line}\n" for line in lines)


def _rows(lines: str) -> list[dict[str, str]]:
    """The rows of a Markdown table, by its titles."""
    titles, _, *rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines.splitlines()
    ]
    return [dict(zip(titles, row, strict=True)) for row in rows]


def _cell(row: dict[str, str] | None, limit: str) -> str:
    if row is None:
        return ""
    return _two_digits(float(row["seconds"])) if row["status"] == "converged" else f"not in {limit}"


def _two_digits(amount: float) -> str:
    return f"{amount:#.2g}".rstrip(".")
