"""Facts for several parts of a report, computed once, and its tables.

For a game too large for one graph, games are simulated (`Sampled`). The positions of the report are
drawn evenly from the visited positions. Statements about them, weighted by the frequency of a
draw, estimate statements about all positions.

The strategy is a searchable table, compressed for a page: along one field, neighbours with the
same best action share a row ("turn 1 to 21: roll"). The field is the one with the fewest rows.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.lengths import Lengths, lengths
from rollwise.answer.average import average_of, average_of_policy
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.layered_states import LayeredStates
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import positions_at_once
from rollwise.coach.tally import losses_rest_on_ties
from rollwise.derive.average import Average
from rollwise.documents.model import Rows, html_of
from rollwise.errors import RollwiseError, UnknownGame, UsageError
from rollwise.game import Game
from rollwise.games import find_installed
from rollwise.graph import sign_of, title_of, win_probability
from rollwise.graph.choices import has_choice, is_throw
from rollwise.graph.policies import ties_in_play
from rollwise.numbers.printed import amount, estimated, how_many
from rollwise.plot.fields import field_text, shown_costs, shown_values
from rollwise.plot.kinds.amounts import second_best_costs
from rollwise.plot.kinds.policy import best_classes
from rollwise.simulate.turn_by_turn import (
    PlayedGames,
    Player,
    StatesMet,
    best_play,
    play_turn_by_turn,
    policy_play,
    random_play,
)
from rollwise.words import Narrator

if TYPE_CHECKING:
    from rollwise.graph.policies import Ties

GAMES, SEED = 400, 1
SECONDS = 10.0  # of a search for rules, as estimated from the size of the game
MOST_RESPONDED = 200_000  # a best response in more states takes long
RANDOM = "random"


def command(game: Game) -> str | None:
    """The command for this report, or None for rules outside files and for a form of a form.

    A game from a file is named by that file: from the current folder, or by its name alone,
    since readers keep it in places of their own.
    """
    rules = game.made_from
    name = _reference(rules) if rules.made_from is rules else None
    return None if name is None else f"rollwise report {title_of(name, game.parameters)}"


def _reference(game: Game) -> str | None:
    cls = type(game)
    try:
        installed = find_installed(cls.name)
        if installed is cls or type(installed(**game.parameters)) is cls:  # or that for more
            return cls.name
    except UnknownGame:
        pass
    try:
        file = Path(inspect.getfile(cls)).resolve()
    except (OSError, TypeError):
        return None
    if not file.is_file():
        return None
    here = Path.cwd().resolve()
    shown = file.relative_to(here) if file.is_relative_to(here) else Path(file.name)
    return f"{shown.as_posix()}:{cls.__name__}"


@dataclass(frozen=True, eq=False)
class Facts:
    """An answer, and figures derived from it.

    Attributes
    ----------
    answer : Solution
    rules : int, optional
        Number of rules of thumb to score; 0 for none, None for as many as take some seconds.
    """

    answer: Solution
    rules: int | None = 0

    counted: ClassVar[str] = "positions"
    has_maps: ClassVar[bool] = True
    spread: ClassVar[str] = ""
    guess: ClassVar[str] = ""
    no_end: ClassVar[str] = "With the best play no game comes to its end."
    drawn: ClassVar[str] = ""
    of_games: ClassVar[str] = ""
    how_proved: ClassVar[str] = (
        "a separate program, given only the positions and their values, put each value into "
        "the equations of the game, and allowed"
    )

    @classmethod
    def of(cls, answer: Solution, rules: int | None = 0) -> Facts:
        """The facts of an answer; for a large game, estimates from a sample.

        Raises
        ------
        UsageError
            Rules of thumb for a large game.
        """
        if answer.is_small:
            return Facts(answer.whole(), rules)
        if rules:
            raise UsageError(
                f"{answer.title} is too large for rules of thumb, since scoring needs the whole "
                "game: write the report without them"
            )
        return Sampled(answer)

    @property
    def solution(self) -> Solution:
        """The answer in the positions of the report."""
        return self.answer

    @property
    def name(self) -> str:
        """The game's name as a title."""
        return self.answer.heading

    @cached_property
    def lengths(self) -> Lengths:
        """Lengths of games with best play, and the visits of positions."""
        return lengths(self.solution.graph, self.solution.policy)

    @cached_property
    def ties(self) -> Ties | None:
        """The positions of best play with several equally good actions, if any."""
        return ties_in_play(self.solution.graph, self.solution.policy)

    @cached_property
    def choice(self) -> NDArray[np.bool_]:
        """Whether each state has a choice: (n_states,) bool."""
        return has_choice(self.solution.graph)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """The cost of the second-best action of each state, in shown units; NaN without one."""
        return shown_costs(self.solution, second_best_costs(self.solution))

    @property
    def is_average(self) -> bool:
        """Whether play has no end, so that a game of the report is a cycle."""
        game = self.answer.game
        return game is not None and game.made_from.objective == "average"

    @property
    def unit(self) -> str:
        """The unit of costs."""
        return "points" if self.answer.is_score else "percentage points"

    @property
    def size(self) -> tuple[int, int, int, str, str]:
        """The numbers of positions, moves and outcomes, the cycles, and the method."""
        graph = self.solution.graph
        components = graph.components
        circles = (
            f"{how_many(len(components), 'group')} of positions, the largest of "
            f"{components.largest:,}"
            if components.largest > 1
            else "here none leads back to another"
        )
        moves = graph.n_actions - int(np.count_nonzero(is_throw(graph)))
        return graph.n_positions, moves, graph.n_outcomes, circles, self.answer.method

    @property
    def responds(self) -> bool:
        """Whether best responses to the policies are shown."""
        return self.solution.graph.n_states <= MOST_RESPONDED

    @property
    def policy_names(self) -> list[str]:
        """The policies of the report."""
        assert self.answer.game is not None
        return [*self.answer.game.policies(), *([RANDOM] if self.responds else [])]

    @property
    def of_ties(self) -> str:
        """The effect of equally good moves of the perfect player on losses to it, if any."""
        if not losses_rest_on_ties(self.solution):
            return ""
        return (
            " Of equally good moves the perfect player takes the first; the others may lead to "
            "other figures."
        )

    def cells(self, name: str) -> list[str]:
        """The results of a policy, as the cells of a row.

        Raises
        ------
        PolicyError
        """
        solution, graph = self.solution, self.solution.graph
        policy = Policies.of(solution).find(name)
        if self.is_average:
            assert isinstance(solution.game, Average)
            (best, _), (reached, _) = average_of(solution), average_of_policy(solution.game, policy)
            return [f"{reached:z.4f}", f"{best - reached:z.4f}"]
        if graph.players == 1:
            value = float(evaluate(graph, policy, starts=[0]).values[0])
            worse = abs(solution.value - value)
            if solution.is_score:
                return [f"{value:z.4f}", f"{worse:.4f}"]
            return [f"{100 * win_probability(value):.2f} %", f"{50 * worse:.2f}"]
        result = evaluate(graph, policy, solution.policy, starts=[0])
        unit, digits = (1.0, ".4f") if solution.has_stakes else (50.0, ".2f")
        if solution.has_stakes:
            one, two = float(result.values[0]), float(result.values_second[0])
            cells = [f"{one:z.4f}", f"{two:z.4f}", f"{-(one + two) / 2:z.4f}"]
        else:
            one = 100 * float(result.win_probability[0])
            two = 100 * float(result.win_probability_second[0])
            cells = [f"{one:.2f} %", f"{two:.2f} %", f"{50 - (one + two) / 2:z.2f}"]
        if self.responds:
            # Payoffs go from -1 to 1, so that half of them are shares of games.
            loss = best_response(graph, policy, starts=[0]).exploitability()
            cells.append(f"{unit * loss:z{digits}}")
        return cells


