"""Answers on disk: a Parquet file with the strategies of both players, proved anew when it is read.

A row is an action in a situation. The writer isn't trusted: the bounds of the file hold only if the
strategies prove bounds between them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import platform
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise import __version__
from rollwise.answer import storage
from rollwise.answer.kept_files import WORTH_KEEPING, sources
from rollwise.errors import OutputError, RefusedFile, SolutionFileError, UsageError
from rollwise.graph.lotteries import pointers
from rollwise.hidden.answer import Answer, OpenAnswer, Progress, StochasticAnswer
from rollwise.hidden.check import UNIT, endless_fault, endless_positions, proves_positions
from rollwise.hidden.positions import DEAL, TOGETHER, Positions
from rollwise.hidden.reading import read
from rollwise.hidden.solving import solve
from rollwise.hidden.stochastic import Matrices, Plan
from rollwise.hidden.tree import Seat, unfold
from rollwise.hidden.whole import HiddenAnswer, proved
from rollwise.hooks import InWords
from rollwise.machine.atomic_files import path_of, write_atomically
from rollwise.machine.parquet_files import read_parquet, require_parquet, write_parquet
from rollwise.machine.user_cache import answers_folder, make_room

if TYPE_CHECKING:
    import polars as pl

    from rollwise.game import Game

MOST_KEPT = 200e6  # bytes of kept answers
FRACTION = re.compile(r"-?[0-9]+(/[0-9]+)?")
NAMES = ("first", "second"), ("mover", "other")


def hash_of(positions: Positions) -> str:
    """A hash of the rules, as far as play can reach them."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (positions.states, positions.menus, *(
        getattr(positions, name).tolist()
        for name in ("kinds", "sights", "rewards", "first_choice", "first_outcome", "weights",
                     "payoffs", "targets", "turns")
    )):  # fmt: skip
        digest.update(repr(part).encode())
    return digest.hexdigest()


def save(answer: Answer, path: str | Path, *, kept: bool = False) -> None:
    """Write an answer to a Parquet file, all at once or not at all.

    Parameters
    ----------
    kept : bool
        The file is in the cache, and holds the time.

    Raises
    ------
    UsageError
        The game is too large.
    """
    import polars as pl

    path, positions = path_of(path), answer.positions
    require_parquet(path)
    rows_of: Any = _of_rounds if positions.is_hidden else _of_positions
    facts = {
        "format": storage.FORMAT,
        "game": positions.game.name,
        "parameters": dict(positions.game.parameters),
        "graph_hash": hash_of(positions),
        "method": storage.HIDDEN,
        "found_by": answer.method,
        "iterations": answer.iterations,
        "kept_from": time.strftime("%Y-%m-%d %H:%M") if kept else "",
        "low": str(answer.low),
        "high": str(answer.high),
        "versions": {"rollwise": __version__, "python": platform.python_version()},
    }
    frame = pl.DataFrame(list(rows_of(answer)), infer_schema_length=None)
    metadata = {"rollwise": json.dumps(facts)}
    write_atomically(path, lambda place: write_parquet(frame, place, metadata))


def _of_rounds(answer: HiddenAnswer) -> Iterator[dict[str, Any]]:
    if any(isinstance(part, OpenAnswer) for part, _ in answer.parts):
        raise UsageError(f"{answer.positions.title} is too large to save")
    for one in answer.situations():
        for name, share in zip(one.names, one.probabilities, strict=True):
            yield {
                "round": one.round + 1,
                "player": NAMES[0][one.seat],
                "sees": one.text,
                "before": one.before,
                "action": name,
                "probability": float(share),
                "fraction": str(share) if isinstance(share, Fraction) else None,
            }


def _of_positions(answer: StochasticAnswer) -> Iterator[dict[str, Any]]:
    plan, positions = answer.plan, answer.positions
    for place, kind in enumerate(positions.kinds.tolist()):
        numbers = {
            "low": float(plan.lows[place]),
            "high": float(plan.highs[place]),
        }
        text = positions.text(place)
        if kind == DEAL:
            yield {"position": text, "player": None, "action": None, "probability": 1.0, **numbers}
            continue
        for side in range(2 if kind == TOGETHER else 1):
            one = answer.at(None, 0, side, place)
            for name, share in zip(one.names, one.probabilities, strict=True):
                yield {
                    "position": text, "player": NAMES[1][side], "action": name,
                    "probability": float(share), **numbers,
                }  # fmt: skip


