"""What a run measured, and the ratios in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.commands import YARDSTICK
from benchmarks.limits import Rates
from benchmarks.measure import Row, Settings

LEAST_YARDSTICK = 1e-3  # seconds: against a shorter one, a ratio shows what a call costs
REFERENCE = "rollwise_itself"  # errors are distances from its certified answer


@dataclass
class Results:
    """All that a run measured; sections that weren't are empty.

    Attributes
    ----------
    facts : dict
        ``command``, ``date``, ``commit``, ``machine``, ``versions``...
    problems : dict of dict
        Facts of each problem (see `benchmarks.work.prepare`), by name.
    rows : list of Row
    skipped : dict of str
        Why a problem has no answer here.
    """

    facts: dict[str, Any]
    settings: Settings
    problems: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    machine: Rates | None = None
    limits: list[dict[str, Any]] = field(default_factory=list)
    gallery: list[dict[str, Any]] = field(default_factory=list)
    growth: list[dict[str, Any]] = field(default_factory=list)
    no_picture: str = "not drawn"
    commands: list[dict[str, Any]] = field(default_factory=list)
    wheel: list[dict[str, Any]] = field(default_factory=list)
    rates: dict[str, Any] = field(default_factory=dict)
    tricks: list[dict[str, Any]] = field(default_factory=list)
    traces: list[dict[str, Any]] = field(default_factory=list)

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
    def about(self) -> str:
        """When and where a part of the page was measured, a sentence."""
        facts = self.facts
        return (
            f"Measured by `{facts['command']}` on {facts['date']}, commit {facts['commit']}; "
            f"{facts['machine']}; load at the start {facts['load']:.1f}."
        )

    @property
    def ratios(self) -> dict[str, float]:
        """How many times as long rollwise took as the yardstick in the same run."""
        found = {}
        for work in self.problems:
            ours, by_hand = self.seconds(work, REFERENCE), self.seconds(work, "by_hand")
            if ours is not None and by_hand and by_hand >= LEAST_YARDSTICK:
                found[work] = ours / by_hand
        for what in ("learning", "simulating"):
            rates = {row["name"]: row["rate"] for row in self.rates.get(what, [])}
            by_hand = next((rate for name, rate in rates.items() if "by hand" in name), None)
            own = [rate for name, rate in rates.items() if name.startswith("rollwise")]
            if by_hand and own:
                found[what] = by_hand / own[0]
        again = {row["command"]: row["again"] for row in self.commands}
        yardstick = again.get(YARDSTICK)
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
