"""RESULTS.md, from what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import growth, history, stages
from benchmarks.measure import Row, Settings
from benchmarks.work import find_work

PICTURE = "growth.svg"
MEGA = 2**20
REFERENCE = "rollwise_itself"  # errors are distances from its certified answer


@dataclass
class Results:
    """All that a run measured; sections that weren't are empty.

    Attributes
    ----------
    facts : dict
        ``command``, ``date``, ``commit``, ``machine``, ``versions``, ``bandwidth``...
    problems : dict of dict
        Facts of each problem (see `benchmarks.work.prepare`), by name.
    rows : list of Row
    """

    facts: dict[str, Any]
    settings: Settings
    problems: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    stages: list[dict[str, Any]] = field(default_factory=list)
    growth: list[dict[str, Any]] = field(default_factory=list)
    no_picture: str = "not drawn"
    commands: list[dict[str, Any]] = field(default_factory=list)
    rates: dict[str, Any] = field(default_factory=dict)

    def of(self, work: str, peer: str, way: str | None = None) -> list[Row]:
        """The rows of one tool with one problem that have an answer."""
        return [
            row
            for row in self.rows
            if row.work == work
            and row.peer == peer
            and row.finished
            and (way is None or row.way == way)
        ]

    def seconds(self, work: str, peer: str) -> float | None:
        """Median seconds of a tool's fastest way."""
        return min((row.median() for row in self.of(work, peer)), default=None)

    @property
    def ratios(self) -> dict[str, float]:
        """How many times as long rollwise took as the yardstick in the same run."""
        found = {}
        for work in self.problems:
            ours, by_hand = self.seconds(work, REFERENCE), self.seconds(work, "by_hand")
            if ours is not None and by_hand:
                found[work] = ours / by_hand
        for what in ("learning", "simulating"):
            rates = {row["name"]: row["rate"] for row in self.rates.get(what, [])}
            by_hand = next((rate for name, rate in rates.items() if "by hand" in name), None)
            own = [rate for name, rate in rates.items() if name.startswith("rollwise")]
            if by_hand and own:
                found[what] = by_hand / own[0]
        again = {row["command"]: row["again"] for row in self.commands}
        yardstick = next(iter(again.values()), None)
        if yardstick and again.get("rollwise solve pig"):
            found["solve pig / import numba"] = again["rollwise solve pig"] / yardstick
        return found

    @property
    def history_line(self) -> dict[str, Any]:
        """What history.jsonl keeps."""
        return {
            "date": self.facts["date"],
            "commit": self.facts["commit"],
            "machine": self.facts["machine"],
            "versions": self.facts["versions"],
            "ratios": {name: round(ratio, 4) for name, ratio in self.ratios.items()},
            "values": {name: facts["start"] for name, facts in self.problems.items()},
        }


def markdown(results: Results, lines: Sequence[history.Line]) -> str:
    """The whole document; `lines` is the history with this run in it."""
    facts = results.facts
    text = [
        "# Results",
        "",
        f"Written by `{facts['command']}`; not to be edited by hand.",
        "",
        f"{facts['date']}, commit {facts['commit']}; {facts['machine']}; load at the start "
        f"{facts['load']:.1f}; Python {facts['python']}; "
        + ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
        + ".",
        "",
        "Each tool works in a process of its own and they take turns (A, B, A, B). A first run, "
        "in which code is compiled and loaded, isn't counted; where one took more than "
        f"{results.settings.limit / 2:.0f} s it is the only one. Seconds are medians. A run may "
        f"take {results.settings.limit:.0f} s.",
        "",
        *goals(results),
        *works(results),
        *stage_table(results),
        *growth_table(results),
        *command_table(results),
        *rate_tables(results),
    ]
    if results.ratios:
        text += [
            "## History",
            "",
            "rollwise's time over that of the kernels written by hand, in the same run (of the "
            "command: over a start of Python with Numba). Smaller is better.",
            "",
            *history.table(lines),
            "",
            history.verdict(lines),
            "",
        ]
    return "\n".join(text)


def goals(results: Results) -> Iterator[str]:
    """What the project set out to reach, and what this run says."""
    rows = list(_goals(results))
    if not rows:
        return
    yield from ("## Goals", "", "| | goal | moonshot | measured | |", "|---|---|---|---|---|")
    for what, goal, moonshot, measured, reached in rows:
        mark = {True: "reached", False: "not reached", None: "open"}[reached]
        yield f"| {what} | {goal} | {moonshot} | {measured} | {mark} |"
    yield ""


Goal = tuple[str, str, str, str, bool | None]


