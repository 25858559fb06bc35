"""RESULTS.md, from what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks import gallery, growth, history, large, limits
from benchmarks.goals import goals
from benchmarks.measure import Row
from benchmarks.results import REFERENCE, Results
from benchmarks.tables import markdown_table, seconds
from benchmarks.work import find_work

PICTURE = "growth.svg"
MEBI = 2**20


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
        f"{results.settings.limit / 2:.0f} s it is the only one (but rollwise and the kernels by "
        "hand always have more). Seconds are medians. A run may "
        f"take {results.settings.limit:.0f} s"
        + "".join(
            f", of {row.tool} with {row.work} {row.limit:.0f} s"
            for row in results.rows
            if row.limit > results.settings.limit
        )
        + ".",
        "",
        *goals(results),
        *works(results),
        *limit_tables(results),
        *gallery_table(results),
        *growth_table(results),
        *command_table(results),
        *wheel_table(results),
        *trick_tables(results),
        *trace_table(results),
        *rate_tables(results),
        *large.section(large.answers(), large.read()),
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


def merged(page: str, part: str, about: str) -> str:
    """A page of results with what a later run measured in its place.

    Parameters
    ----------
    page : str
        Of a run of everything.
    part : str
        Of a run of some problems or sections. Rows of the goals take the place of those with the
        same name. A new section comes before the next one that both pages have.
    about : str
        When that was, for a line under the heading of each part that is replaced.
    """
    old, new = _parts(page, "\n## "), _parts(part, "\n## ")
    headings = list(new)
    for number, (heading, text) in enumerate(new.items()):
        if heading and heading not in old:
            behind = next((name for name in headings[number:] if name in old), None)
            old = _inserted(old, behind, heading, _dated(about, text))
        elif heading == "The same work":
            problems, later = _parts(old[heading], "\n### "), _parts(text, "\n### ")
            again = {
                name: _dated(about, later[name]) for name in later if name and name in problems
            }
            old[heading] = _whole(problems | again, "\n### ")
        elif heading == "Goals":
            rows = {_label(line): line for line in text.splitlines() if line.startswith("|")}
            lines = old[heading].split("\n")
            old[heading] = "\n".join(rows.get(_label(line), line) for line in lines)
        elif heading:
            is_dated = f"## {heading}" in (large.HEADING, "## History")
            old[heading] = text if is_dated else _dated(about, text)
    return _whole(old, "\n## ")


def _inserted(parts: dict[str, str], before: str | None, heading: str, text: str) -> dict[str, str]:
    """The parts of a page with one more, before another one or at the end."""
    names = list(parts)
    place = len(names) if before is None else names.index(before)
    names.insert(place, heading)
    return {name: text if name == heading else parts[name] for name in names}


def _parts(page: str, mark: str) -> dict[str, str]:
    """The text below each heading; what comes before the first one has none."""
    first, *others = page.split(mark)
    found = {"": first}
    for other in others:
        heading, end, text = other.partition("\n")
        found[heading] = end + text
    return found


def _whole(parts: Mapping[str, str], mark: str) -> str:
    """What `_parts` took apart."""
    return "".join(f"{mark}{heading}{text}" if heading else text for heading, text in parts.items())


def _dated(about: str, text: str) -> str:
    return f"\n\n{about}{text.rstrip()}\n"


def _label(row: str) -> str:
    return row.split("|")[1] if row.startswith("|") else row


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
    if not results.problems and not results.skipped:
        return
    yield from ("## The same work", "")
    yield (
        "Errors are of win probabilities (of points for Threes): the largest distance from the "
        "certified answer over all positions that the tool gives (*start*: over the start alone); "
        "rollwise's own is at most what it claims, since that is proved. "
        "`build` makes the tool's own model from its input; `memory` is the peak of the whole "
        "process. Tools that take arrays got rollwise's, and making these isn't counted. Where a "
        "tool solves only what play from the start comes to, it says how many states these are."
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
        own = [row for row in results.rows if row.work == name]
        ours = results.seconds(name, REFERENCE)
        cells = []
        for row in own:
            if row.finished:
                cells.append(finished_cells(row, ours, facts["n_states"]))
            elif row.why_not.startswith("didn't finish"):
                least = "" if ours is None else f"> {row.limit / ours:,.0f}"
                took = f"> {row.limit:.0f} s"
                cells.append([row.tool, row.label, *3 * [""], took, "", "0", least])
        yield from markdown_table(COLUMNS, cells)
        yield ""
        yield from absent(own)
    for name, why in results.skipped.items():
        yield from (f"### {name}: {find_work(name).title}", "", f"Not measured: {why}.", "")


def finished_cells(row: Row, ours: float | None, n_states: int) -> list[str]:
    """The cells of a row with an answer."""
    run = row.runs[0]
    states = run.get("states", n_states)
    label = row.label if states == n_states else f"{row.label}, {states:,} states"
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
        label,
        *stages_,
        f"**{seconds(row.median())}**",
        f"{seconds(low)}–{seconds(high)}" if len(row.runs) > 1 else "",
        str(len(row.runs)),
        "" if not ours else f"{row.median() / ours:.3g}",
        claim,
        "at most that" if row.peer == REFERENCE else f"{error:.1e}{where}",
        megabytes(row.peak),
    ]


def megabytes(bytes_: float) -> str:
    """Bytes as whole megabytes."""
    return f"{bytes_ / MEBI:,.0f} MiB"


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


def limit_tables(results: Results) -> Iterator[str]:
    """Where rollwise's time goes, beside the least time that the machine allows."""
    rates = results.machine
    if not results.limits or rates is None:
        return
    yield from ("## Stages, and the limits of the machine", "")
    sizes = ", ".join(
        f"{seconds(took)} in {megabytes(size) if size >= MEBI else f'{size >> 10} KiB'}"
        for size, took in sorted(rates.accesses.items())
    )
    yield (
        f"One core moves {rates.bytes / 1e9:.1f} GB/s here (the triad of STREAM in NumPy). A "
        f"multiplication with an addition, of a value found by its index, takes "
        f"{seconds(rates.operation)}; the end of a loop of unknown length takes "
        f"{seconds(rates.loop)}. A random access to a table takes {sizes}. Each is the best of "
        "several runs."
    )
    yield ""
    yield (
        "The limit of a stage is the largest of three times: for the bytes that it has to read or "
        "write once, for its operations, and for the ends of its loops (`benchmarks/limits.py` has "
        "the models). A game with circles needs several sweeps; the limit has one. The last column "
        "is the time of its random accesses, if each misses the caches as often as at random; they "
        "aren't part of the limit. `order` and `table` are measured by themselves; `solve` has "
        "the order. By layers, `states` finds the positions, and proofs run on the second core."
    )
    yield ""
    columns = ["game", "stage", "time", "limit", "by", "times the limit", "bytes", "operations"]
    columns += ["ends of loops", "random accesses"]
    lines = []
    for row in results.limits:
        title = " ".join([row["game"], *(f"{k}={v}" for k, v in row["parameters"].items())])
        if "fault" in row:
            lines.append([title, row["fault"]])
            continue
        size = limits.Counts(**row["counts"])
        known = limits.models(size)
        about = f"{title}: {size.positions:,} positions, {size.outcomes:,} outcomes"
        about += f", first use {seconds(row['first'])}, {megabytes(row['peak'])}"
        for stage in limits.STAGES:
            if not row["seconds"].get(stage):
                continue
            took = row["seconds"][stage]
            cells = [about, f"`{stage}`", seconds(took)]
            about = ""
            if stage in known:
                model = known[stage]
                limit, part = rates.limit(model)
                parts = rates.seconds(model)
                cells += [seconds(limit), part, f"**{took / limit:.1f}**"]
                cells += [seconds(parts[name]) if parts[name] else "" for name in PARTS]
            lines.append(cells)
    yield from markdown_table(columns, lines)
    yield ""
    far = sorted(
        (
            row["seconds"][stage] - rates.limit(model)[0],
            f"{row['game']}, `{stage}`",
        )
        for row in results.limits
        if "fault" not in row
        for stage, model in limits.models(limits.Counts(**row["counts"])).items()
        if stage in row["seconds"]
    )
    if far:
        lost, where = far[-1]
        yield from (f"The largest distance from a limit: {where}, {seconds(lost)}.", "")