@dataclass(frozen=True, eq=False)
class Sampled(Facts):
    """Simulated games of best play, and the answer in some of the visited positions."""

    counted = "of the positions below"
    has_maps = False  # scattered positions form no map
    how_proved = (
        "a bound of its error goes with each value from the end of the game to the start, and "
        "allows"
    )
    no_end = "None of the simulated games came to its end."
    responds = False
    of_ties = ""

    @cached_property
    def best(self) -> Player:
        """The best player."""
        return best_play(self.answer)

    @property
    def _game(self) -> Game:
        assert self.answer.game is not None
        return self.answer.game

    @cached_property
    def played(self) -> PlayedGames:
        """The games."""
        return play_turn_by_turn(self._game, self.best, GAMES, SEED, met=self._met)

    @cached_property
    def _met(self) -> StatesMet:
        """The states of the games."""
        return StatesMet()

    @property
    def ties(self) -> Ties | None:
        assert self.played.n  # `_met` has them afterwards
        return self._met.ties

    @property
    def about(self) -> str:
        """The origin of the estimates."""
        return f"estimated from {GAMES} simulated games of such play, seed {SEED}"

    @property
    def guess(self) -> str:  # type: ignore[override]
        return f" ({self.about})"

    @property
    def spread(self) -> str:  # type: ignore[override]
        """The spread of the gains of single games."""
        if not self.answer.is_score:
            return ""
        gains = self.played.gains
        low, middle, high = np.quantile(gains, (0.1, 0.5, 0.9), method="inverted_cdf")
        return (
            f"\n<p>Single games differ: at least one in ten brings {amount(low)} or less, at least "
            f"half of them {amount(middle)} or less, and at least one in ten {amount(high)} or "
            f"more ({self.about}; their "
            f"mean is {estimated(self.played.mean, self.played.standard_error)}).</p>"
        )

    @property
    def drawn(self) -> str:  # type: ignore[override]
        """A sentence about the drawn positions."""
        return (
            f"The game has {len(self.answer):,} positions. Here are {self.n_positions:,} of them, "
            f"drawn from those that {GAMES} well-played games came to (seed {SEED}), the start "
            "among them; <code>rollwise advise</code> knows all. "
        )

    @property
    def of_games(self) -> str:  # type: ignore[override]
        """The origin of the figures of policies."""
        seats = " in each seat" if self.answer.space.players == 2 else ""
        return (
            f" That is estimated from {GAMES} games{seats}, seed {SEED}: behind ± stands the "
            "standard error."
        )

    @property
    def size(self) -> tuple[int, int, int, str, str]:
        space = self.answer.space
        assert isinstance(space, LayeredStates)
        circles = f"in {how_many(len(space.progress), 'layer')}, one after the other"
        method = f"{self.answer.method} by layers"
        return len(self.answer), space.n_actions, space.n_outcomes, circles, method

    @cached_property
    def _drawn(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The positions of the report, the start first, and the visits of each in a game."""
        played = self.played
        total, most = int(played.visits.sum()), positions_at_once(Rules(self._game))
        n = min(total, most)
        places = np.searchsorted(np.cumsum(played.visits), (np.arange(n) + 0.5) * total / n)
        which, often = np.unique(np.append(places, 0), return_counts=True)
        often[0] -= 1  # the start is always among them, drawn or not
        return which, np.asarray(often * (total / n / GAMES), np.float64)

    @property
    def n_positions(self) -> int:
        """The number of drawn positions."""
        return len(self._drawn[0])

    @cached_property
    def solution(self) -> Solution:
        rows = self.played.positions[self._drawn[0]]
        return self.answer.near_rows(rows)

    @cached_property
    def lengths(self) -> Lengths:
        """Lengths of the games, and the visits of the states of `solution` in a game."""
        played, graph = self.played, self.solution.graph
        begin = np.zeros(graph.n_states)
        begin[: len(self._drawn[1])] = self._drawn[1]
        visits = lengths(graph, self.solution.policy, begin=begin).visits
        last = int(played.lengths.max(initial=0))

        def shares(which: NDArray[np.bool_]) -> NDArray[np.float64]:
            counted = np.bincount(played.lengths[which & played.over], minlength=last + 1)
            return np.asarray(counted / played.n)

        gains, is_won = played.gains, self.answer.objective == "win"
        first, second = is_won & (gains > 0), is_won & (gains < 0)
        won, lost, other = map(shares, (first, second, ~(first | second)))
        tail, nothing = float(1 - played.over.mean()), np.zeros(last + 1)
        chance = won + lost + other
        return Lengths(chance, tail, played.unit, won, lost, other, visits, nothing)

    @property
    def policy_names(self) -> list[str]:
        return [*self._game.policies(), RANDOM]

    def cells(self, name: str) -> list[str]:
        answer, played = self.answer, self.games_of(name)
        seats = [1, -1][: len(played)]  # gains are the first player's
        means = [sign * games.mean for sign, games in zip(seats, played, strict=True)]
        errors = [games.standard_error for games in played]
        behind = -sum(means) / 2
        if len(played) == 1:  # an estimate may lie on the other side of the best value
            behind = float(sign_of(answer.objective)) * (answer.value - means[0])
        off = errors[0] if len(played) == 1 else hypot(*errors) / 2
        if answer.is_score:
            shown = [str(estimated(*pair)) for pair in zip(means, errors, strict=True)]
            return [*shown, str(estimated(behind, off))]
        shown = [
            f"{estimated(100 * win_probability(mean), 50 * error)} %"
            for mean, error in zip(means, errors, strict=True)
        ]
        return [*shown, str(estimated(50 * behind, 50 * off))]

    def games_of(self, name: str) -> list[PlayedGames]:
        """As many games with a policy of the rules, or ``random``; for two players in each seat.

        Raises
        ------
        PolicyError
        """
        game, random = self._game, np.random.default_rng(SEED)
        known = name in game.policies()
        player = policy_play(game, name, random) if known else random_play(game, random)
        seats: list[tuple[Player, Player | None]] = [(player, None)]
        if game.players == 2:
            seats = [(player, self.best), (self.best, player)]
        return [play_turn_by_turn(game, one, GAMES, SEED, other) for one, other in seats]


MOST_ROWS = 40_000
MOST_SINGLE = 3_000  # up to here each position has a row
WIDE = 0.1  # of the range of all values: the largest range of a row with a value


def encode(facts: Facts) -> tuple[str, int, int]:
    """The table as JSON, the number of its rows, and of the omitted ones.

    The JSON has ``fields`` (names), ``texts`` (for each field the meaning of its numbers, such as
    the members of a set), ``ranged`` (the index of the field with ranges, or -1),
    ``actions``, ``value`` (its name) and ``rows``: a list for each column.
    """
    solution = facts.solution
    states = np.flatnonzero(facts.choice)
    best = best_classes(solution, states)
    names, classes = best.names, best.classes
    fields, texts, table = _columns(solution, states)
    varying = [f for f in range(table.shape[1]) if len(np.unique(table[:, f])) > 1]
    varying = varying or [0]
    shown = shown_values(solution, solution.values)[states]
    visits = facts.lengths.visits[states]
    ranged = -1
    order = np.lexsort(table[:, varying[::-1]].T)
    begins = np.arange(len(states))
    if len(states) > MOST_SINGLE:
        ranges = [f for f in varying if not texts[f]] or varying
        tried = [(*_runs(table, classes, varying, f), f) for f in ranges]
        order, begins, ranged = min(tried, key=lambda found: len(found[1]))
    ends = np.append(begins[1:], len(states)) - 1
    weight = np.add.reduceat(visits[order], begins)
    kept = np.arange(len(begins))
    if len(begins) > MOST_ROWS:
        kept = np.sort(np.argsort(-weight, kind="stable")[:MOST_ROWS])
    kept = kept[np.argsort(-weight[kept], kind="stable")]  # the most frequent first
    first, last = order[begins[kept]], order[ends[kept]]
    columns = [table[first, f].tolist() for f in varying]
    digits = 2 if solution.is_score else 1
    low, high = (np.round(shown[ends_at], digits) for ends_at in (first, last))
    # of a row with very different values, none is told
    wide = np.abs(high - low) > WIDE * np.ptp(shown)
    document = {
        "fields": [fields[f] for f in varying],
        "texts": [
            {n: texts[f][n] for n in np.unique(table[first, f]).tolist() if n in texts[f]}
            for f in varying
        ],
        "ranged": varying.index(ranged) if ranged >= 0 else -1,
        "upto": table[last, ranged].tolist() if ranged >= 0 else [],
        "actions": names,
        "action": classes[first].tolist(),
        "value": solution.worth_name if solution.is_score else "chance to win",
        "unit": "" if solution.is_score else " %",
        "from": [None if w else v for v, w in zip(low.tolist(), wide.tolist(), strict=True)],
        "to": high.tolist() if ranged >= 0 else [],
        "cost": [] if ranged >= 0 else np.round(facts.costs[states][first], digits + 1).tolist(),
        "columns": columns,
    }
    text = json.dumps(document, separators=(",", ":")).replace("</", "<\\/")
    return text, len(kept), len(begins) - len(kept)


def _columns(
    solution: Solution, states: NDArray[np.int64]
) -> tuple[list[str], list[dict[int, str]], NDArray[np.int64]]:
    """The columns of the table: names, meanings of numbers, and numbers.

    A throw of several dice is one column, of numbers that stand for its words.
    """
    graph = solution.graph
    thrown = graph.throw_columns[:-1] if graph.has_pool else graph.throw_columns
    if len(thrown) < 2:
        thrown = []
    own = [f for f in range(len(graph.columns)) if f not in thrown]
    names = [graph.columns[f] for f in own]
    table = graph.rows[states][:, own].astype(np.int64)
    texts = []
    for name, column in zip(names, table.T, strict=True):
        told = {n: field_text(solution, name, n) for n in np.unique(column).tolist()}
        texts.append({n: text for n, text in told.items() if text != str(n)})
    if thrown:
        narrator = Narrator(graph, solution.game)
        _, first, numbers = np.unique(
            graph.rows[states][:, thrown], axis=0, return_index=True, return_inverse=True
        )
        words = [narrator.thrown(graph.view[int(states[k])]) for k in first]
        texts.append({n: text.removeprefix("thrown: ") for n, text in enumerate(words)})
        names.append("throw")
        table = np.column_stack([table, numbers.reshape(-1)])
    return names, texts, table


def _runs(
    table: NDArray[np.int64], classes: NDArray[np.int64], varying: list[int], field: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """An order of the states, and where in it runs of equal answers along a field begin."""
    keys = [field, *[f for f in reversed(varying) if f != field]]
    order = np.lexsort(table[:, keys].T)
    rows, answers = table[order], classes[order]
    others = [f for f in varying if f != field]
    new = np.ones(len(order), np.bool_)
    new[1:] = (
        np.any(rows[1:, others] != rows[:-1, others], axis=1)
        | (answers[1:] != answers[:-1])
        | (rows[1:, field] != rows[:-1, field] + 1)
    )
    return order, np.flatnonzero(new)


def ways_to_play(
    facts: Facts,
    names: Iterable[str],
    titles: Iterable[str],
    words: str,
    cells: Callable[[str], Iterable[str]],
) -> str:
    """A table of ways to play by name, with the `cells` of each, followed by failing ones."""
    functions = {} if facts.solution.game is None else facts.solution.game.policies()
    rows, faults = [], []
    for name in names:
        about = "Any move, all equally likely."
        if name in functions:
            about = (inspect.getdoc(functions[name]) or "").partition("\n")[0]
        try:
            rows.append((name, *cells(name), about))
        except RollwiseError as error:
            faults.append(f"{name}: {error}")
    if not rows:
        return html_of(faults or ["No other way to play is written beside the rules."])
    table = Rows(("way to play", *titles, "meaning"), rows, left=("way to play", "meaning"))
    return html_of([words, table, *faults], "how each way to play does")


def policies(facts: Facts) -> str:
    """The game's policies: their results against perfect play, and against a best response."""
    solution = facts.solution
    graph, game = solution.graph, solution.game
    if game is None or not facts.choice.any():
        return ""
    if graph.players == 1:
        titles, words = _words_alone(facts)
    else:
        gains, behind = ("wins", "how many games in a hundred")
        if solution.has_stakes:
            gains, behind = ("expected payoff", "how many points a game")
        titles = [
            f"{gains}, moving first",
            f"{gains}, moving second",
            f"behind perfect play ({facts.unit})",
        ]
        words = (
            f"How each way to play does against a perfect player, and {behind} "
            "it is behind (on average of moving first and second)."
        )
        if facts.responds:
            titles.append(f"loss ({facts.unit})")
            words += " The loss is how many it is behind against its best response."
        words += facts.of_ties
    return ways_to_play(facts, facts.policy_names, titles, words + facts.of_games, facts.cells)


def _words_alone(facts: Facts) -> tuple[list[str], str]:
    solution = facts.solution
    if facts.is_average:
        return ["average", "worse by"], "The average in the long run of each way to play."
    if solution.has_stakes:
        return ["expected payoff", "worse by (points)"], "The average gain of each way to play."
    if solution.is_score:
        return ["average score", "worse by (points)"], "The average score of each way to play."
    return ["chance to win", "worse by (percentage points)"], "How often each way to play wins."