def _goals(results: Results) -> Iterator[Goal]:
    for work, most, best in (("pig-100", 10, 4), ("super-six-1000", 10, 3)):
        ratio = results.ratios.get(work)
        if ratio is not None:
            yield (
                f"{work}, times the kernel by hand",
                f"at most {most}",
                str(best),
                f"{ratio:.1f}",
                ratio <= most,
            )
    ours = results.seconds("pig-100-response", REFERENCE)
    sound = [
        row.median() for row in results.of("pig-100-response", "storm") if row.runs[0]["claimed"]
    ]
    if ours and sound:
        times = min(sound) / ours
        yield (
            "pig-100-response, times faster than Storm's fastest sound method",
            "at least 5",
            "20",
            f"{times:.1f}",
            times >= 5,
        )
    yield from _against_open_spiel(results)
    for row in results.of("super-six-1000", REFERENCE):
        yield (
            "super-six-1000, memory",
            "at most 2 GB",
            "",
            f"{row.peak / 1e9:.2f} GB",
            row.peak <= 2e9,
        )
    for row in results.growth:
        if (row["game"], row["size"]) == ("super-six", 3000) and "fault" not in row:
            yield (
                "super-six, 3,000 sticks",
                "120 s and 6 GB",
                "",
                f"{row['seconds']:.0f} s and {row['peak'] / 1e9:.1f} GB",
                row["seconds"] <= 120 and row["peak"] <= 6e9,
            )
    for row in results.commands:
        if row["command"] == "rollwise solve pig" and row["again"]:
            again, first = row["again"], row["first"].get("seconds")
            yield (
                "`rollwise solve pig`, again",
                "at most 1.5 s",
                "0.8 s",
                f"{again:.2f} s",
                again <= 1.5,
            )
            yield (
                "`rollwise solve pig`, first use ever",
                "at most 15 s",
                "",
                f"{first:.1f} s" if first else row["first"]["fault"],
                bool(first) and first <= 15,
            )


def _against_open_spiel(results: Results) -> Iterator[Goal]:
    for row in results.rows:
        ours = results.seconds(row.work, REFERENCE)
        if row.work == "pig-100" and row.peer == "open_spiel" and ours:
            if row.finished:
                times = row.median() / ours
                yield (
                    "pig-100, times faster than OpenSpiel",
                    "thousands",
                    "",
                    f"{times:,.0f}",
                    times >= 1000,
                )
            elif row.why_not.startswith("didn't finish"):
                least = results.settings.limit / ours
                yield (
                    "pig-100, times faster than OpenSpiel",
                    "thousands",
                    "",
                    f"more than {least:,.0f}: it didn't finish",
                    True if least >= 1000 else None,
                )


COLUMNS = (
    "tool",
    "way",
    "build",
    "solve",
    "certify",
    "total",
    "from–to",
    "runs",
    "time over rollwise's",
    "error claimed",
    "error reached",
    "memory",
)


def works(results: Results) -> Iterator[str]:
    """A table for each problem, and who isn't in it."""
    if not results.problems:
        return
    yield from ("## The same work", "")
    yield (
        "Errors are of win probabilities (of points for Threes): the largest distance from the "
        "certified answer over all positions that the tool gives (*start*: over the start alone); "
        "rollwise's own is at most what it claims, since that is proved. "
        "`build` makes the tool's own model from its input; `memory` is the peak of the whole "
        "process. Tools that take arrays got rollwise's, and making these isn't counted."
    )
    yield ""
    for name, facts in results.problems.items():
        yield f"### {name}: {find_work(name).title}"
        yield ""
        yield (
            f"{facts['n_states']:,} states, {facts['n_actions']:,} actions, "
            f"{facts['n_outcomes']:,} outcomes. Answer at the start: "
            f"{facts['start']:.12f}, certified ± {facts['bound']:.1e} everywhere"
            + (
                f"; equal to {facts['checked']} known answer{'s' * (facts['checked'] > 1)} "
                "from outside."
                if facts.get("checked")
                else "."
            )
        )
        yield ""
        yield f"| {' | '.join(COLUMNS)} |"
        yield "|---" * len(COLUMNS) + "|"
        own = [row for row in results.rows if row.work == name]
        ours = results.seconds(name, REFERENCE)
        for row in own:
            if row.finished:
                yield "| " + " | ".join(finished_cells(row, ours)) + " |"
            elif row.why_not.startswith("didn't finish"):
                least = "" if ours is None else f"> {results.settings.limit / ours:,.0f}"
                cells = [row.tool, row.label, "", "", "", f"> {results.settings.limit:.0f} s"]
                yield "| " + " | ".join([*cells, "", "0", least, "", "", ""]) + " |"
        yield ""
        yield from absent(own)


def finished_cells(row: Row, ours: float | None) -> list[str]:
    """The cells of a row with an answer."""
    run = row.runs[0]
    stages_ = [
        seconds(row.median(stage)) if stage in run["seconds"] else ""
        for stage in ("build", "solve", "certify")
    ]
    low, high = row.spread
    where = " (start)" if run["compared"] == 1 else ""
    error = max(run["error"] for run in row.runs)
    claim = run["claim"]
    if run["claimed"] is not None:
        claim = f"± {run['claimed']:.1e}, {claim}"
    return [
        row.tool,
        row.label,
        *stages_,
        f"**{seconds(row.median())}**",
        f"{seconds(low)}–{seconds(high)}" if len(row.runs) > 1 else "",
        str(len(row.runs)),
        "" if not ours else f"{row.median() / ours:.3g}",
        claim,
        "at most that" if row.peer == REFERENCE else f"{error:.1e}{where}",
        f"{row.peak / MEGA:,.0f} MB",
    ]