PARTS = ("bytes", "operations", "loops", "accesses")


def gallery_table(results: Results) -> Iterator[str]:
    """What each game takes that rollwise has."""
    if not results.gallery:
        return
    yield from ("## Every game of the gallery", "")
    yield (
        "Each game once, at its default parameters, in a process of its own. A small Pig was "
        "solved there before, so that all code but the rules is loaded; `compile` compiles the "
        "rules, or reads them where an earlier run kept them. Stages of a game by layers overlap "
        "on two cores, and `total` is their sum. `memory` is the peak of the whole process."
    )
    yield ""
    columns = ["game", "states", "outcomes", "graph", *gallery.STAGES, "total", "memory", "±"]
    rows = []
    for row in results.gallery:
        if "fault" in row:
            rows.append([row["game"], row["fault"]])
            continue
        took = row["seconds"]
        rows.append(
            [
                row["game"],
                f"{row['n_states']:,}",
                f"{row['n_outcomes']:,}",
                _size(row["graph_bytes"]),
                *(seconds(took[stage]) if took.get(stage) else "" for stage in gallery.STAGES),
                seconds(sum(took.values())),
                megabytes(row["peak"]),
                f"{row['bound']:.1e}",
            ]
        )
    yield from markdown_table(columns, rows)
    yield ""


