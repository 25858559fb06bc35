"""Rules of thumb in games with a pool of dice: their choices in many positions, and their worth.

The method needs no graph. A rule makes the same choices in all positions with equal features, so
each such group is computed once. Then one pass over the layers of the game finds the worth of the
rule, in the intervals of `rollwise.proofs.layers`. Turns are also simulated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.evaluation import Evaluation
from rollwise.builders.by_layer import Piece, find_layers
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import some_states
from rollwise.dice import Pool
from rollwise.engine.sweeps import Choice, choices_for
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.graph import KEEP, ROLLS_LEFT, StateGraph, sign_of
from rollwise.kernels.jit import index, kernel
from rollwise.layers import Layer
from rollwise.methods.result import Status
from rollwise.play.games import drawn, heaped
from rollwise.proofs.layers import look_ahead, throw_dice
from rollwise.thumb.features import (
    Asked,
    Features,
    filled_features,
    kept_dice,
    kept_features,
    position_features,
)
from rollwise.thumb.language import Form, Preference, Rule

LEVEL = 1 << 20  # more than twice the size of any form, in games with a pool
MOST_LEVELS = 3  # of preferences, one behind the other
POINTS, NUMBER = "points", "number"  # features that need no rule sheet
CORES = 2

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Chain = tuple["int | Preference", ...]


@lru_cache(8)
def parts_of(pool: Pool) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The possible kept dice of each throw, as numbers in the order of the actions: CSR."""
    number = {kept: k for k, kept in enumerate(kept_dice(pool))}
    numbers = [[number[part] for part in pool.kept_from(throw)] for _, throw in pool.throws]
    indptr = np.cumsum([0, *map(len, numbers)], dtype=np.int32)
    return indptr, np.array([k for parts in numbers for k in parts], np.int32)


class Says(NamedTuple):
    """The choices of a rule in some positions.

    Sets of kept dice have their numbers in `rollwise.layers.layer.Pool`.
    """

    keep_group: Any  # (n,) int32
    keep: Any  # (n_groups, rerolls, n_throws) int32: with one roll left first
    fill_group: Any  # (n,) int32
    fill: Any  # (n_groups, n_throws, n_labels) int64: the scores of actions, without points
    points: Any  # (n_groups,) int64: the number before an action's points


@kernel
def most_kept(scores, part_indptr, part, found):
    """The part of each throw with the largest score; of several the first.

    Parameters
    ----------
    scores : (n_groups, n_kept) int64
    part_indptr : (n_throws + 1,) int64
    part : int32
        The numbers of the sets of dice that can be kept of each throw.
    found : (n_groups, n_throws) int32, filled
    """
    for g in range(scores.shape[0]):
        for t in range(part_indptr.shape[0] - 1):
            first = index(part_indptr[t])
            best, most = part[first], scores[g, part[first]]
            for i in range(first, index(part_indptr[t + 1])):
                if scores[g, part[i]] > most:
                    best, most = part[i], scores[g, part[i]]
            found[g, t] = best


@kernel
def prefer(block, indptr, label, reward, says, choice):
    """Choose the action of each situation with the rule's largest score; of several the first.

    Parameters
    ----------
    indptr : of the lotteries
    label : (n_actions,) int32
        An index into ``says.fill``.
    reward : (n_lotteries,) float64
        Points.
    choice : Choice, filled
    """
    first, _, count, lottery, _ = block
    to_outcome, to_lottery = choice.outcome, choice.lottery
    # `a` and `o` run through the actions of a position, and through their outcomes
    for p in range(first.shape[0] - 1):
        a, o = index(first[p, 1]), index(first[p, 2])
        scores, points = says.fill[says.fill_group[p]], says.points[says.fill_group[p]]
        begin = index(first[p, 0])
        for s in range(begin, index(first[p + 1, 0])):
            most = np.int64(0)
            for k in range(index(count[s])):
                number = index(lottery[a])
                score = scores[s - begin, label[a]] + points * np.int64(reward[number])
                if k == 0 or score > most:
                    most, to_outcome[s], to_lottery[s] = score, o, number
                a += index(1)
                o += index(indptr[number + index(1)]) - index(indptr[number])