def absent(rows: Sequence[Row]) -> Iterator[str]:
    """Who has no row, by the reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if not row.finished and not row.why_not.startswith("didn't finish"):
            reasons.setdefault((row.tool, row.why_not), []).append(row.label)
    for (tool, why), labels in reasons.items():
        every = sum(row.tool == tool for row in rows) == len(labels)
        yield f"- {tool}{'' if every else ' (' + '; '.join(labels) + ')'}: {why}."
    if reasons:
        yield ""


def seconds(amount: float) -> str:
    """Seconds with three digits that matter."""
    if amount < 1e-3:
        return f"{amount * 1e6:.3g} µs"
    if amount < 1:
        return f"{amount * 1e3:.3g} ms"
    return f"{amount:.3g} s"


def stage_table(results: Results) -> Iterator[str]:
    """Where rollwise's time goes, beside the limit of memory."""
    if not results.stages:
        return
    rate = results.facts["bandwidth"]
    yield from ("## Stages, and what memory allows", "")
    yield (
        f"One core moves {rate / 1e9:.1f} GB/s here (the triad of STREAM in NumPy, the best of "
        "several runs). In brackets: the time in which a stage's bytes, each touched once, could "
        "be read or written at that rate. `compile` is nothing once a process has the rules."
    )
    yield ""
    names = stages.STAGES
    columns = ["game", "states", "graph", *names, "first use in a process", "warm", "memory"]
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for row in results.stages:
        title = " ".join([row["game"], *(f"{k}={v}" for k, v in row["parameters"].items())])
        if "fault" in row:
            yield f"| {title} | {row['fault']} |" + " |" * (len(names) + 4)
            continue
        took, bytes_ = row["seconds"], row["least_bytes"]
        cells = [
            seconds(took[name])
            + (f" ({seconds(bytes_[name] / rate)})" if name in bytes_ and rate else "")
            for name in names
        ]
        warm = sum(took[name] for name in names if name != "table")
        yield (
            f"| {title} | {row['n_states']:,} | {row['graph_bytes'] / MEGA:,.1f} MB | "
            f"{' | '.join(cells)} | {seconds(row['first'])} | {seconds(warm)} | "
            f"{row['peak'] / MEGA:,.0f} MB |"
        )
    yield ""


def growth_table(results: Results) -> Iterator[str]:
    """Time and memory by size, and the exponents."""
    if not results.growth:
        return
    yield from ("## Growth", "")
    if results.no_picture:
        yield f"No picture: {results.no_picture}."
    else:
        yield f"![Time and memory against the number of states]({PICTURE})"
    yield ""
    for game, powers in growth.exponents(results.growth).items():
        words = [f"{what} ∝ states^{p:.2f}" for what, p in powers.items() if p is not None]
        if words:
            yield f"- {game}: {', '.join(words)} (from {growth.FEW_STATES:,} states on)"
    yield ""
    yield "| game | size | states | outcomes | seconds | runs | peak memory | certified ± |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in results.growth:
        size = f"{row['parameter']}={row['size']}"
        if "fault" in row:
            yield f"| {row['game']} | {size} | {row['fault']} | | | | | |"
            continue
        yield (
            f"| {row['game']} | {size} | {row['n_states']:,} | {row['n_outcomes']:,} | "
            f"{seconds(row['seconds'])} | {row['runs']} | {row['peak'] / MEGA:,.0f} MB | "
            f"{row['bound']:.1e} |"
        )
    yield ""


def command_table(results: Results) -> Iterator[str]:
    """Whole commands, from nothing and again."""
    if not results.commands:
        return
    yield from ("## Whole commands", "")
    yield "| command | first use ever, empty caches | again (median) | peak memory |"
    yield "|---|---|---|---|"
    for row in results.commands:
        first = row["first"]
        begun = seconds(first["seconds"]) if "seconds" in first else first["fault"]
        again = seconds(row["again"]) if row["again"] else "failed"
        yield f"| `{row['command']}` | {begun} | {again} | {row['peak'] / MEGA:,.0f} MB |"
    yield ""


def rate_tables(results: Results) -> Iterator[str]:
    """Learning and simulating."""
    titles = {
        "learning": "Learning dice blackjack (15 to 17, two dice, M = 100)",
        "simulating": "Simulating Pig, hold at 20 or to win, against itself",
    }
    for what, title in titles.items():
        rows: Sequence[Mapping[str, Any]] = results.rates.get(what, [])
        if not rows:
            continue
        yield from (f"## {title}", "")
        yield "| | million games a second | a core | times plain Python |"
        yield "|---|---|---|---|"
        slow = rows[0]["rate"]
        for row in rows:
            yield (
                f"| {row['name']} | {row['rate'] / 1e6:.4g} | "
                f"{row['rate'] / row['cores'] / 1e6:.4g} | {row['rate'] / slow:,.0f} |"
            )
        yield ""
    if "fault" in results.rates:
        yield f"Learning and simulating: {results.rates['fault']}."
        yield ""