def _size(graph_bytes: int | None) -> str:
    """The size of a graph; games without one graph are solved by layers."""
    return "by layers" if graph_bytes is None else f"{graph_bytes / MEBI:,.1f} MiB"


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
    yield (
        "With the whole graph in memory; where the table says *by layer*, with that of one layer, "
        "certified on a second core (`rollwise solve --by-layer`). The first run of a size isn't "
        "counted; `peak memory` is that of the first run."
    )
    yield ""
    for family, powers in growth.exponents(results.growth).items():
        words = [f"{what} ∝ states^{p:.2f}" for what, p in powers.items() if p is not None]
        if words:
            yield f"- {family}: {', '.join(words)} (from {growth.FEW_STATES:,} states on)"
    yield ""
    columns = ["", "size", "states", "outcomes", "seconds", "runs", "peak memory", "certified ±"]
    rows = []
    for row in results.growth:
        about = [row["family"], f"{row['parameter']}={row['size']}"]
        if "fault" in row:
            rows.append([*about, row["fault"]])
            continue
        rows.append(
            [
                *about,
                f"{row['n_states']:,}",
                f"{row['n_outcomes']:,}",
                seconds(row["seconds"]),
                str(row["runs"]),
                megabytes(row["peak"]),
                f"{row['bound']:.1e}",
            ]
        )
    yield from markdown_table(columns, rows)
    yield ""


def command_table(results: Results) -> Iterator[str]:
    """Whole commands, from nothing and again."""
    if not results.commands:
        return
    yield from ("## Whole commands", "")
    rows = []
    for row in results.commands:
        first = row["first"]
        begun = seconds(first["seconds"]) if "seconds" in first else first["fault"]
        again = seconds(row["again"]) if row["again"] else "failed"
        rows.append([f"`{row['command']}`", begun, again, megabytes(row["peak"])])
    columns = ["command", "first use ever, empty caches", "again (median)", "peak memory"]
    yield from markdown_table(columns, rows)
    yield ""


def wheel_table(results: Results) -> Iterator[str]:
    """The first use of each wheel, and the next ones."""
    if not results.wheel:
        return
    yield from ("## Wheels", "")
    yield (
        "The first use ever of each wheel, with empty caches, and the median of further uses. "
        "`make wheel` makes the wheel for this platform: its kernels are compiled, for a common "
        "processor. The other wheel compiles them on the first use."
    )
    yield ""
    rows = []
    for row in results.wheel:
        cells = [f"`{row['command']}`"]
        for place in ("any", "platform"):
            first, again = row[place]["first"], row[place]["again"]
            cells.append(seconds(first["seconds"]) if "seconds" in first else first["fault"])
            cells.append(seconds(again) if again else "failed")
        rows.append(cells)
    columns = ["command", "all platforms: first use", "again", "this platform: first use", "again"]
    yield from markdown_table(columns, rows)
    yield ""


def trick_tables(results: Results) -> Iterator[str]:
    """What is lost without each trick of the machine room."""
    if not results.tricks:
        return
    yield from ("## What each trick brings", "")
    yield (
        "The same work with all tricks of the machine room, and without each of them "
        "(`ROLLWISE_OFF`), in turns: the least wall time and the least CPU time, of all cores, "
        "of so many runs. In brackets: over that with all tricks."
    )
    yield ""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in results.tricks:
        groups.setdefault((row["game"], row["what"]), []).append(row)
    cells = []
    for (game, what), group in groups.items():
        whole = group[0]
        for row in group:
            about = [game, what, row["trick"] if row is whole else f"without {row['trick']}"]
            if "fault" in row:
                cells.append([*about, row["fault"]])
                continue
            times = [
                seconds(row[key])
                + ("" if row is whole or "fault" in whole else f" ({row[key] / whole[key]:.2f})")
                for key in ("seconds", "cpu")
            ]
            cells.append([*about, *times, str(row["runs"])])
    yield from markdown_table(["", "what", "", "wall time", "CPU time", "runs"], cells)
    yield ""


def trace_table(results: Results) -> Iterator[str]:
    """How much of rollwise a command passes through."""
    if not results.traces:
        return
    yield from ("## The way of the data", "")
    yield (
        "What a command passes through where everything is compiled and no answer is kept: files "
        "of rollwise, functions, and calls from one file into another "
        "(`python -m benchmarks.trace` says what is counted)."
    )
    yield ""
    rows = [
        [f"`{row['command']}`", *(f"{row[key]:,}" for key in ("files", "functions", "changes"))]
        for row in results.traces
    ]
    yield from markdown_table(["command", "files", "functions", "changes of file"], rows)
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
        slow = rows[0]["rate"]
        yield from markdown_table(
            ["", "million games a second", "a core", "times plain Python"],
            [
                [
                    row["name"],
                    f"{row['rate'] / 1e6:.4g}",
                    f"{row['rate'] / row['cores'] / 1e6:.4g}",
                    f"{row['rate'] / slow:,.0f}",
                ]
                for row in rows
            ],
        )
        yield ""
    if "fault" in results.rates:
        yield f"Learning and simulating: {results.rates['fault']}."
        yield ""
