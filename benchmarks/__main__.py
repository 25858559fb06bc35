"""Measure rollwise and its peers on the same work, and write benchmarks/RESULTS.md.

    python -m benchmarks [--quick] [--only pig-100,limits] [--peers rollwise_itself,storm]
                         [--limit SECONDS]

`make bench` runs all of it. A run of everything adds a line to history.jsonl. With `--merge` the
sections that were measured take the place of those in RESULTS.md, which keeps the others.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import commands, gallery, growth, history, limits, rates, trace, tricks, wheel
from benchmarks.measure import ROOT, Settings, measure, prepared, require_agreement
from benchmarks.memory import physical_memory
from benchmarks.peers import PEERS, peer
from benchmarks.report import PICTURE, markdown, merged
from benchmarks.results import Results
from benchmarks.work import WORK

HERE = Path(__file__).parent
SECTIONS = ("limits", "gallery", "growth", "commands", "wheel", "tricks", "trace", "rates")
LIBRARIES = ("numba", "numpy", "scipy", "polars")


def versions() -> dict[str, str]:
    """Of rollwise, the tools, and what rollwise stands on."""
    packages = [peer(name).PACKAGE for name in PEERS]
    found = {}
    for name in [*(name for name in packages if name), *LIBRARIES]:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def machine() -> str:
    """The processor, its cores, and the memory."""
    name = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    return f"{name}, {os.cpu_count()} cores, {physical_memory() / 2**30:.0f} GB"


def commit() -> str:
    """The commit, with a + where the tree has changes; "unknown" without git."""
    try:
        name = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
        )
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no", "src"],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
    except OSError:
        return "unknown"
    if name.returncode:
        return "unknown"
    return name.stdout.strip() + ("+" if changed.stdout.strip() else "")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = [*(work.name for work in WORK), *SECTIONS]
    parser.add_argument("--quick", action="store_true", help="small problems, fewer turns")
    parser.add_argument("--only", help=f"some of: {', '.join(known)}")
    parser.add_argument("--peers", help=f"some of: {', '.join(PEERS)}")
    parser.add_argument("--limit", type=float, help="seconds that a run of a tool may take")
    parser.add_argument("--memory", type=float, help="gibibytes that a process may have")
    parser.add_argument("--out", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument("--merge", action="store_true", help="leave the other sections of --out")
    parser.add_argument("--history", type=Path, default=history.FILE)
    given = parser.parse_args()
    given.wanted = given.only.split(",") if given.only else known
    for name in given.wanted:
        if name not in known:
            parser.error(f"--only {name}: there is no such work ({', '.join(known)})")
    given.tools = tuple(given.peers.split(",")) if given.peers else PEERS
    for name in given.tools:
        if name not in PEERS:
            parser.error(f"--peers {name}: there is no such tool ({', '.join(PEERS)})")
    return given


def settings_of(given: argparse.Namespace) -> Settings:
    usual = Settings(limit=20.0, patience=0.0, share=3.0, turns=3) if given.quick else Settings()
    return Settings(
        limit=given.limit or usual.limit,
        patience=0.0 if given.limit else usual.patience,
        share=usual.share,
        turns=usual.turns,
        memory=given.memory or usual.memory,
        peers=given.tools,
    )


def tell(line: str) -> None:
    print(line, flush=True)


def main() -> None:
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no worker is left behind
    settings = settings_of(given)
    started = time.monotonic()
    results = Results(
        {
            "command": " ".join(["python -m benchmarks", *sys.argv[1:]]),
            "date": date.today().isoformat(),
            "commit": commit(),
            "machine": machine(),
            "load": os.getloadavg()[0],
            "python": platform.python_version(),
            "versions": versions(),
        },
        settings,
    )
    solve_all(given, settings, results)
    if "limits" in given.wanted:
        tell("limits")
        results.machine = limits.machine_rates()
        results.limits = limits.rows(settings, given.quick, tell)
    if "gallery" in given.wanted:
        tell("gallery")
        results.gallery = gallery.rows(settings, tell)
    if "growth" in given.wanted:
        tell("growth")
        results.growth = growth.rows(settings, given.quick, tell)
        results.no_picture = growth.draw(results.growth, given.out.parent / PICTURE)
    if "commands" in given.wanted:
        tell("commands")
        results.commands = commands.rows(settings, given.quick, tell)
    if "wheel" in given.wanted:
        tell("wheel")
        results.wheel = wheel.rows(settings, given.quick, tell)
    if "tricks" in given.wanted:
        tell("tricks")
        results.tricks = tricks.rows(settings, given.quick, tell)
    if "trace" in given.wanted:
        tell("trace")
        results.traces = trace.rows()
    if "rates" in given.wanted:
        tell("learning and simulating")
        results.rates = rates.rows(settings, given.quick)
    whole = not given.quick and not given.only and not given.peers
    lines = history.read(given.history)
    if whole:
        history.append(results.history_line, given.history)
        lines = history.read(given.history)
    elif given.merge:
        history.amend(results.history_line, given.history)
        lines = history.read(given.history)
    elif results.ratios:
        lines = [*lines, results.history_line]  # shown, but not kept
    page = markdown(results, lines)
    if given.merge:
        page = merged(given.out.read_text(encoding="utf-8"), page, results.about)
    given.out.write_text(page, encoding="utf-8")
    tell(f"{given.out.name} written after {time.monotonic() - started:.0f} s")
    tell(history.verdict(lines))


def solve_all(given: argparse.Namespace, settings: Settings, results: Results) -> None:
    """Have everybody solve every problem that is wanted."""
    gave_up: set[tuple[str, str, str]] = set()
    for work in WORK:
        if work.name not in given.wanted or (given.quick and not given.only and not work.quick):
            continue
        tell(work.name)
        folder = Path(tempfile.mkdtemp(prefix="rollwise-bench-"))
        try:
            facts = prepared(work, folder, settings)
            if "fault" in facts:
                results.skipped[work.name] = facts["fault"]
                tell(f"  {facts['fault']}")
                continue
            results.problems[work.name] = facts
            rows = measure(work, folder, settings, gave_up, tell)
            require_agreement(rows)
            results.rows += rows
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