@kernel
def follow_turns(block, tables, keep_group, keep, choice, bounds, found):
    """The intervals of positions where a rule is played.

    Parameters
    ----------
    keep_group, keep : as `Says` has them
    choice : Choice
        After the last throw.
    bounds : (n_places, 2) float64
    found : (n, 2) float64, filled
    """
    first, target, pool = block.first, block.target, tables.pool
    n_partial, n_kept = pool.with_face.shape[0], pool.without.shape[0]
    kept, last = np.empty((n_kept, 2)), np.empty((n_kept - n_partial, 2))
    for p in range(first.shape[0] - 1):
        # after the last throw: the rule's action in each throw
        for throw in range(n_kept - n_partial):
            s = index(first[p, 0]) + index(throw)
            number, o = index(choice.lottery[s]), index(choice.outcome[s])
            look_ahead(tables, number, target, o, bounds, last[throw])
        kept[n_partial:] = last
        # one throw earlier: the kept dice are thrown again, or all kept and the turn ends
        for left in range(pool.rerolls):
            throw_dice(pool, kept)
            for throw in range(n_kept - n_partial):
                k = keep[keep_group[p], left, throw]
                kept[n_partial + throw] = kept[k] if k < n_partial else last[k - n_partial]
        throw_dice(pool, kept)
        found[p] = kept[0]


class Seen(NamedTuple):
    """The features for a preference in some cases.

    Attributes
    ----------
    asked : Asked
    told : tuple of str
        Names of features of positions.
    different : (n_cases, 1 + n_told + ...) int64
        The group of `asked`, then the `told` features.
    numbers : (n_actions,) int64
        The feature `number` of the actions.
    """

    asked: Asked
    told: tuple[str, ...]
    different: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def column(self, name: str) -> NDArray[np.int32]:
        """A feature of each case and action; one row or column if it is the same in all."""
        if name == NUMBER:
            return self.numbers[None].astype(np.int32)
        if name in self.asked.tables:
            table = self.asked.tables[name]
            return table if len(table) == 1 else table[self.different[:, 0]]
        if name in self.told:
            return self.different[:, [1 + self.told.index(name)]].astype(np.int32)
        return np.zeros((1, len(self.numbers)), np.int32)


