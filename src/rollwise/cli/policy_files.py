"""Policies that a command found, as files that every command takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.answer.references import Policies
    from rollwise.graph.policies import Policy


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
