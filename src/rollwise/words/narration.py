"""Narration of play in the words of the game: ``A throws 5 and 6: 11 to 7``.

This is the only module that narrates. The terminal, reviews, environments and transcripts print
its sentences. A rule sheet gives the words (see `rollwise.game.Game`). Without them, names of
actions and fields are used.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise import boards, dice
from rollwise.boards import Board, Cell
from rollwise.derive.derived_game import DerivedGame, base_actions
from rollwise.errors import RulesError, UsageError
from rollwise.game import Game, outcomes_rule
from rollwise.graph import NO_THROW, ROLLS_LEFT, Outcome, State, StateGraph
from rollwise.graph.layout import StateLayout
from rollwise.graph.naming import ONLY_MOVE, field_label
from rollwise.numbers.printed import amount
from rollwise.numbers.shares import is_of_seats
from rollwise.then import END, bits_of, is_over, payoff, round_the_table, skip
from rollwise.words.game_words import Words
from rollwise.words.next_view import as_next_sees

MOST_CHANGES = 8  # named in a sentence
YOU = "you"  # the name of the user in sentences
FACES = 20  # most of a die whose number of sides is unknown
MOST_THROWS = 7_776  # of the dice of an action: five dice of six sides
MOST_TRIES = 10_000  # largest number of throws in search of an outcome
TRIES_AT_ONCE = 64


def changes(
    graph: StateGraph,
    state: int,
    following: int,
    seen: tuple[int, ...] | None = None,
    meaning: Callable[[str, int], str] = lambda name, number: "",
) -> str:
    """The changed fields, by name, from the view of the player who moved, without the throw.

    Parameters
    ----------
    seen : tuple of int, optional
        `as_next_sees`, if the turn has passed.
    meaning : callable
        Gives the words for a number in a field; without words it is written as a number.
    """
    before, after = graph.fields[state].tolist(), graph.fields[following].tolist()
    if seen is not None:
        places = zip(before, seen, strict=True)
        after = [old if index < 0 else after[index] for old, index in places]
    rows = zip(graph.field_names, before, after, strict=True)
    texts = [
        f"{field_label(name)}{':' * ('.' in name)} "
        f"{meaning(name, old) or old} → {meaning(name, new) or new}"
        for name, old, new in rows
        if old != new and name not in graph.throw_names
    ]
    if len(texts) > MOST_CHANGES:
        texts[MOST_CHANGES - 1 :] = [f"and {len(texts) - MOST_CHANGES + 1} fields more"]
    return ", ".join(texts)


def _fallen(throw: Sequence[int]) -> str:
    """The thrown dice of a pool, in words."""
    fallen = [face for face in throw if face]
    return dice.spoken(fallen) if fallen else "nothing"


@dataclass(frozen=True, eq=False)
class Narrator:
    """Narrates play on a graph.

    Attributes
    ----------
    graph : StateGraph
    game : Game or None
        Its rules. Narration and dice are those of its base game. Without rules, only the names of
        the graph are used.
    """

    graph: StateGraph
    game: Game | None = None

    @cached_property
    def rules(self) -> Game:
        """The rules with words for play."""
        return Game() if self.game is None else self.game.base_game

    @cached_property
    def source(self) -> StateGraph:
        """The graph of these rules."""
        return self.graph if self.game is None else self.game.base_graph(self.graph)

    @cached_property
    def _words(self) -> Words:
        return Words(self.rules)

    @cached_property
    def _layout(self) -> StateLayout | None:
        """The layout of the states of `rules`."""
        return None if self.game is None else StateLayout.of(self.rules)

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        """The columns of the game, also those that a form adds."""
        return () if self.game is None else StateLayout.of(self.game).columns

    def _numbers(self, state: Any) -> list[Any]:
        """The numbers of a state of the rules."""
        return [] if self._layout is None else list(self._layout.numbers(state))

    def _as_rules_know(self, state: State) -> Any:
        if self._layout is None:
            return tuple(state.fields)
        return self._layout.state(state.fields[: len(self._layout.columns)])

    @cached_property
    def _source_action(self) -> NDArray[np.int64]:
        """For each action, its action in `source`."""
        if self.source is self.graph:
            return np.arange(self.graph.n_actions)
        return base_actions(self.graph, self.source)

    @cached_property
    def seen_by_next(self) -> tuple[int, ...]:
        """See `as_next_sees`; of a cube as in the inner game, since a double exchanges no views."""
        if not isinstance(self.game, DerivedGame) or self.source is not self.graph:
            return as_next_sees(self.graph)
        inner, names = self.game.inner_graph, self.graph.field_names
        seen = dict(zip(inner.field_names, as_next_sees(inner), strict=True))
        places = (seen.get(name, -1) for name in names)
        return tuple(k if k < 0 else names.index(inner.field_names[k]) for k in places)

    def _at(self, action: int) -> tuple[Any, ...]:
        """The state of an action in the form of the rules, its throw, and the rolls left."""
        state = self.source.view.action(self._source_action[action]).state
        layout = self.source.throw_layout
        if layout is None or not state.throw:
            return (self._as_rules_know(state),)
        thrown = layout.throw(state.throw), state.rolls_left
        reads = self.rules is not None and self.rules.reads_rolls_left
        return self._as_rules_know(state), *thrown[: 1 + reads]

    # ---- positions and outcomes

    def board(self, state: int, names: Sequence[str] = (), *, as_opponent: bool = False) -> str:
        """A position as a board of some lines, as the mover sees it; empty where there is none.

        Parameters
        ----------
        names : sequence of str, optional
            Of the players, from the mover on. A picture that the rules draw themselves (``show``)
            doesn't have them.
        as_opponent : bool
            The board as the mover's opponent sees it, unless the rules draw it themselves.
        """
        if self.game is None:
            return ""
        picture = self._words.text("show", self._as_rules_know(self.graph.view[state]))
        cells = self.cells(state) if names else ()
        if not cells or picture != boards.text_board(boards.numbered(cells, self.rules.players)):
            return picture.strip("\n")
        seen = boards.swapped(cells) if as_opponent else cells
        return boards.text_board(boards.with_names(seen, names[::-1] if as_opponent else names))

    def cells(self, state: int) -> Board:
        """A position as rows of cells, as the mover sees it; empty where there is none."""
        return (
            ()
            if self.game is None
            else self._words.cells(self._as_rules_know(self.graph.view[state]))
        )

    def cells_seen_back(self, state: int) -> Board:
        """A position after a PASS as cells, as the player before it sees it, by `seen_by_next`."""
        assert self._layout is not None
        fields = self.graph.view[state].fields
        seen = self.seen_by_next[: len(self._layout.columns)]
        return self._words.cells(self._layout.state([fields[k] for k in seen]))

    def field_text(self, name: str, number: int) -> str:
        """The meaning of a number in a field; empty if the number needs none."""
        if self.game is None or name not in self._columns:
            return ""
        return Words(self.game).text("field_text", name, number)

    def _printed(self, name: str, number: int) -> str:
        """The same as answers print it: a set in braces."""
        if self.game is None or not self.field_text(name, number):
            return ""
        return Words(self.game).field_text(name, number)

    def position(self, state: int) -> str:
        """A position in words, as the mover sees it."""
        here = self.graph.view[state]
        if self.game is None:
            return str(here)
        named = zip(self.graph.field_names, here.fields, strict=True)
        fields = [field for name, field in named if name not in self.graph.throw_names]
        text = Words(self.game).text("describe", StateLayout.of(self.game).state(fields))
        if here.rolls_left and (here.asks_rules or 0 not in here.throw):
            text += f"; {here.rolls_left} more throw{'s' if here.rolls_left > 1 else ''}"
        return f"{text}; {self.thrown(here)}" if here.throw else text

    def throw_cells(self, throw: Sequence[int]) -> Sequence[Cell]:
        """The dice of a throw as cells; empty where it is told in words."""
        layout = self.graph.throw_layout
        if self.game is not None and layout is not None and len(throw):
            declared = self._words.throw_cells(layout.throw(throw))
            if declared:
                return declared
        sides = self._die_sides
        return [boards.die(face, sides=sides) for face in throw if face > 0] if sides else []

    @cached_property
    def _die_sides(self) -> int:
        """The highest face of the dice of all throws; 0 if throws aren't tuples of faces."""
        graph = self.graph
        named = [name.startswith("throw.") for name in graph.throw_names]
        shown = graph.rows[:, graph.throw_columns] if graph.throws is None else graph.throws
        faces = shown[:, named]
        faces = faces[faces != NO_THROW]
        is_dice = len(faces) and faces.min() >= 0 and 1 < faces.max() <= FACES
        return int(faces.max()) if is_dice else 0

    def thrown(self, here: State) -> str:
        """The throw of a state in words, or its kept dice; empty before a throw."""
        if 0 in here.throw and not here.asks_rules:
            return f"kept: {_fallen(here.throw)}"
        return f"thrown: {self._throw_text(here)}" if here.throw else ""

    def _throw_text(self, thrown: State) -> str:
        """A throw in words: ``3 and 5``."""
        layout = self.graph.throw_layout
        if self.game is None or layout is None:
            return dice.spoken(thrown.throw)
        at = self._as_rules_know(thrown), layout.throw(thrown.throw)
        return self._words.text("throw_text", *at)

    def outcome_text(self, action: int, number: int) -> str:
        """An outcome in words, without naming the player."""
        outcome = self.graph.view.action(action).outcome(number)
        if outcome.action.is_throw and outcome.next_state is not None:
            return self._throw_text(outcome.next_state)
        if outcome.action.keeps:
            return outcome.action.name
        text = self.told(action, number)
        if outcome.ending is not None:
            result, _, stake = outcome.ending_text.partition(" ")
            then = {"win": "wins", "lose": "loses", "draw": _drawn(outcome), "end": ""}.get(
                result, result
            )
            then = f"{then} {stake}".strip()
            end = "back at the beginning" if self._is_average else "the end"
            return "; ".join(part for part in (text, then) if part) or end
        if text:
            return text
        # an action without chance is described by the game's words for the action
        alone = len(outcome.action.outcome_range) == 1 and self.game is not None
        made = (self.deed(action) if alone else "") or self._changed(outcome)
        if not outcome.passes:
            return made or "nothing changes"
        return "; ".join(part for part in (made, _passing(outcome)) if part)

    def _changed(self, outcome: Outcome) -> str:
        """The fields changed by an outcome that continues the game, from the view of the mover."""
        s, t = outcome.action.state.index, outcome.target
        if not outcome.passes:
            return changes(self.graph, s, t, meaning=self._printed)
        if self.source is not self.graph:  # the points of the other player stand elsewhere
            return ""
        seen = tuple(range(len(self.seen_by_next)))
        for _ in range(outcome.seats_on):
            seen = tuple(k if k < 0 else self.seen_by_next[k] for k in seen)
        return changes(self.graph, s, t, seen, self._printed)

    def told(self, action: int, number: int, faces: Sequence[int] = ()) -> str:
        """The outcome of an action in the rules' own words, or its throw; empty without words."""
        if self.graph.view.action(action).keeps:
            return ""
        if self.is_throw(action):
            after = self.graph.view.action(action).outcome(number).next_state
            return "" if after is None else self._throw_text(after)
        thrown = self.source.view.action(self._source_action[action])
        outcome = thrown.outcome(number)
        at, follows = self._at(action), outcome.next_state
        after = at[0] if follows is None else self._as_rules_know(follows)
        return self._words.told(at, thrown.label, _then(outcome), after, faces)

    def finals(self, action: int) -> list[tuple[int, ...] | None]:
        """The fields of the position at the end of the game, for each outcome of an action.

        Its last player sees it so. It is the next state of the ending in the rules, which may
        write it as the next player sees it, as after a PASS: of both views, the one with fewer
        changes counts.

        Returns
        -------
        list of tuple of int or None
            None for other outcomes, in derived games, and where the rules repeat the position
            before the action or merge endings in different positions.
        """
        taken = self.graph.view.action(action)
        ends: list[tuple[int, ...] | None] = [None] * len(taken.outcome_range)
        if self.game is None or self.source is not self.graph or taken.is_throw or taken.keeps:
            return ends
        at, found = self._at(action), defaultdict(list)
        for _, then, after in outcomes_rule(self.rules)(*at, taken.label):
            if is_over(then):
                found[round_the_table(then, max(self.graph.players, 2))].append(after)
        here: dict[int, list[int]] = defaultdict(list)
        for outcome in taken.outcomes:
            if outcome.is_over:
                here[_then(outcome)].append(outcome.number)
        for then, numbers in here.items():
            after = found[then]
            if len(after) != len(numbers):  # merged by the builder
                after = after[:1] * len(numbers) * (after.count(after[0]) == len(after))
            for number, end in zip(numbers, after, strict=False):
                if end is not None and end != at[0]:
                    ends[number] = self._row_at_end(end)
        rows = [end for end in ends if end is not None]
        if rows and self.graph.players > 1:
            fields, seen = taken.state.fields, self.seen_by_next

            def turned(row: tuple[int, ...]) -> tuple[int, ...]:
                return tuple(row[k] if k >= 0 else x for k, x in zip(seen, row, strict=True))

            if _far(turned(rows[0]), fields, seen) < _far(rows[0], fields, seen):
                ends = [end and turned(end) for end in ends]
        return ends

    def _row_at_end(self, end: Any) -> tuple[int, ...]:
        """The fields of a final position, without a throw."""
        assert self._layout is not None
        numbers = self._layout.numbers(end)
        if not self.graph.throw_names or len(numbers) == len(self.graph.field_names):
            return tuple(map(int, numbers))
        named = dict.fromkeys(self.graph.throw_names, NO_THROW) | {ROLLS_LEFT: 0}
        named |= dict(zip(self._layout.columns, numbers, strict=True))
        return tuple(int(named[name]) for name in self.graph.field_names)

    def words_at_end(self, row: Sequence[int]) -> tuple[str, str, Board] | None:
        """A final position in words, as text, and as cells; None where the rules' words fail."""
        assert self._layout is not None
        state = self._layout.state(row[: len(self._layout.columns)])
        words = Words(self.rules)
        try:
            return words.text("describe", state), words.text("show", state), words.cells(state)
        except RulesError:  # they needn't know positions without moves
            return None

    def deed(self, action: int) -> str:
        """The action as a sentence about its player; empty without words in the rules."""
        taken = self.graph.view.action(action)
        if taken.keeps:
            kept = taken.outcome(0).next_state
            return f"keep {_fallen(() if kept is None else kept.throw)}"
        if taken.is_throw:
            return ""
        return self._words.text("deed", *self._at(action), taken.label)

    # ---- a move as a sentence

    def sentence(
        self,
        who: str,
        action: int,
        number: int,
        faces: Sequence[int] = (),
        *,
        points: float = 0.0,
        names: Sequence[str] = (),
    ) -> str:
        """A move in words: the player, the action, the dice and the result.

        Parameters
        ----------
        who : str
            The player's name; "you" for the second person.
        action : int
            Index into the graph's arrays.
        number : int
            Index of the outcome among those of the action.
        faces : sequence of int
            Of the dice, if known.
        points : float
            Points of the player's earlier moves (see `points_of`).
        names : sequence of str
            Of all players of a game for three or more, from this one on.
        """
        taken = self.graph.view.action(action)
        outcome = taken.outcome(number)
        if taken.is_throw:
            return f"{who} {conjugated('throw', who)} {self.outcome_text(action, number)}"
        deed = self.deed(action)
        if taken.keeps:
            return f"{who} {conjugated(deed, who)}"
        came = [self.told(action, number, faces)]
        if not (deed or came[0] or outcome.is_over):
            passes = _passing(outcome, names) if outcome.passes else "nothing changes"
            came = [self._changed(outcome) or passes]
            came += [passes] if outcome.passes and len(names) > 2 and came != [passes] else []
        came += [
            self._score(action, outcome, points),
            _result(who, outcome) if len(names) < 3 else _winners(outcome, names),
        ]
        thrown = self._thrown(action, faces)
        if deed:
            deed = deed.replace("{}", thrown).strip()
        else:
            name = taken.distinct_name
            deed = "move" if name == ONLY_MOVE else f"play {name}"
            deed += f", throwing {thrown}" if thrown else ""
        did = f"{who} {conjugated(deed, who)}"
        result = "; ".join(part for part in came if part)
        return f"{did}: {result}" if result else did

    def points_of(self, action: int) -> float:
        """The points of an action, in the game or in its base game."""
        if self.source.objective == "win":
            return 0.0
        return self.source.view.action(self._source_action[action]).reward

    def _score(self, action: int, outcome: Outcome, points: float) -> str:
        """The points of a game for points: so far, or in all at the end of the player's turns.

        The result of a cycle (`rollwise.derive.average`) has the cost of time too. In a game of
        two, the gain of the move from the opponent.
        """
        if self.source.objective == "win":
            gain = outcome.action.reward
            return f"gains {amount(gain)}" if gain > 0 else f"pays {amount(-gain)}" if gain else ""
        made = self.points_of(action)
        if outcome.is_over or outcome.passes:
            costs = ", less the cost of time" if self._is_average else ""
            return f"{amount(points + made)} in all{costs}"
        return f"{amount(points + made)} so far" if made else ""

    @property
    def _is_average(self) -> bool:
        """Whether the game is a cycle of one without an end."""
        return self.game is not None and self.game.base_game.objective == "average"

    def _thrown(self, action: int, faces: Sequence[int]) -> str:
        if faces:
            return dice.spoken(map(self.face_name, faces))
        n = len(self.dice(action))
        return "" if not n else "1 die" if n == 1 else f"{n} dice"

    # ---- dice

    def face_name(self, face: int) -> str:
        """The name of a face of a die."""
        return self._words.text("face_name", face)

    def dice(self, action: int) -> tuple[int, ...]:
        """The sides of the dice thrown by an action, if the game gives them."""
        label = int(self.graph.action_label[action])
        if self.game is None or self.is_throw(action) or self.graph.view.action(action).keeps:
            return ()
        return self._words.throw(self._at(action), label)

    def is_throw(self, action: int) -> bool:
        """Whether an action is the throw before a choice; its numbers can be typed."""
        return self.graph.view.action(action).is_throw

    def shown(self, action: int, number: int) -> tuple[int, ...]:
        """The numbers of an outcome of a throw; empty if the action is no throw."""
        if not self.is_throw(action):
            return ()
        thrown = self.graph.view.action(action).outcome(number).next_state
        return () if thrown is None else thrown.throw

    def fall_of(self, action: int, faces: Sequence[int]) -> int:
        """The index of the outcome of these faces.

        Raises
        ------
        UsageError
            The number of dice is wrong, or a die has no such face, or the throw is impossible.
        """
        if self.is_throw(action):
            return self.graph.view.action(action).state.find_throw(tuple(faces)).number
        sides = self.dice(action)
        name = self.graph.view.action(action).name
        if len(faces) != len(sides):
            thrown = self._thrown(action, ())
            raise UsageError(f"{name} throws {thrown or '0 dice'}, not {len(faces)}")
        for face, most in zip(faces, sides, strict=True):
            if not 1 <= face <= most:
                raise UsageError(f"a die shows {face}, but it has the faces 1 to {most}")
        label = int(self.graph.action_label[action])
        then, after = self._words.follows(self._at(action), label, faces)
        numbers = self._numbers(after)
        for outcome in self.source.view.action(self._source_action[action]).outcomes:
            if _is(outcome, then, numbers):
                return outcome.number
        raise UsageError(f"{name}: no outcome has the faces {' '.join(map(str, faces))}")

    def draw(self, action: int, random: np.random.Generator) -> tuple[int, tuple[int, ...]]:
        """Throw the dice: the index of the outcome, and the faces if they are known."""
        sides = self.dice(action)
        if sides:
            faces = tuple(int(random.integers(1, most + 1)) for most in sides)
            return self.fall_of(action, faces), faces
        number = self.graph.view.action(action).step(random).number
        return number, self.shown(action, number)

    def faces_of(self, action: int, number: int, random: np.random.Generator) -> tuple[int, ...]:
        """Random faces of the dice for a drawn outcome.

        Dice are thrown until they give the outcome. This is a fair draw from the throws with this
        outcome. On average over random outcomes, the number of throws is the number of outcomes.

        Returns
        -------
        tuple of int
            Empty if the game has no dice, or after 10,000 throws without success.
        """
        sides = self.dice(action)
        if not sides:
            return ()
        at, label = self._at(action), int(self.graph.action_label[action])
        outcome = self.source.view.action(self._source_action[action]).outcome(number)
        outcomes = list(outcomes_rule(self.rules)(*at, label))
        shape = (TRIES_AT_ONCE, len(sides))
        for _ in range(-(-MOST_TRIES // TRIES_AT_ONCE)):
            for faces in random.integers(1, np.array(sides) + 1, shape).tolist():
                then, after = self._words.chosen(outcomes, at, label, faces)
                if _is(outcome, then, self._numbers(after)):
                    return tuple(faces)
        return ()


def conjugated(deed: str, who: str) -> str:
    """The action of a player with its verb, the first word, in the second or third person."""
    if who == YOU:
        return deed
    verb = re.match(r"\w*", deed)[0]  # type: ignore[index]
    rest = deed[len(verb) :]
    if verb in ("be", "have"):
        return ("is" if verb == "be" else "has") + rest
    if re.search("[^aeiou]y$", verb):
        return f"{verb[:-1]}ies{rest}"
    return verb + ("es" if re.search("(s|x|z|ch|sh|o)$", verb) else "s") + rest


def _far(end: Sequence[int], before: Sequence[int], seen: Sequence[int]) -> tuple[float, int]:
    """How many fields change, and how far; those of the opponent count a little more.

    These are the less likely ones. Where all fields change, the distance decides.
    """
    rows = list(enumerate(zip(end, before, seen, strict=True)))
    changed = sum(1 + (k < i) / len(end) for i, (x, old, k) in rows if x != old)
    return changed, sum(abs(x - old) for _, (x, old, _) in rows)


def _passing(outcome: Outcome, names: Sequence[str] = ()) -> str:
    """A clause for a passed turn, with the new player among three or more."""
    on = outcome.seats_on
    if len(names) > 2:
        return f"the turn passes to {names[on]}"
    return "the turn passes" if on < 2 else f"the turn passes {on} seats on"


def _result(who: str, outcome: Outcome) -> str:
    """The winner at the end of the game, and the amount in a game for stakes."""
    if outcome.ending in ("win", "lose"):
        return f"{who} {conjugated(outcome.ending_text, who)}"
    return _drawn(outcome) if outcome.ending == "draw" else ""


def _drawn(outcome: Outcome) -> str:
    """The words for an end without a winner.

    A single player for stakes draws with nobody. Where players pay each other, the payments may
    have decided the game.
    """
    graph = outcome.graph
    if graph.has_stakes and graph.lotteries.reward.any():
        return "the end"
    return "nothing gained" if graph.players == 1 and graph.has_stakes else "a draw"


def _winners(outcome: Outcome, names: Sequence[str]) -> str:
    """The winners among several players, by name, at the end of the game."""
    if not outcome.is_over:
        return ""
    if outcome.graph.has_stakes:
        got = zip(names, outcome.shares, strict=True)
        return dice.spoken(f"{name} {conjugated('get', name)} {amount(x)}" for name, x in got)
    shares = {name: x for name, x in zip(names, outcome.shares, strict=True) if x}
    if len(shares) == 1:
        (name,) = shares
        return f"{name} {conjugated('win', name)}"
    if len(set(shares.values())) == 1:
        return f"{dice.spoken(shares)} share the win"
    parts = [f"{name} {conjugated('have', name)} {100 * x:.4g} %" for name, x in shares.items()]
    return f"of the win {dice.spoken(parts)}"


def _is(outcome: Outcome, then: int, after: list[Any]) -> bool:
    """Whether an outcome equals this one of the rules, with the fields `after`."""
    follows = outcome.next_state
    meant = round_the_table(then, max(outcome.graph.players, 2))
    return _then(outcome) == meant and (follows is None or list(follows.fields) == after)


def _then(outcome: Outcome) -> int:
    if not outcome.is_over:
        return skip(outcome.seats_on)
    if outcome.graph.objective != "win":
        return END
    paid = outcome.payoff
    return bits_of(paid) if is_of_seats(paid) else payoff(paid)


def thrown_dice(narrator: Narrator, action: int) -> dict[str, Any] | None:
    """The dice of an action, and the outcome of each throw; None without dice in the rules.

    Returns
    -------
    dict
        ``sides`` of the dice, and ``brings``: the index of the outcome of each throw of them. The
        last die varies fastest.
    """
    try:
        sides = narrator.dice(action)  # none of a throw before a choice
        if not sides or prod(sides) > MOST_THROWS:
            return None
        brings = [
            narrator.fall_of(action, faces)
            for faces in product(*(range(1, most + 1) for most in sides))
        ]
    except (RulesError, UsageError):  # play asks for the outcome if faces don't determine it
        return None
    taken = narrator.graph.view.action(action)
    weights = np.zeros(len(taken.weights))  # equal outcomes count as the first, as faces bring it
    first: dict[Any, int] = {}
    for outcome in taken.outcomes:
        same = (outcome.target, outcome.seats_on, outcome.payoff)
        weights[first.setdefault(same, outcome.number)] += outcome.weight
    ways = np.bincount(brings, minlength=len(weights))
    if (ways * taken.total != weights * len(brings)).any():
        return None
    return {"sides": list(sides), "brings": brings}
