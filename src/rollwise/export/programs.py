"""The programs of linear and mixed-integer programming as files for other solvers: LP and MPS.

A variable ``x_`` with the fields of a state is the mover's win probability there, or the expected
total of points (negated where few points are better). A binary ``r_`` with the fields and the name
of an action is 1 for the chosen action. A row ``c_`` says that x is at least the value of the
action, and equal without a choice. A row ``u_`` says that x is at most the value of the chosen
action. A row ``o_`` says that one action is chosen. See `rollwise.methods.programs` and
`rollwise.methods.mixed_integer`.

LP is CPLEX's format, and MPS the free one with bounds. GLPK, CBC, SCIP, HiGHS, Gurobi and CPLEX
read both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from rollwise.errors import UsageError, no_such
from rollwise.graph import StateGraph
from rollwise.methods.linear_programming import linear_program
from rollwise.methods.mixed_integer import integer_program
from rollwise.methods.programs import Program
from rollwise.proofs.endless_play import settled

PROGRAMS = ("linear-programming", "mixed-integer")
TERMS_A_LINE = 6
STAYS = "for_ever"  # the action of going round for ever


class Named(NamedTuple):
    """A program with names.

    Attributes
    ----------
    columns, rows : sequence of str
    head : sequence of str
        Comment lines at the top of the file.
    """

    program: Program
    columns: Sequence[str]
    rows: Sequence[str]
    head: Sequence[str]


def write_program(graph: StateGraph, path: Path, form: str, kind: str, note: str = "") -> None:
    """Write the program of a game.

    Parameters
    ----------
    form : {"lp", "mps"}
    kind : {"linear-programming", "mixed-integer"}
    note : str
        A line of the head, of a game with one player who chooses.

    Raises
    ------
    UsageError
        There is no such program.
    EndlessPlay
        Endless play has no worth.
    """
    if kind not in PROGRAMS:
        raise UsageError(no_such("program", kind, PROGRAMS))
    named = _named(graph, kind, note)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        (_lp if form == "lp" else _mps)(named, out)


def caution(players: int, kind: str) -> str:
    """A note on a program whose solution may not have the values; empty where it has them."""
    if kind != "linear-programming" or players != 2:
        return ""
    return "With two players the least sum may miss the values; a mixed-integer program has them"


def _named(graph: StateGraph, kind: str, note: str) -> Named:
    texts = ["_".join(map(_number, row)) for row in graph.states.tolist()]
    labels = graph.action_label.tolist()
    words = {
        label: re.sub(r"\W+", "_", graph.vocabulary.text(label), flags=re.ASCII)
        for label in set(labels)
    }
    if len(set(words.values())) < len(words):
        words = {label: f"{word}_{_number(label)}" for label, word in words.items()}
    places = graph.action_state.tolist()
    actions = [f"{texts[s]}_{words[x]}" for s, x in zip(places, labels, strict=True)]
    states, endless = texts, settled(graph)
    if endless is not None:
        first = endless.gather(np.arange(graph.n_states, dtype=np.float64)).astype(np.int64)
        graph, states = endless.graph, [texts[s] for s in first.tolist()]
        owners = zip(endless.action.tolist(), graph.action_state.tolist(), strict=True)
        actions = [actions[a] if a >= 0 else f"{states[s]}_{STAYS}" for a, s in owners]
    columns = [f"x_{state}" for state in states]
    rows = [f"c_{action}" for action in actions]
    if kind == "linear-programming":
        model, program = linear_program(graph)
    else:
        model, program, chosen = integer_program(graph)
        binaries = [actions[a] for a in model.actions[chosen].tolist()]
        columns += [f"r_{name}" for name in binaries]
        rows += [f"u_{name}" for name in binaries]
        rows += [f"o_{states[s]}" for s in np.flatnonzero(model.has_choice).tolist()]
    what = "the mover's chance to win" if not graph.is_score else graph.view.worth_name
    head = [
        f"{graph.title}: {kind.removesuffix('-programming')} program, by rollwise",
        f"x_ and the fields {', '.join(graph.field_names)}: "
        f"{'minus the ' if model.sign < 0 else ''}{what}",
    ]
    if endless is not None and (endless.action < 0).any():
        head.append(
            f"Play may go on for ever. {STAYS}: the player stays for ever. Positions among which a "
            "player can stay have one variable, named by the first of them"
        )
    if note := note or caution(graph.players, kind):
        head.append(note)
    return Named(program, columns, rows, head)


def _number(field: int) -> str:
    return str(field) if field >= 0 else f"n{-field}"


def _sided(named: Named) -> Iterator[tuple[str, str, float, slice]]:
    """Each row with one side: its name, its sense (G, L or E), its right side and its terms."""
    program = named.program
    lower, upper = program.row_lower.tolist(), program.row_upper.tolist()
    ends = pairwise(program.matrix.indptr.tolist())
    for name, low, high, (begin, end) in zip(named.rows, lower, upper, ends, strict=True):
        terms = slice(begin, end)
        if low == high:
            yield name, "E", low, terms
            continue
        # a row with two sides is written as two rows
        if low > -np.inf:
            yield name, "G", low, terms
        if high < np.inf:
            yield (name if low == -np.inf else f"{name}_high"), "L", high, terms


def _lp(named: Named, out: TextIO) -> None:
    program, names = named.program, named.columns
    out.writelines(f"\\ {line}\n" for line in named.head)

    def terms(numbers: Sequence[float], columns: Sequence[int]) -> str:
        parts = [f"{x:+.17g} {names[j]}" for x, j in zip(numbers, columns, strict=True)]
        lines = [" ".join(parts[i : i + TERMS_A_LINE]) for i in range(0, len(parts), TERMS_A_LINE)]
        return "\n  ".join(lines)

    costly = np.flatnonzero(program.cost)
    goal = terms(program.cost[costly].tolist(), costly.tolist()) or f"0 {names[0]}"
    out.write(f"Minimize\n sum: {goal}\nSubject To\n")
    data, indices = program.matrix.data, program.matrix.indices
    senses = {"G": ">=", "L": "<=", "E": "="}
    for name, sense, right, column in _sided(named):
        left = terms(data[column].tolist(), indices[column].tolist())
        out.write(f" {name}: {left} {senses[sense]} {right:.17g}\n")
    out.write("Bounds\n")
    bounds = zip(names, program.lower.tolist(), program.upper.tolist(), strict=True)
    out.writelines(f" {low:.17g} <= {name} <= {high:.17g}\n" for name, low, high in bounds)
    if program.whole.any():
        out.write("Generals\n")
        out.writelines(f" {names[j]}\n" for j in np.flatnonzero(program.whole).tolist())
    out.write("End\n")


def _mps(named: Named, out: TextIO) -> None:
    program, names = named.program, named.columns
    out.writelines(f"* {line}\n" for line in named.head)
    rows = list(_sided(named))
    out.write("NAME rollwise\nROWS\n N sum\n")
    out.writelines(f" {sense} {name}\n" for name, sense, _, _ in rows)
    entries: list[list[tuple[str, float]]] = [[] for _ in names]
    for j in np.flatnonzero(program.cost).tolist():
        entries[j].append(("sum", float(program.cost[j])))
    data, indices = program.matrix.data, program.matrix.indices
    for name, _, _, column in rows:
        for j, x in zip(indices[column].tolist(), data[column].tolist(), strict=True):
            entries[j].append((name, x))
    out.write("COLUMNS\n")
    before = False
    # markers enclose runs of whole-number columns; the last entry closes the last run
    for j, whole in enumerate([*program.whole.tolist(), False]):
        if whole is not before:
            out.write(f" MARKER 'MARKER' '{'INTORG' if whole else 'INTEND'}'\n")
            before = whole
        if j < len(names):
            out.writelines(f" {names[j]} {row} {x:.17g}\n" for row, x in entries[j])
    out.write("RHS\n")
    out.writelines(f" RHS {name} {right:.17g}\n" for name, _, right, _ in rows if right)
    out.write("BOUNDS\n")
    bounds = zip(names, program.lower.tolist(), program.upper.tolist(), strict=True)
    for name, low, high in bounds:
        out.write(f" {'MI' if low == -np.inf else 'LO'} BND {name}{_bound(low)}\n")
        out.write(f" {'PL' if high == np.inf else 'UP'} BND {name}{_bound(high)}\n")
    out.write("ENDATA\n")


def _bound(bound: float) -> str:
    return f" {bound:.17g}" if np.isfinite(bound) else ""
