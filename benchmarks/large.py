"""Known answers that take minutes: each in a process of its own, one after the other.

    python -m benchmarks.large [--only NAME,NAME] [--limit SECONDS] [--folder FOLDER]

`make test-large` runs all of `tests/large_answers.toml`, which says what an answer is. Time and
memory go to large.json, and from there to the section of RESULTS.md. The exit code is 1 where a
figure differs from the known one. Answers that are saved go to FOLDER and stay there; without
it they go to a temporary folder.

    python -m benchmarks.large --solve NAME MEMORY [--folder FOLDER]

solves one of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Settings, ask
from benchmarks.memory import peak_bytes
from benchmarks.tables import markdown_table, seconds
from benchmarks.worker import UNLIMITED, say_once

ANSWERS = ROOT / "tests" / "large_answers.toml"
MEASURED = Path(__file__).parent / "large.json"
PAGE = Path(__file__).parent / "RESULTS.md"
HEADING = "## Known answers of large games"
FIGURES = ("win_probability", "score", "payoff")
COLUMNS = (
    "game",
    "known",
    "here",
    "states",
    "time",
    "core-minutes",
    "published",
    "memory",
    "source",
    "when and where",
)
CERTIFIED = 1e-10
LIMIT = 3 * 3600.0

Entry = Mapping[str, Any]


def answers(path: Path = ANSWERS) -> dict[str, Entry]:
    """The known answers, by name."""
    return {one["name"]: one for one in tomllib.loads(path.read_text(encoding="utf-8"))["answer"]}


def solved(entry: Entry, folder: Path) -> dict[str, Any]:
    """Solve a game; its figures, seconds and peak memory.

    Parameters
    ----------
    folder : Path
        For an answer that is saved.
    """
    import rollwise
    from rollwise.games import find

    game = find(entry["game"])(**entry.get("parameters", {}))
    if "target" in entry:
        game = rollwise.Chase(game, entry["target"])
    if "contest" in entry:
        game = rollwise.Duel(game, entry["contest"])
    if game.players > 2:
        return seated(game, entry.get("max_states"))
    started, busy = time.perf_counter(), time.process_time()
    if entry.get("by_layer"):
        place = folder if entry.get("save") else None
        solution = rollwise.solve_by_layers(game, keep=entry.get("keep", "all"), save=place)
    else:
        solution = rollwise.solve(game)
    took, busy = time.perf_counter() - started, time.process_time() - busy
    here = solution.find(entry["state"]) if "state" in entry else solution.start
    value, bound = float(solution.values[here]), float(solution.error_bounds[here])
    if not solution.is_score:
        value, bound = (1 + value) / 2, bound / 2 + 2.0**-52
    return {
        "states": solution.space.n_states
        if entry.get("by_layer")
        else len(solution.graph.positions),
        "value": value,
        "bound": bound,
        "certified": solution.error_bound,
        "seconds": took,
        "cpu": busy,
        "stages": dict(solution.seconds),
        "peak": peak_bytes(),
    }


def seated(game: Any, max_states: int | None) -> dict[str, Any]:
    """The same of an equilibrium; what is certified is what anybody gains by leaving it, too."""
    import rollwise

    started, busy = time.perf_counter(), time.process_time()
    found = rollwise.equilibrium(game, max_states=max_states)
    took, busy = time.perf_counter() - started, time.process_time() - busy
    return {
        "states": found.graph.n_positions,
        "value": found.win_probabilities[0],
        "bound": float(found.error_bounds[0].max()),
        "certified": max(found.error_bound, found.deviation_gain),
        "win_probabilities": list(found.win_probabilities),
        "error_bound": found.error_bound,
        "deviation_gain": found.deviation_gain,
        "mixing": len(found.mixing),
        "seconds": took,
        "cpu": busy,
        "stages": dict(found.seconds),
        "peak": peak_bytes(),
    }


def differences(entry: Entry, found: Mapping[str, Any]) -> list[str]:
    """Which figures aren't the known ones, a line each."""
    if "fault" in found:
        return [found["fault"]]
    (figure,) = [name for name in FIGURES if name in entry]
    known = Fraction(entry[figure])
    half_digit = Fraction(0)
    if "/" not in entry[figure]:
        half_digit = Fraction(1, 2 * 10 ** len(entry[figure].partition(".")[2]))
    faults = []
    if not abs(Fraction(found["value"]) - known) <= half_digit + Fraction(found["bound"]):
        name = figure.replace("_", " ")
        faults.append(f"the {name} is {found['value']!r}, and {entry[figure]} is known")
    if "states" in entry and found["states"] != entry["states"]:
        faults.append(f"there are {found['states']:,} states, and {entry['states']:,} are known")
    if not found["certified"] <= entry.get("certified", CERTIFIED):
        faults.append(
            f"the certified error is {found['certified']:.1e}, above "
            f"{entry.get('certified', CERTIFIED):.0e}"
        )
    return faults