def load(path: str | Path, game: Game | None = None, max_states: int | None = None) -> Answer:
    """The answer of a file, with bounds proved by its strategies.

    Raises
    ------
    SolutionFileError
        The file is damaged, for other rules, or its strategies don't prove its bounds.
    """
    try:
        answer, fault = _examined(path_of(path), game, max_states)
    except RefusedFile as error:
        raise SolutionFileError(str(error)) from error
    if fault:
        raise SolutionFileError(f"{path}: {fault}; solve the game again and save it")
    return answer


def kept_or_solved(
    game: Game, *, max_states: int | None = None, progress: Progress = None
) -> Answer:
    """The answer to a game: kept from an earlier run and proved again, or solved and then kept."""
    folder, began = answers_folder(), time.perf_counter()
    if folder is None:
        return solve(game, max_states=max_states, progress=progress)
    positions = read(game, max_states)
    reading = time.perf_counter() - began
    # the key has the rules and our own source, so that a changed program solves anew
    key = hashlib.blake2b(f"{hash_of(positions)} {sources()}".encode(), digest_size=20).hexdigest()
    place = folder / f"{re.sub(r'[^0-9a-zA-Z-]', '_', game.name)[:60]}-{key}.parquet"
    if place.is_file():
        try:
            answer = load(place, game, max_states)
        except SolutionFileError:
            with contextlib.suppress(OSError):
                place.unlink()  # damaged
        else:
            with contextlib.suppress(OSError):  # the cache may be read-only
                os.utime(place)
            return replace(answer, seconds={"read": time.perf_counter() - began})
    answer = solve(game, max_states=max_states, progress=progress, positions=positions)
    answer.seconds["read"] = reading
    if time.perf_counter() - began >= WORTH_KEEPING:
        if progress is not None:
            progress("keeping the answer", 0, None)
        with contextlib.suppress(OutputError, UsageError):  # no room, or too large
            save(answer, place, kept=True)
            make_room(folder, "*.parquet", most_bytes=MOST_KEPT)
    return answer


@dataclass(frozen=True, repr=False)
class Checked(InWords):
    """The result of verifying a file.

    Attributes
    ----------
    answer : Answer
        With the bounds that the strategies of the file prove.
    fault : str
        The reason for refusing the file; empty if its bounds are proved.
    seconds : float
    """

    answer: Answer
    fault: str
    seconds: float

    @property
    def verified(self) -> bool:
        """Whether the bounds of the file are proved."""
        return not self.fault


def verify(
    path: str | Path,
    game: Game | None = None,
    *,
    exact: bool = False,
    max_states: int | None = None,
) -> Checked:
    """Check the bounds of a file by its strategies, without a solver.

    Parameters
    ----------
    exact : bool
        In fractions.

    Raises
    ------
    SolutionFileError
        It is damaged, or for other rules.
    UsageError
        It isn't an answer in fractions.
    """
    started = time.perf_counter()
    answer, fault = _examined(path_of(path), game, max_states)
    if exact and not answer.is_exact:
        raise UsageError(f"{path} has no fractions; verify it without exact arithmetic")
    return Checked(answer, fault, time.perf_counter() - started)


def _examined(path: Path, game: Game | None, max_states: int | None) -> tuple[Answer, str]:
    """The answer of a file, and the reason for refusing it; empty if its bounds are proved."""
    from polars.exceptions import PolarsError

    try:
        facts = storage.read_facts(path)
    except SolutionFileError as error:
        raise RefusedFile(str(error)) if path.is_file() else error from None
    game = storage.require_rules(path, facts, game)
    positions = read(game, max_states)
    if hash_of(positions) != facts["graph_hash"]:
        raise SolutionFileError(
            f"{path} was made for other rules of {game.name}: they have changed since; solve the "
            "game again"
        )
    try:
        frame = read_parquet(path)
        low, high = (_number(facts[name]) for name in ("low", "high"))
        make = _rounds_from if positions.is_hidden else _positions_from
        answer, fault = make(positions, frame, facts)
    except (ValueError, TypeError, ArithmeticError, LookupError, PolarsError) as error:
        raise RefusedFile(str(storage.damaged_file(path, str(error)))) from error
    if not fault and not (low <= answer.low and answer.high <= high):
        fault = (
            f"its strategies prove {float(answer.low)!r} to {float(answer.high)!r}, which isn't "
            f"between its bounds {facts['low']} and {facts['high']}"
        )
    return answer, fault


