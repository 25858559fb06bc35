"""What the project set out to reach, and what a run says of it."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.growth import LARGEST
from benchmarks.results import REFERENCE, Results
from benchmarks.tables import markdown_table

Goal = tuple[str, str, str, str, bool | None]


def goals(results: Results) -> Iterator[str]:
    """A table, empty where nothing of it was measured."""
    rows = list(_goals(results))
    if not rows:
        return
    marks = {True: "reached", False: "not reached", None: "open"}
    yield from ("## Goals", "")
    yield from markdown_table(
        ["", "goal", "moonshot", "measured", ""],
        [[*words, marks[reached]] for *words, reached in rows],
    )
    yield ""


def _goals(results: Results) -> Iterator[Goal]:
    for work, most, best in (("pig-100", 6, 4), ("super-six-1000", 5, 3)):
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
            "at least 20",
            "",
            f"{times:.1f}",
            times >= 20,
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
        if (row["family"], row["size"]) == (LARGEST, 3000) and "fault" not in row:
            yield (
                "super-six, 3,000 sticks, by layer",
                "120 s and 6 GB",
                "",
                f"{row['seconds']:.0f} s and {row['peak'] / 1e9:.1f} GB",
                row["seconds"] <= 120 and row["peak"] <= 6e9,
            )
    yield from _of_commands(results)
    for row in results.wheel[:1]:
        first = row["platform"]["first"]
        yield (
            f"`{row['command']}`, first use ever of a wheel with compiled kernels",
            "at most 3 s",
            "",
            f"{first['seconds']:.2f} s" if "seconds" in first else first["fault"],
            first.get("seconds", float("inf")) <= 3,
        )


# Seconds that whole commands may take: the first time ever, and again.
FIRST = {
    "rollwise solve craps": 0.8,
    "rollwise solve piglet": 0.8,
    "rollwise solve threes": 0.8,
    "rollwise solve dice-blackjack": 0.8,
    "rollwise solve super-six sticks=7": 0.8,
    "rollwise solve pig": 7.0,
}
AGAIN = {
    "rollwise --help": 0.15,
    "rollwise solve craps": 0.3,
    "rollwise solve pig": 0.45,
    "rollwise table pig --load FILE --limit 5": 0.35,
    "rollwise advise pig --load FILE --state banked=0,rival=0,turn=20": 0.35,
    "rollwise play piglet --seed 1": 0.4,
    "rollwise play pig --seed 1": 0.4,
}


def _of_commands(results: Results) -> Iterator[Goal]:
    for row in results.commands:
        name = row["command"]
        if name in FIRST:
            took = row["first"].get("seconds")
            said = f"{took:.2f} s" if took else row["first"]["fault"]
            reached = bool(took) and took <= FIRST[name]
            yield f"`{name}`, first use ever", f"at most {FIRST[name]} s", "", said, reached
        if name in AGAIN and row["again"]:
            took = row["again"]
            goal = f"at most {AGAIN[name]} s"
            yield f"`{name}`, again", goal, "", f"{took:.2f} s", took <= AGAIN[name]


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
                least = row.limit / ours
                yield (
                    "pig-100, times faster than OpenSpiel",
                    "thousands",
                    "",
                    f"more than {least:,.0f}: it didn't finish",
                    True if least >= 1000 else None,
                )