class TurnPositions:
    """Some positions of a game with a pool.

    Parameters
    ----------
    rules : Rules
        With a pool.
    layer : Layer
        The positions as one block. Targets in the layer have known worths, like its border.
    labels : (n_actions,) int32
        The numbers of the actions in the rules.
    rows : (n, n_fields) int32
    """

    def __init__(
        self, rules: Rules, layer: Layer, labels: NDArray[np.int32], rows: NDArray[np.int32]
    ) -> None:
        assert rules.pool is not None
        self._rules, self._pool, self.rows, self.layer = rules, rules.pool, rows, layer
        ((_, self._block),) = layer.blocks
        self._reward = sign_of(rules.game.objective) * layer.tables.reward
        self._labels, label = np.unique(labels, return_inverse=True)
        self._label = label.reshape(-1).astype(np.int32)

    def worth(self, says: Says, known: Floats) -> Floats:
        """The intervals of the positions by a rule, with the sign of the objective: (n, 2) float64.

        Parameters
        ----------
        known : (n_known, 2) float64
            The intervals of the places before the endings, or of the last of them.
        """
        layer, found = self.layer, np.empty((len(self.rows), 2))
        over = layer.n + layer.n_border
        bounds = np.empty((layer.n_places, 2))
        bounds[over - len(known) : over] = known
        bounds[over:] = layer.endings[:, None]
        lists = self._block, layer.tables, says.keep_group, says.keep, self._chosen(says)
        follow_turns(*lists, bounds, found)
        return found

    def played(self, says: Says, times: Ints, random: np.random.Generator) -> Ints:
        """The places after turns by a rule, as many from each position as `times` says."""
        tables, block = self.layer.tables, self._block
        position = np.repeat(np.arange(len(times)), times)
        n_partial, sides = tables.pool.with_face.shape
        kept, stays = np.zeros((2, len(position)), np.int64)
        # one throw of all turns at a time, the rerolls counted down
        for left in range(self._pool.rerolls, -1, -1):
            # one die is added to each set that isn't full yet
            while len(falling := np.flatnonzero(kept < n_partial)):
                faces = random.integers(sides, size=len(falling))
                kept[falling] = tables.pool.with_face[kept[falling], faces]
            if left:
                keep = says.keep[says.keep_group[position], left - 1, kept - n_partial]
                # a turn that keeps all dice throws no more
                kept = np.where(stays, kept, keep)
                stays |= kept >= n_partial
        situation = block.first[position, 0] + kept - n_partial
        choice = self._chosen(says)
        lottery = choice.lottery[situation].astype(np.int64)
        begin, end = (tables.indptr[lottery + k].astype(np.int64) for k in range(2))
        outcome = drawn(random, heaped(np.abs(tables.weight)), begin, end) - begin
        return np.asarray(block.target[choice.outcome[situation] + outcome], np.int64)

    def _chosen(self, says: Says) -> Choice:
        """The actions after the last throw."""
        (choice,) = choices_for(self.layer)
        prefer(self._block, self.layer.tables.indptr, self._label, self._reward, says, choice)
        return choice

    def says(self, rule: Rule) -> Says:
        """The choices of a rule in the positions.

        Raises
        ------
        UsageError
            A feature of the rule isn't available in so large a game.
        """
        return Says(*self.kept_by(rule), *self.filled_by(rule))

    def kept_by(self, rule: Rule) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The kept dice of a rule: the first two parts of `says`."""
        chains, chain = self._chains(rule)
        return self._keeps(chains, chain[:, 1:], self._multiplied(rule))

    def filled_by(
        self, rule: Rule
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The choices of a rule after the last throw: the other parts of `says`."""
        chains, chain = self._chains(rule)
        return self._fills(chains, chain[:, 0], self._multiplied(rule))

    # -- features from the rule sheet

    @cached_property
    def kept(self) -> Asked:
        """The features of all possible kept dice."""
        return kept_features(self._rules.game, self._pool, self.rows, self._rules.field_names)

    @cached_property
    def filled(self) -> Asked:
        """The features of all actions after the last throw."""
        labels = self._labels.tolist()
        names = self._rules.field_names
        ends = [(throw,) for _, throw in self._pool.throws]
        return filled_features(self._rules.game, ends, labels, self.rows, names)

    @cached_property
    def told(self) -> dict[str, NDArray[np.int32]]:
        """The rule sheet's features of the positions: (n,) int32 by name."""
        return position_features(self._rules.game, self.rows, self._rules.field_names)

    def _multiplied(self, rule: Rule) -> tuple[str, ...]:
        """The features of positions that occur in preferences."""
        preferences = [c.deed for c in rule.clauses if isinstance(c.deed, Preference)]
        terms = [term for deed in preferences for form in deed.forms for term in form.terms]
        used = {name for _, feature in terms for name in (feature.first, feature.second)}
        return tuple(name for name in self.told if name in used)

    # -- which clauses hold

    def _chains(self, rule: Rule) -> tuple[list[Chain], NDArray[np.int64]]:
        """The chain of deeds in each position: its first possible deed is done.

        Returns
        -------
        chains : list of tuple of deeds
        chain : (n, rerolls + 1) int64
            Indices into `chains`, by the rolls left.
        """
        n, rerolls = len(self.rows), self._pool.rerolls
        parameters = self._rules.game.parameters
        fields = {name: self.rows[:, k] for k, name in enumerate(self._rules.field_names)}
        columns = self.told | fields
        holds = np.ones((n, rerolls + 1, len(rule.clauses)), np.bool_)
        for number, clause in enumerate(rule.clauses):
            if clause.condition is None:
                continue
            used = {f for _, f in clause.condition.form.terms}
            for name in {name for f in used for name in (f.first, f.second) if name}:
                if name not in columns and name != ROLLS_LEFT:
                    raise UsageError(
                        f"{self._rules.game.name} is too large for a rule of thumb whose clauses "
                        f"look at {name!r}: they may look at {', '.join([*columns, ROLLS_LEFT])}, "
                        "and prefer actions by any feature"
                    )
            for left in range(rerolls + 1):
                seen = {**columns, ROLLS_LEFT: np.full(n, left, np.int32)}
                holds[:, left, number] = clause.condition.holds(seen, parameters)
        # positions with the same true conditions follow the same chain
        cases, chain = np.unique(holds.reshape(-1, holds.shape[2]), axis=0, return_inverse=True)
        chains = [_chain_of(rule, case) for case in cases]
        return chains, chain.reshape(n, rerolls + 1)

    def _keeps(
        self, chains: list[Chain], chain: NDArray[np.int64], told: tuple[str, ...]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The kept dice of each throw, by groups of positions."""
        indptr, part = parts_of(self._pool)
        different, group = self._cases(self.kept, told, chain)
        rerolls = chain.shape[1]
        keep = np.zeros((len(different), rerolls, len(indptr) - 1), np.int32)
        of_chain = different[:, -rerolls:]
        # each chain is scored once, for all its groups and rolls left
        for number in np.unique(of_chain).tolist():
            here = np.flatnonzero((of_chain == number).any(axis=1))
            seen = Seen(self.kept, told, different[here], self._kept_numbers)
            scores, _ = self._scores(chains[number], seen, self._kept_labels)
            kept = np.empty((len(scores), len(indptr) - 1), np.int32)
            most_kept(scores, indptr, part, kept)
            kept = np.broadcast_to(kept, (len(here), kept.shape[1]))
            for left in range(rerolls):
                at = of_chain[here, left] == number
                keep[here[at], left] = kept[at]
        return group, keep

    def _fills(
        self, chains: list[Chain], chain: NDArray[np.int64], told: tuple[str, ...]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The scores of the actions after the last throw, by groups of positions."""
        n_throws, n_labels = len(self._pool.throws), len(self._labels)
        different, group = self._cases(self.filled, told, chain[:, None])
        fill = np.zeros((len(different), n_throws, n_labels), np.int64)
        points = np.zeros(len(different), np.int64)
        labels = np.tile(self._labels.astype(np.int64), n_throws)
        for number in np.unique(different[:, -1]).tolist():
            here = np.flatnonzero(different[:, -1] == number)
            seen = Seen(self.filled, told, different[here], labels)
            scores, before = self._scores(chains[number], seen, labels)
            fill[here] = scores.reshape(-1, n_throws, n_labels)
            points[here] = before
        return group, fill, points

    def _cases(
        self, asked: Asked, told: tuple[str, ...], chain: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The different cases, and the case of each position.

        Returns
        -------
        different : (n_cases, 1 + n_told + n_chains) int64
            The group of `asked`, the `told` features, and the chains.
        group : (n,) int32
        """
        alike = asked.group if any(len(t) > 1 for t in asked.tables.values()) else 0 * asked.group
        keys = np.column_stack([alike, *(self.told[name] for name in told), chain])
        different, group = np.unique(keys, axis=0, return_inverse=True)
        return different.astype(np.int64), group.reshape(-1).astype(np.int32)

    @cached_property
    def _kept_numbers(self) -> NDArray[np.int64]:
        return np.array([len(kept) for kept in kept_dice(self._pool)], np.int64)

    @cached_property
    def _kept_labels(self) -> NDArray[np.int64]:
        pool = self._pool
        return np.array([KEEP + pool.code(kept) for kept in kept_dice(pool)], np.int64)

    def _scores(
        self,
        chain: Chain,
        seen: Seen,
        labels: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:
        """The preference score of each case without points, and the factor of the points."""
        levels = list[tuple[NDArray[np.int64], int]]()
        for deed in chain:
            if isinstance(deed, Preference):
                levels += [self._worth(form, seen) for form in deed.forms]
            else:
                levels.append(((labels == deed).astype(np.int64)[None], 0))
        if len(levels) > MOST_LEVELS:
            raise UsageError(
                f"{self._rules.game.name} is too large for a rule of thumb with more than "
                f"{MOST_LEVELS} preferences behind each other"
            )
        total, points = np.zeros((1, len(labels)), np.int64), 0
        # a later preference counts less than one unit of an earlier one: digits to the base LEVEL
        for worth, before in levels:
            total, points = total * LEVEL + worth, points * LEVEL + before
        return total, points

    def _worth(
        self,
        form: Form,
        seen: Seen,
    ) -> tuple[NDArray[np.int64], int]:
        """The value of a form in each case without points, and the factor of the points."""
        total, points = np.zeros((1, len(seen.numbers)), np.int64), 0
        for number, feature in form.terms:
            # points differ by position, so they aren't a column: their factor is handed on
            if feature.first == POINTS and not feature.pair:
                points = number
                continue
            if {feature.first, feature.second} & {POINTS}:
                raise UsageError(
                    f"{self._rules.game.name} is too large for a rule of thumb with "
                    f"{feature.text}: points stand alone"
                )
            columns = {name: seen.column(name) for name in (feature.first, feature.second)}
            total = total + number * feature.values(columns).astype(np.int64)
        most = np.abs(total).max(initial=0) + abs(points) * np.abs(self._reward).max(initial=0)
        if most >= LEVEL // 2:
            raise UsageError(
                f"{self._rules.game.name}: {form.text} is up to {most:,.0f} in size; in so large a "
                f"game a preference must stay below {LEVEL // 2:,}"
            )
        return total, points


def _chain_of(rule: Rule, holds: NDArray[np.bool_]) -> Chain:
    """The deeds of the clauses that hold, up to the first preference, which is always possible."""
    chain = list[int | Preference]()
    for clause, here in zip(rule.clauses, holds, strict=True):
        if here:
            chain.append(clause.deed)
            if isinstance(clause.deed, Preference):
                break
    return tuple(chain)


def one_position(game: Game) -> StateGraph:
    """The turn of the start as a graph, for reading rules of thumb of a large game."""
    rules = Rules(game)
    start = np.array([rules.layout.numbers(rules.start)], np.int32)
    graph, _ = some_states(rules, start)
    return graph


def has_turns(game: Game) -> bool:
    """Whether rules of thumb of a game can be scored without its graph."""
    if game.players != 1 or game.made_from is not game or game.reads_rolls_left:
        return False
    return Rules(game).pool is not None


def worth_by_layers(
    game: Game,
    rules_of_thumb: Sequence[Rule],
    *,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> list[tuple[float, float]]:
    """The scores of some rules from the start, with error bounds, in one pass over the game.

    Raises
    ------
    UsageError
        A turn of the game can lead back to its layer; a feature of a rule isn't available.
    """
    layers = find_layers(game, progress=progress, expand_once=False)
    n = len(layers.states)
    worth = np.empty((len(rules_of_thumb), n, 2))
    with ThreadPoolExecutor(CORES) as threads:
        # last layers first; the rules are followed side by side
        for piece in layers.last_first(keep_arrays=True):
            if not piece.layer.is_left_at_once:
                raise UsageError(f"{game.name}: a turn can lead back to positions of its layer")
            begin, end, arrays = piece.begin, piece.end, piece.arrays
            assert arrays is not None
            rows = layers.states[begin:end]
            here = TurnPositions(layers.rules, piece.layer, arrays.action_label, rows)

            def follow(number: int, here: TurnPositions = here, piece: Piece = piece) -> None:
                says = here.says(rules_of_thumb[number])
                worths = here.worth(says, worth[number, piece.border])
                worth[number, piece.begin : piece.end] = worths

            list(threads.map(follow, range(len(rules_of_thumb))))
            if progress is not None:
                progress("scoring rules", n - begin, n)
    worths = []
    for low, high in worth[:, layers.start].tolist():
        middle = (low + high) / 2
        off = math.nextafter(max(high - middle, middle - low), math.inf)
        worths.append((float(sign_of(game.objective)) * middle, off))
    return worths


def evaluate_rule(
    game: Game,
    path: str,
    *,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> tuple[Evaluation, StateGraph]:
    """The worth of the rule of thumb in a file from the start, which is state 0 of the graph.

    Raises
    ------
    PolicyError
        It can't be read, or doesn't fit the game.
    UsageError
        A feature of the rule isn't available in so large a game.
    """
    graph = one_position(game)
    rule = Rule.load(path, graph, game, Features(graph, game, constant=True))
    ((value, bound),) = worth_by_layers(game, [rule], progress=progress)
    name = Path(path).name
    values, bounds = (np.full(graph.n_states, np.nan) for _ in range(2))
    values[0], bounds[0] = value, bound
    return Evaluation(
        *(graph, name, name, values, values, bounds, bounds, "exact", Status.CONVERGED, 0)
    ), graph
