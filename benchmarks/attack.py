"""A random attack on the engine and the proofs, against exact fractions.

    python -m benchmarks.attack [--games 1000] [--seed 0] [--most 8]

draws rule sheets (`benchmarks.attack_games`), solves each of them exactly (`benchmarks.exact`), and
looks for false bounds, wrong best actions, refusals of games that have an answer, answers of games
that have none, and false claims that pass a proof. Each game is solved whole and by layers,
interpreted and compiled, in memory and in a folder. Random policies are evaluated and responded to,
lengths and distributions are computed (`benchmarks.attack_policies`), and profiles of three to
five players are checked. Every fault is printed with the seed of its game. The exit code is 1 if
there is one.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import rollwise
from benchmarks.attack_games import Table, options_of, seen_by, sheet
from benchmarks.attack_policies import (
    START,
    choices_in,
    look_at_lengths,
    look_at_policies,
    look_at_seats,
    mixture,
)
from benchmarks.exact import (
    Options,
    Unsolved,
    Values,
    ahead,
    chain_values,
    end_components,
    game_values,
    total_values,
    worth_of_endless,
)
from rollwise.answer.storage import find_unproved
from rollwise.answer.verify import claims_of as seat_claims
from rollwise.answer.verify import verify_layers
from rollwise.builders import Mode
from rollwise.errors import EndlessPlay
from rollwise.proofs.check_rules import Claims, check_rules

WIDE = 1e-12  # a bound that is a larger share of a value, times the moves of slow play, is told
SAME = 1e-3  # a larger gap between what the players can make sure of has to be noticed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first game; each has the next")
    parser.add_argument("--most", type=int, default=8, help="places of a game")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    began, kinds, shapes, n_faults = time.perf_counter(), Counter[str](), Counter[str](), 0
    for seed in range(asked.seed, asked.seed + asked.games):
        attack = Attack(sheet(seed, asked.most))
        attack.run()
        kinds[attack.outcome] += 1
        shapes += attack.shapes
        n_faults += len(attack.faults)
        for fault in attack.faults:
            print(f"seed {seed}: {fault} ({attack.text})", flush=True)
    spent = time.perf_counter() - began
    told, shaped = (
        ", ".join(f"{n:,} {kind}" for kind, n in sorted(counts.items()))
        for counts in (kinds, shapes)
    )
    print(f"{asked.games:,} games in {spent:,.0f} s: {told}; {n_faults} faults\n{shaped}")
    sys.exit(n_faults > 0)


class Attack:
    """The comparison of one game with its exact answer.

    Attributes
    ----------
    outcome : str
        "solved", "refused", "equilibrium" or "undecided" (play is too slow for doubles).
    faults : list of str
    shapes : Counter of str
        Of the game, and what was asked of it.
    """

    def __init__(
        self, game: Table, modes: tuple[Mode, ...] = ("interpreted", "interpreted", "compiled")
    ) -> None:
        self.game, self.options, self.modes = game, options_of(game), modes
        self.rows = seen_by(game, self.options)
        self.sign = -1 if game.objective == "minimize" else 1
        self.random = random.Random(game.seed)
        self.faults: list[str] = []
        self.shapes = Counter([game.kind, f"of {game.players}", game.objective])
        self.shapes += Counter([f"endless {game.endless}"] if game.endless != "forbidden" else [])
        self.shapes += Counter(["slow"] if game.n_slow else [])
        self.outcome = "solved"
        self.gap: Any = (
            np.inf
        )  # between what the two players can make sure of, in a game without a value

    @property
    def text(self) -> str:
        g = self.game
        return f"{g.kind}, {g.players} players, {g.objective}, endless {g.endless}, {g.most} places"

    @property
    def is_slow(self) -> bool:
        """Whether play may be so slow that doubles can hardly tell it from endless play."""
        return self.game.slow ** min(self.game.n_slow, 2) > 10**8

    def run(self) -> None:
        try:
            if self.game.players > 2:
                self.look_at_profile()
            else:
                self.look_at_answer()
        except Unsolved as error:
            self.faults.append(f"the reference gave up: {error}")
        except Exception as error:
            self.faults.append(f"{type(error).__name__}: {error}")

    def solved(self, rows: Options, free: tuple[int, ...] = (0, 1)) -> Values | None:
        """The exact values of some options; None where they have no certain value."""
        if self.game.objective != "win":
            return total_values(rows)
        kind = self.game.endless
        if kind == "forbidden" and end_components(rows):
            return None
        sign = {node: 1 if node[1] == 0 else -1 for node in rows}
        values, _ = game_values(rows, sign, worth_of_endless(kind, 0))
        if kind == "lose" and self.game.players == 2:  # both lose: is it one game?
            other, _ = game_values(rows, sign, worth_of_endless(kind, 1))
            self.gap = max(abs(values[node] - other[node]) for node in rows)
            if self.gap:
                return None
        return values

    def tried(self, solve: Callable[[], Any], exact: Values | None, what: str) -> Any:
        """An answer, or None where play is endless; a fault where only one of two has it."""
        lost = exact is not None and exact[START] == -np.inf  # which policies may be worth
        known = exact is not None and (not lost or what in ("evaluate", "respond"))
        try:
            found = solve()
        except EndlessPlay as error:
            if known and self.is_slow and "could not be shown" in str(error):
                self.outcome = "undecided"
            elif known:
                self.faults.append(f"{what} refuses a game that has an answer: {error}")
            return None
        if not known:
            if self.gap > SAME:
                self.faults.append(f"{what} answers a game that has no value")
            return None
        return found

    def compare(self, what: str, exact: Any, value: float, bound: float) -> None:
        """Hold a value and its bound against the exact value."""
        if exact in (np.inf, -np.inf):
            if value != exact:
                self.faults.append(f"{what} is {value}, not {exact}")
        elif bound == np.inf and self.is_slow:
            self.outcome = "undecided"
        elif not np.isfinite([value, bound]).all() or abs(Fraction(value) - exact) > Fraction(
            bound
        ):
            self.faults.append(f"{what} is {value} ± {bound:.1e}, not {float(exact)}")
        elif not self.is_slow and not bound <= WIDE * max(self.game.slow, 1e4) * (1 + exact**2):
            self.faults.append(f"{what} has a wide bound: {value} ± {bound:.1e}")

    def look_at_answer(self) -> None:
        game, exact = self.game, self.solved(self.rows)
        mode = self.random.choice(self.modes)
        found = self.tried(lambda: rollwise.solve(game, mode=mode), exact, "solve")
        if found is None:
            self.outcome = "refused" if exact is None or exact[START] == -np.inf else self.outcome
        else:
            assert exact is not None
            for i, (place,) in enumerate(found.graph.states.tolist()):
                worth = self.sign * exact[("at", place), 0]
                self.compare(f"place {place}", worth, found.values[i], found.error_bounds[i])
            if not self.faults and self.outcome == "solved":
                self.look_at_actions(found, exact)
                self.look_at_proofs(found, exact)
                look_at_policies(self, found)
        self.look_at_layers(exact)
        if self.outcome == "solved" and self.random.random() < 0.3:
            look_at_lengths(self)

    def look_at_actions(self, found: Any, exact: Values) -> None:
        """Each exactly best action is among the best, and the one that is taken is nearly so."""
        graph = found.graph
        best, chosen = found.is_best, set(found.best_actions.tolist())
        bounds = found.ahead.blur + 2 * found.ahead.rounding
        for node, row, actions in choices_in(self.game, graph):
            if (node, 0) not in exact or exact[node, 0] == -np.inf:
                continue
            worth = [ahead(option, exact) for option in self.rows[node, 0]]
            for k, action in enumerate(actions):
                if worth[k] == max(worth) and not best[action]:
                    self.faults.append(f"the best action {k} isn't marked at {row}")
                lost = float(max(worth) - worth[k])
                width = float(max(bounds[a] for a in actions))
                if (best[action] or action in chosen) and not lost <= 4 * width + 1e-9:
                    self.faults.append(f"action {k} at {row} loses {lost:.1e}, marked best")

    def look_at_proofs(self, found: Any, exact: Values) -> None:
        """Both proofs accept the answer, and reject one that is false somewhere."""
        game, graph, n = self.game, found.graph, found.graph.n_positions
        if not np.isfinite(found.values).all():
            return
        places = list(map(tuple, graph.states.tolist()))

        def claims(values: Any) -> Claims:
            pairs = zip(values[:n].tolist(), found.error_bounds[:n].tolist(), strict=True)
            both = dict(zip(places, pairs, strict=True))
            return Claims(
                {p: (v,) for p, (v, _) in both.items()}, {p: (b,) for p, (_, b) in both.items()}
            )

        if find_unproved(graph, found.values, found.error_bounds)[1] is not None:
            self.faults.append("the proof of the arrays rejects the answer")
        if fault := check_rules(game, claims(found.values)):
            self.faults.append(f"the proof on the rules rejects the answer: {fault}")
        i = self.random.randrange(n)
        wrong, room = (
            found.values.copy(),
            2 * found.error_bounds[i] + 1e-15 * (1 + abs(wrong_at(found, i))),
        )
        wrong[i] += self.random.choice((-1.2, 1.2, 3.0)) * room
        if find_unproved(graph, wrong, found.error_bounds)[1] is None:
            self.faults.append(f"the proof of the arrays accepts a wrong value of {places[i]}")
        if not check_rules(game, claims(wrong)):
            self.faults.append(f"the proof on the rules accepts a wrong value of {places[i]}")
        if self.random.random() < 0.1:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "answer.parquet"
                found.save(path)
                told = rollwise.verify(path, game, exact=True)
            if not told.verified:
                self.faults.append(f"verify refuses the answer: {told.fault}")

    def look_at_layers(self, exact: Values | None) -> None:
        """The same by layers, in memory and in a folder that is verified."""
        game, sign = self.game, self.sign
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "layers" if self.random.random() < 0.3 else None
            found = self.tried(
                lambda: rollwise.solve_by_layers(game, save=folder), exact, "solve_by_layers"
            )
            if found is None:
                return
            assert exact is not None
            for i, (place,) in enumerate(found.space.states.tolist()):
                worth = sign * exact[("at", place), 0]
                what = f"place {place} by layers"
                self.compare(what, worth, float(found.values[i]), float(found.error_bounds[i]))
            if not self.faults and self.outcome == "solved":
                self.look_at_advice(found, exact)
            if folder is not None:
                self.shapes["folder"] += 1
                told = verify_layers(folder, game)
                if not told.verified and np.isfinite(found.error_bound):
                    self.faults.append(f"verify refuses the folder: {told.fault}")

    def look_at_advice(self, found: Any, exact: Values) -> None:
        """What each action is worth in some places of an answer by layers."""
        for node, rows in self.options.items():
            if (node, 0) not in exact or (node[0] == "at" and self.game.kind != "plain"):
                continue
            if (len(node) == 4 and node[3]) or self.random.random() < 0.7:
                continue
            told = found.advise((node[1],), *node[2:])
            self.shapes["advice by layers"] += 1
            for k, row in enumerate(told.actions[: len(rows)]):
                worth = self.sign * ahead(self.rows[node, 0][k], exact)
                self.compare(f"action {k} at {node} by layers", worth, row.value, row.error_bound)

    def look_at_profile(self) -> None:
        """The values of a profile, exactly, and what each seat gains at most by leaving it."""
        self.outcome = "equilibrium"
        endless = bool(end_components(self.rows))
        try:
            found = rollwise.equilibrium(self.game)
        except EndlessPlay as error:
            self.outcome = "refused"
            if not endless:
                self.faults.append(f"equilibrium refuses a game whose play ends: {error}")
            return
        if endless:
            self.faults.append("equilibrium answers a game whose play need not end")
            return
        graph, mixed, free = found.graph, {}, {}
        for node, _, actions in choices_in(self.game, graph):
            chances = [Fraction(p) for p in found.policy.probability[actions].tolist()]
            for seat in range(self.game.players):
                if (node, seat) in self.rows:
                    some = self.rows[node, seat]
                    mixed[node, seat] = [mixture(some, chances)]
                    free[node, seat] = some if seat == 0 else mixed[node, seat]
        rest = {node: some for node, some in self.rows.items() if node not in mixed}
        mixed, free = {**rest, **mixed}, {**rest, **free}
        values = chain_values({node: some[0] for node, some in mixed.items()}, lambda seats: None)
        best, _ = game_values(free, dict.fromkeys(free, 1), lambda seats: 0)
        for i, (place,) in enumerate(graph.states[: graph.n_positions].tolist()):
            for seat in range(self.game.players):
                node = ("at", place), seat
                what = f"seat {seat} at place {place}"
                self.compare(what, values[node], found.values[i, seat], found.error_bounds[i, seat])
                gain = float(found.deviation_gains[i, seat])
                if gain == np.inf and self.is_slow:
                    self.outcome = "undecided"
                elif gain == np.inf or best[node] - values[node] > Fraction(gain):
                    self.faults.append(f"{what} gains {float(best[node] - values[node])} > {gain}")
        if self.outcome == "undecided":
            return
        if fault := check_rules(self.game, seat_claims(found)):
            self.faults.append(f"the proof on the rules rejects the profile: {fault}")
        look_at_seats(self, graph)
        if self.random.random() < 0.3:
            look_at_lengths(self)


def wrong_at(found: Any, i: int) -> float:
    return float(found.values[i])


if __name__ == "__main__":
    main()
