"""A linter for the rules of games with hidden dice or simultaneous choices."""

from __future__ import annotations

import numpy as np

from rollwise.analysis.findings import (
    NOBODY_PASSES,
    Report,
    Steps,
    look_for_oddities,
    of_one_ending,
)
from rollwise.builders.chances import as_doubles, lotteries_off, off_text
from rollwise.hidden.positions import TOGETHER, Positions
from rollwise.hidden.reading import clipped


def look_at_positions(report: Report, positions: Positions) -> None:
    """Add the findings about a game with hidden dice or simultaneous choices to a report."""
    look_for_oddities(report, steps_of(positions))
    report.add_if("warning", "chances", _chances_off_in(positions))
    both_choose = (positions.kinds == TOGETHER).any()
    if not both_choose and (positions.targets >= 0).any() and not positions.turns.any():
        report.add("warning", "turns", NOBODY_PASSES)
    ends = positions.payoffs[positions.targets < 0]
    if not positions.rewards.any():
        worths = np.unique(ends.astype(np.float64))
        report.add_if("warning", "stakes", of_one_ending(worths, positions.game.players))


def steps_of(positions: Positions) -> Steps:
    """The steps of a game with hidden dice or simultaneous choices.

    Tuples that aren't equally long everywhere are left out.
    """
    names, columns = list[str](), list[tuple[int, ...]]()
    by_field = zip(*positions.states, strict=True)
    for name, column in zip(positions.states[0]._fields, by_field, strict=True):
        parts = [field if isinstance(field, tuple) else (field,) for field in column]
        if len({*map(len, parts)}) > 1:
            continue
        is_tuple = isinstance(column[0], tuple)
        names += [f"{name}.{k}" for k in range(len(parts[0]))] if is_tuple else [name]
        columns += [tuple(map(clipped, part)) for part in zip(*parts, strict=True)]
    shape = len(columns), len(positions.states)
    fields = np.array(columns, np.int64).reshape(shape).T
    sizes = np.diff(positions.first_outcome[positions.first_choice])
    source = np.repeat(np.arange(len(positions.states)), sizes)
    inside = np.flatnonzero(positions.targets >= 0)
    return Steps(
        positions.game,
        positions.game.players,
        names,
        fields,
        fields[source[inside]],
        fields[positions.targets[inside]],
        positions.turns[inside] == 1,
    )


def _chances_off_in(positions: Positions) -> str:
    """As `chances_off`, of a game with hidden dice or simultaneous choices."""
    written = np.split(positions.weights, positions.first_outcome[1:-1])
    weight = np.concatenate(list(map(as_doubles, written)))
    off = np.flatnonzero(lotteries_off(weight, positions.first_outcome))
    if not len(off):
        return ""
    choice = int(off[0])
    place = int(np.searchsorted(positions.first_choice, choice, "right")) - 1
    total = float(weight[slice(*positions.first_outcome[choice : choice + 2].tolist())].sum())
    return off_text(positions.text(place), positions.choice_text(choice, place), total)