def _number(text: str) -> Any:
    """A bound of a file: a fraction, or a double."""
    return float(text) if "." in text or "e" in text else _fraction(text)


def _fraction(text: str) -> Fraction:
    if not FRACTION.fullmatch(text):  # Python would write out the digits of 1e999999999
        raise ValueError(f"{text[:20]!r} isn't a fraction")
    return Fraction(text)


def _rounds_from(
    positions: Positions, frame: pl.DataFrame, facts: dict[str, Any]
) -> tuple[Answer, str]:
    is_exact = isinstance(_number(facts["low"]), Fraction)
    if is_exact and not positions.is_exact:
        raise ValueError("it has fractions, and the rules have numbers with a decimal point")
    rounds = positions.rounds
    # a round is in fractions if its rows are, and all rounds that follow it; none if it can return
    exact = [positions.is_exact] * len(rounds)
    for k in (k for group in positions.groups if positions.returns(group) for k in group):
        exact[k] = False
    trees: list[Any] = [None] * len(rounds)
    found: list[Any] = [None] * len(rounds)
    for k in (k for group in positions.groups for k in group):
        rows, one = frame.filter(frame["round"] == k + 1), rounds[k].positions
        exact[k] &= not rows["fraction"].null_count() and all(exact[e] for e in one.exits or ())
        trees[k] = unfold(one, exact=exact[k])
        found[k] = tuple(
            _shares_from(rows.filter(rows["player"] == name), seat, name, exact[k])
            for seat, name in zip(trees[k].seats, NAMES[0], strict=True)
        )
    about = {name: facts[name] for name in ("iterations", "kept_from")}
    return proved(positions, trees, found, method=facts["found_by"], **about), ""


def _shares_from(rows: pl.DataFrame, seat: Seat, name: str, is_exact: bool) -> NDArray[Any]:
    """The strategy of a player in a round."""
    column = rows["fraction" if is_exact else "probability"]
    shares = [_fraction(text) if is_exact else float(text) for text in column.to_list()]
    if len(shares) != seat.n_sequences - 1:
        raise ValueError(f"it has {len(shares)} actions of the {name} player")
    one: list[Any] = [Fraction(1) if is_exact else 1.0]
    return np.array(one + shares, object if is_exact else np.float64)


def _positions_from(
    positions: Positions, frame: pl.DataFrame, facts: dict[str, Any]
) -> tuple[Answer, str]:
    game = Matrices.of(positions)
    heights, widths = game.heights, game.widths
    choosers = [kind != DEAL for kind in positions.kinds.tolist()]
    sizes = heights + np.where(positions.kinds == TOGETHER, widths, 0)
    begin = np.cumsum(sizes) - sizes
    shares, lows, highs = (frame[name].to_numpy() for name in ("probability", "low", "high"))
    if len(shares) != sizes.sum():
        raise ValueError(f"it has {len(shares)} rows")
    first_row, first_column = (pointers(part) for part in (heights, widths))
    rows, columns = np.ones(first_row[-1]), np.ones(first_column[-1])
    # the rows of a position: its mover's actions, then those of the other player
    for place, chooses in enumerate(choosers):
        middle = begin[place] + heights[place]
        if chooses:
            rows[first_row[place] : first_row[place + 1]] = shares[begin[place] : middle]
        if positions.kinds[place] == TOGETHER:
            columns[first_column[place] : first_column[place + 1]] = shares[
                middle : middle + widths[place]
            ]
    plan = Plan(lows[begin].copy(), highs[begin].copy(), first_row, first_column, rows, columns, 0)
    fault = ""
    for part, first in ((rows, first_row), (columns, first_column)):
        # `check.corners` leaves room for a sum that is off by the rounding of a normalization
        sums = [math.fsum(part[a:b].tolist()) for a, b in pairwise(first.tolist())]
        off = abs(np.array(sums) - 1) - (np.diff(first) + 2) * UNIT
        if not ((part >= 0).all() and (off <= 0).all()):  # also of NaN
            fault = "its probabilities aren't from 0 on with the sum 1"
    fault = fault or endless_fault(positions)
    endless = endless_positions(positions)
    if not fault and not proves_positions(plan.arrays, game.arrays, endless):
        fault = "its strategies don't prove its bounds"
    return StochasticAnswer(
        positions, float(plan.lows[0]), float(plan.highs[0]), facts["found_by"], {},
        facts["iterations"], facts["kept_from"], plan=plan,
    ), fault  # fmt: skip
