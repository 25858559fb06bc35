"""How large games grow, and what more workers bring: the figures of scale.md.

    python -m benchmarks.scale [--only sizes,workers,growth]

measures on this machine, keeps what it found in scale.json, and writes the tables of the page.
`growth` takes an hour; `--only pig:595` measures one size of it.

    python -m benchmarks.scale --solve "GAME NAME=VALUE" MEMORY

solves one size of a game by layers, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import growth
from benchmarks.commands import ROLLWISE, measure
from benchmarks.large import answers, read, title
from benchmarks.measure import ROOT, Settings, ask
from benchmarks.memory import peak_bytes
from benchmarks.tables import markdown_table, seconds
from benchmarks.worker import say_once

MEASURED = Path(__file__).parent / "scale.json"
PAGE = Path(__file__).with_name("scale.md")
PLACE = r"(?<=<!-- from benchmarks/scale.py: {} -->\n).*?(?=<!-- end -->)"
SIZES = [
    ("finkel", 2),
    ("masters", 2),
    ("finkel", 3),
    ("masters", 3),
    ("finkel", 4),
    ("masters", 4),
]
FEW_STATES = 10_000  # below, fixed costs hide how time grows
MANY_STATES = 500_000  # below, what a process takes anyhow hides how memory grows
# Games by layers, from 10^4 positions to 10^8: the parameters that grow together, and a size that
# is solved first, so that kernels are read.
GROWN = {
    "royal-ur": ("pieces", 3, (2, 3, 4, 5)),
    "super-six": ("sticks", 60, (43, 130, 410, 1300, 4100)),
    "pig": ("target", 45, (28, 60, 128, 275, 595)),
    "risk": ("attackers defenders", 200, (142, 450, 1420, 4500, 14200)),
}
HOURS = 2.0  # that one size may take
PICTURE = ROOT / "docs" / "images" / "growth-by-layer.svg"
MASTERS = "royal-ur-masters"  # with seven pieces: what the model is tried on
LIMIT = 300.0
BUSY = 0.5  # programs that run, on average: more disturb what is measured
# Work, and whether it is solved by layers into a folder.
COMMANDS = {
    "tune pig --vary target=60..75 --for min_value": False,
    "solve royal-ur pieces=3 --by-layer": True,
    "solve yahtzee boxes=10 --by-layer": True,
    "thumb pig --searches 2 --evaluations 400": False,
}
WAYS = {
    "one process, one core": ([], {"ROLLWISE_OFF": "second-core"}),
    "one process": ([], {}),
    "`--workers 2`": (["--workers", "2"], {}),
    "`--cluster`, two workers": (["--cluster"], {}),
}

Row = Mapping[str, Any]


def solved(words: str) -> dict[str, Any]:
    """Solve a size with its rules compiled before; seconds, positions and peak memory."""
    from rollwise.answer.solve_by_layers import solve_by_layers
    from rollwise.builders import by_layer
    from rollwise.cli.common import read_game

    name, *assignments = words.split()
    game = read_game(name, assignments)
    by_layer._compiled(game, None)
    parameters, ready, _ = GROWN[game.name]
    small = {one: min(getattr(game, one), ready) for one in parameters.split()}
    solve_by_layers(replace(game, **small))
    before = peak_bytes()
    started, busy = time.perf_counter(), time.process_time()
    solution = solve_by_layers(game, max_states=growth.MOST_STATES)
    return {
        "seconds": time.perf_counter() - started,
        "cpu": time.process_time() - busy,
        "states": len(solution.space.states),
        "stages": dict(solution.seconds),
        "value": solution.value,
        "bound": solution.error_bound,
        "peak_before": before,
        "peak": peak_bytes(),
    }


def sizes() -> list[dict[str, Any]]:
    """What each size of the model takes."""
    found = []
    for path, pieces in SIZES:
        words = f"royal-ur path={path} pieces={pieces}"
        twice = [_asked(words, LIMIT) for _ in range(2)]
        said = min(twice, key=lambda run: run.get("seconds", np.inf))
        found.append({"path": path, "pieces": pieces, **said})
        print(f"{words}: {said}", flush=True)
    return found


def sizes_in_turn() -> Iterator[tuple[str, int]]:
    """The games of the growth figure and their sizes, small ones first."""
    for place in range(max(len(sizes) for _, _, sizes in GROWN.values())):
        for name, (_, _, sizes) in GROWN.items():
            if place < len(sizes):
                yield name, sizes[place]


def grown(wanted: Collection[str], known: Sequence[Row]) -> Iterator[list[dict[str, Any]]]:
    """What each size of some games takes: all that is known, after each that was measured.

    Parameters
    ----------
    wanted : collection of str
        Sizes to measure, as in ``pig:595``; ``growth`` are all.
    """
    from benchmarks.__main__ import commit

    found = {(row["family"], row["size"]): dict(row) for row in known}
    for name, size in sizes_in_turn():
        if not ({"growth", f"{name}:{size}"} & set(wanted)):
            continue
        parameter = GROWN[name][0]
        said = _asked(f"{name} {assigned(parameter, size)}", HOURS * 3600)
        about = {"family": name, "parameter": parameter, "size": size, "commit": commit()}
        found[name, size] = {**about, **said}
        print(found[name, size], flush=True)
        yield [found[key] for key in sizes_in_turn() if key in found]


def assigned(parameters: str, size: int) -> str:
    """The parameters of a size, as typed."""
    return " ".join(f"{one}={size}" for one in parameters.split())


def _asked(words: str, limit: float) -> dict[str, Any]:
    return ask(["benchmarks.scale", "--solve", words, str(Settings().memory)], limit)


@contextmanager
def two_workers() -> Iterator[str]:
    """The address of a scheduler with two workers of one thread."""
    import distributed

    from rollwise.cluster.dask_workers import _distributed

    _distributed()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
    ) as cluster:
        yield cluster.scheduler_address


def workers() -> list[dict[str, Any]]:
    """What each work takes, by who does it."""
    found = []
    with two_workers() as address:
        for command, by_layer in COMMANDS.items():
            words = [word.replace("_", " ") for word in command.split()] + ["--no-cache"]
            for way, (more, environment) in WAYS.items():
                given = [*more, address] if more == ["--cluster"] else more
                with tempfile.TemporaryDirectory() as folder:
                    place = ["--save", f"{folder}/answer"] if by_layer else []
                    said = measure([*ROLLWISE, *words, *place, *given], environment, LIMIT)
                found.append({"command": command.replace("_", " "), "way": way, **said})
                print(found[-1], flush=True)
    return found


def fitted(rows: Sequence[Row]) -> dict[str, float]:
    """Seconds t + c n^p, and bytes m + b n, of n positions: by least squares of relative errors."""
    from scipy.optimize import least_squares

    n = np.array([row["states"] for row in rows], float)
    took, held = (np.array([row[name] for row in rows], float) for name in ("seconds", "peak"))

    def off(x: Any) -> Any:
        return np.log(np.exp(x[0]) + np.exp(x[1]) * n ** x[2]) - np.log(took)

    begin = [np.log(took.min() / 2), np.log(took.max() / n.max()), 1.0]
    fixed, each_second, power = least_squares(off, begin, xtol=1e-14, ftol=1e-14).x
    each, base = np.polyfit(n, held, 1, w=1 / held)
    return {
        "t": float(np.exp(fixed)),
        "c": float(np.exp(each_second)),
        "p": float(power),
        "b": float(each),
        "m": float(base),
    }


def predicted(model: Mapping[str, float], n: float) -> tuple[float, float]:
    """Seconds and bytes of so many positions."""
    return model["t"] + model["c"] * n ** model["p"], model["m"] + model["b"] * n


def modelled(rows: Sequence[Row], known: Mapping[str, Row]) -> list[str]:
    """The table of sizes, and what the model says of larger ones."""
    good = sorted((row for row in rows if "fault" not in row), key=lambda row: row["states"])
    large = [row for row in good if row["states"] >= FEW_STATES]
    model, without = fitted(large), fitted(large[:-1])
    table = []
    for row in good:
        took, held = predicted(model, row["states"])
        table.append(
            [
                f"`path={row['path']} pieces={row['pieces']}`",
                f"{row['states']:,}",
                seconds(row["seconds"]),
                seconds(took),
                f"{row['peak'] / 1e9:.2f} GB",
                f"{held / 1e9:.2f} GB",
            ]
        )
    for row in known.values():
        if "fault" in row or row["states"] <= large[-1]["states"]:
            continue
        took, held = predicted(model, row["states"])
        table.append(
            [
                f"`{row['title']}`, measured before",
                f"{row['states']:,}",
                seconds(row["seconds"]),
                seconds(took),
                f"{row['peak'] / 1e9:.2f} GB",
                f"{held / 1e9:.2f} GB",
            ]
        )
    columns = ["`royal-ur`", "positions", "time", "model", "memory", "model"]
    last, (took, held) = large[-1], predicted(without, large[-1]["states"])
    return [
        *markdown_table(columns, table),
        "",
        f"The model, fitted to sizes from {large[0]['states']:,} to {last['states']:,} positions: "
        f"{model['t']:.2g} s + {model['c'] * 1e6:.3g} µs × n^{model['p']:.3f}, and "
        f"{model['m'] / 1e9:.2f} GB + {model['b']:.0f} bytes × n. "
        f"Fitted without the largest size, it says of that one {seconds(took)} and "
        f"{held / 1e9:.2f} GB.",
        "",
        *(_tried(model, last, known[MASTERS]) if "cpu" in known.get(MASTERS, {}) else []),
    ]


def _tried(model: Mapping[str, float], last: Row, masters: Row) -> list[str]:
    """What the model says of the largest game that was solved, and what it took."""
    n = masters["states"]
    whole, bytes_ = predicted(model, n)
    straight = last["seconds"] * n / last["states"]
    return [
        f"Royal Ur Masters with seven pieces has {n:,} positions, {n / last['states']:.0f} times "
        "as many as the largest size that the model was fitted to. It says "
        f"{whole / 3600:.1f} hours and {bytes_ / 1e9:.0f} GB; if time grew no faster than "
        "positions beyond that size, "
        f"{straight / 3600:.1f} hours. It took {masters['seconds'] / 3600:.1f} hours "
        f"({masters['cpu'] / 60:.0f} core-minutes) and {masters['peak'] / 1e9:.1f} GB, with the "
        "pages of its files that were in memory.",
        "",
    ]


def of_games(rows: Sequence[Row], known: Mapping[str, Row]) -> list[str]:
    """The table of the growth figure: processor time and bytes a position."""
    table = []
    for name in GROWN:
        for row in rows:
            if row["family"] != name:
                continue
            game = f"`{name} {assigned(row['parameter'], row['size'])}`"
            if "fault" in row:
                table.append([game, row["fault"], *[""] * 6])
                continue
            n = row["states"]
            table.append(
                [
                    game,
                    f"{n:,}",
                    seconds(row["seconds"]),
                    seconds(row["cpu"]),
                    f"{row['cpu'] / n * 1e6:.2f} µs",
                    f"{row['peak'] / 1e9:.2f} GB",
                    f"{(row['peak'] - row['peak_before']) / n:.0f}" if n >= MANY_STATES else "",
                    f"{row['bound']:.1e}",
                ]
            )
        table += [_of_large(row) for row in known.values() if name == "royal-ur" and "cpu" in row]
    columns = ["", "positions", "time", "processor time", "a position"]
    columns += ["memory", "bytes a position", "certified ±"]
    return [*markdown_table(columns, table), ""]


def _of_large(row: Row) -> list[str]:
    """A row of a size that `make test-large` has solved."""
    n = row["states"]
    return [
        f"`{row['title']}`",
        f"{n:,}",
        seconds(row["seconds"]),
        seconds(row["cpu"]),
        f"{row['cpu'] / n * 1e6:.2f} µs",
        f"{row['peak'] / 1e9:.2f} GB",
        "",
        f"{row['certified']:.1e}",
    ]


def draw(rows: Sequence[Row]) -> str:
    """The growth figure; an empty text, or why there is none."""
    good = [row for row in rows if "fault" not in row]
    named = [{**row, "n_states": row["states"], "seconds": row["cpu"]} for row in good]
    note = "Rules to a certified answer, once; seconds of processor time, of both cores together."
    return growth.draw(named, PICTURE, note, "Time and memory of four games by layers")


def gains(rows: Sequence[Row]) -> list[str]:
    """The table of workers."""
    table = []
    for command in dict.fromkeys(row["command"] for row in rows):
        of = {row["way"]: row for row in rows if row["command"] == command}
        cells = [of[way].get("fault") or seconds(of[way]["seconds"]) for way in WAYS]
        table.append([f"`{command}`", *cells])
    return [*markdown_table(["", *WAYS], table), ""]


def beside(load: float | None) -> str:
    """What is said of other programs, by how many ran in the minute before."""
    if load is None:
        return "Whether other programs ran then wasn't noted, so small differences say nothing."
    if load < BUSY:
        return ""
    return (
        f"Other programs used the machine: {load:.1f} of them on average, in the minute before. "
        "So small differences say nothing."
    )


def refreshed(page: str, found: Mapping[str, Any], known: Mapping[str, Row]) -> str:
    """The page with the tables that the measurements give."""
    for name, lines in (
        ("sizes", modelled(found["sizes"], known)),
        ("workers", gains(found["workers"])),
        ("growth", of_games(found["growth"], known)),
    ):
        said = [_when(found["about"][name]), ""] if name in found["about"] else []
        text = "\n".join([*said, *lines, ""])
        page = re.sub(PLACE.format(name), lambda _, text=text: text, page, count=1, flags=re.S)
    return page


def _when(about: Mapping[str, Any]) -> str:
    said = f"Measured on {about['date']} ({about['machine']}), at {about['commit']}."
    return " ".join(filter(None, [said, beside(about["load"])]))


def known_sizes() -> dict[str, Row]:
    """Larger sizes of the game that `make test-large` has solved."""
    entries = answers()
    return {
        name: {**row, "title": title(entries[name])}
        for name, row in read().items()
        if name.startswith("royal-ur")
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--only", default="sizes,workers,growth")
    parser.add_argument("--solve", nargs=2, metavar=("GAME", "MEMORY"))
    given = parser.parse_args()
    if given.solve is not None:
        words, memory = given.solve
        say_once(memory, lambda: solved(words))
        return
    from benchmarks.__main__ import commit, machine

    load = os.getloadavg()[0]
    found = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {"about": {}}
    wanted = given.only.split(",")
    measures: dict[str, Callable[[], list[dict[str, Any]]]] = {"sizes": sizes, "workers": workers}
    for name in measures.keys() & set(wanted):
        found[name] = measures[name]()
        when = {"date": date.today().isoformat(), "commit": commit(), "machine": machine()}
        found["about"][name] = {**when, "load": load}
    for rows in grown(wanted, found.get("growth", [])):
        found["growth"] = rows
        _keep(found)
    found["known"] = known_sizes()
    _keep(found)
    draw(found["growth"])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(refreshed(page, found, found["known"]), encoding="utf-8")


def _keep(found: Mapping[str, Any]) -> None:
    MEASURED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