def title(entry: Entry) -> str:
    """The game as it is typed, and how it is solved."""
    words = [entry["game"], *(f"{k}={v}" for k, v in entry.get("parameters", {}).items())]
    if "target" in entry:
        words.append(f"as=chase target={entry['target']}")
    if "contest" in entry:
        words.append(f"as=contest ties={entry['contest']}")
    if entry.get("by_layer"):
        words.append("--by-layer")
    if "keep" in entry:
        words.append(f"--keep {entry['keep']}")
    if entry.get("save"):
        words.append("--save FOLDER")
    return " ".join(words)


def read(path: Path = MEASURED) -> dict[str, dict[str, Any]]:
    """What the last runs found, by name."""
    if not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def section(known: Mapping[str, Entry], found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The section of RESULTS.md: a row for each answer that was found again."""
    rows = []
    for name, entry in known.items():
        if name not in found:
            continue
        row = found[name]
        about = [f"`{title(entry)}`", entry[next(k for k in FIGURES if k in entry)]]
        when = f"{row['date']}, {row['commit']}, {row['machine']}"
        if "fault" in row:
            rows.append([*about, row["fault"], *[""] * 6, when])
            continue
        fault = "; ".join(differences(entry, row))
        rows.append(
            [
                *about,
                fault or f"{row['value']:.15g} ± {row['bound']:.1e}",
                f"{row['states']:,}",
                seconds(row["seconds"]),
                f"{row['cpu'] / 60:.1f}" if "cpu" in row else "",
                entry.get("published_core_minutes", ""),
                f"{row['peak'] / 2**20:,.0f} MiB",
                entry["source"],
                when,
            ]
        )
    if not rows:
        return
    yield from (HEADING, "")
    yield (
        "Written by `make test-large`: each solved once, in a process of its own, with its rules "
        "compiled. `memory` is the peak of the whole process, with the pages of files that it has "
        "mapped. Core-minutes are processor time; those that are published are cores times time. "
        "An answer is a chance to win, or an expected score or payoff."
    )
    yield ""
    yield from markdown_table(COLUMNS, rows)
    yield ""


def refreshed(page: str, lines: list[str]) -> str:
    """A page of results with this section in the place of the old one, or before the history."""
    parts = page.split("\n## ")
    kept = [part for part in parts if not f"## {part}".startswith(HEADING)]
    place = next((k for k, part in enumerate(kept) if part.startswith("History")), len(kept))
    new = "\n".join(lines).removeprefix("## ")
    return "\n## ".join([*kept[:place], *([new] if lines else []), *kept[place:]])


def run(given: argparse.Namespace, tell: Any = print) -> int:
    """Find the answers again that are wanted; the exit code."""
    from benchmarks.__main__ import commit, machine

    known, found, wrong = answers(given.answers), read(given.measured), 0
    about = {"date": date.today().isoformat(), "commit": commit(), "machine": machine()}
    for name in given.only.split(",") if given.only else known:
        if name not in known:
            tell(f"--only {name}: there is no such answer ({', '.join(known)})")
            return 2
    for name in given.only.split(",") if given.only else known:
        arguments = ["benchmarks.large", "--answers", str(given.answers)]
        arguments += [] if given.folder is None else ["--folder", str(given.folder / name)]
        # files that are mapped would count
        memory = UNLIMITED if known[name].get("save") else str(Settings().memory)
        said = ask([*arguments, "--solve", name, memory], given.limit)
        faults = differences(known[name], said)
        wrong += bool(faults)
        took = "" if "fault" in said else f" ({said['seconds']:.1f} s, {said['peak'] >> 20:,} MiB)"
        tell(f"{name}: {'; '.join(faults) or 'as known'}{took}", flush=True)
        found[name] = {**said, **about}
        text = json.dumps({name: found[name] for name in known if name in found}, indent=1)
        given.measured.write_text(text + "\n", encoding="utf-8")
    page = given.page.read_text(encoding="utf-8")
    given.page.write_text(refreshed(page, list(section(known, found))), encoding="utf-8")
    return int(wrong > 0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("--only", help="some of them, with commas between")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds that one may take")
    parser.add_argument("--folder", type=Path, help="where answers that are saved stay")
    parser.add_argument("--answers", type=Path, default=ANSWERS)
    parser.add_argument("--measured", type=Path, default=MEASURED)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--solve", nargs=2, metavar=("NAME", "MEMORY"))
    given = parser.parse_args()
    if given.solve is None:
        sys.exit(run(given))
    name, memory = given.solve
    with tempfile.TemporaryDirectory() as passing:
        folder = given.folder or Path(passing) / name
        say_once(memory, lambda: solved(answers(given.answers)[name], folder))


if __name__ == "__main__":
    main()
