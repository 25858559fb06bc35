"""Policies and rules of thumb that a command found: files that every command takes, and words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.analysis.thumb.frontier import Frontier, RuleOfThumb
    from rollwise.answer.references import Policies
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy

SECONDS = 30.0  # of a search for rules, unless it is told how long to look


def check_policy_file(save: Path | None) -> None:
    """Make sure, before any work, that a policy can be written to a file, if it is to be.

    Raises
    ------
    UsageError, OutputError
    """
    from rollwise.machine.atomic_files import check_place

    if save is not None and save.suffix not in (".csv", ".parquet"):
        raise UsageError(f"--save {save}: the name must end in .csv or .parquet")
    check_place(save)


def write_policy(policies: Policies, policy: Policy, path: Path) -> None:
    """Write a policy as a table, all at once or not at all."""
    from rollwise.answer.references import policy_table
    from rollwise.machine.atomic_files import write_atomically, write_text
    from rollwise.machine.parquet_files import write_parquet

    rows = policy_table(policies.graph, policy)
    if path.suffix == ".csv":
        write_text(path, rows.write_csv())
    else:
        write_atomically(path, lambda place: write_parquet(rows, place))


def write_rule(graph: StateGraph, rules: Sequence[RuleOfThumb], save: Path | None) -> list[str]:
    """Keep the last of the rules, if that was asked for; what to say of it."""
    from rollwise.documents.parts import as_json
    from rollwise.machine.atomic_files import write_text

    if save is None or not rules:
        return []
    write_text(save, as_json(rules[-1].rule.document(graph)) + "\n")
    return [f"Saved to {save}."]


def seeds_text(found: Frontier) -> str:
    """From which seed the rules were looked for, and how often."""
    return f"seed {found.seed}" + (f", {found.searches} searches" if found.searches > 1 else "")


def tell_time(found: Frontier) -> None:
    """That time ended the search, if it did."""
    if found.timed_out:
        typer.echo(
            "time ended the search, so the same seed may find other rules next time; "
            "--evaluations N finds the same each time"
        )
