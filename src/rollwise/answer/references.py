"""Policies in their typed form: named, optimal, learned, mixed, or from a file.

Only this module reads typed policies. Functions with policies by name take a `Subject` and call
`Policies.of` with it.

For the longest game, and for the shortest, players with a common aim are one player, and each move
counts a point; the throw before a choice is no move. Their policy is the optimal policy of this
game.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.rows import fields_and_throws
from rollwise.answer.solution import Solution
from rollwise.builders.contract import refuse_many, require_two
from rollwise.builders.rules import Rules
from rollwise.derive.derived_game import base_actions
from rollwise.errors import EndlessPlay, PolicyError, UsageError, suggestion
from rollwise.faults import one_line
from rollwise.game import Game, require_game
from rollwise.graph import NO_THROW, ROLLS_LEFT, StateGraph
from rollwise.graph.choices import are_best, has_choice, is_throw, look_ahead, summed, taken
from rollwise.graph.endings import describe, end_components, go_round
from rollwise.graph.policies import MOST_ROUNDING, Policy, require_policy
from rollwise.graph.view import State
from rollwise.machine.atomic_files import require_file
from rollwise.machine.parquet_files import read_parquet
from rollwise.machine.switches import jit_disabled
from rollwise.many.seats import build_for_all

if TYPE_CHECKING:
    import polars as pl

_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\*(.+)")
IN_FILES = (".csv", ".parquet", ".npz", ".json", ".npy")

Subject: TypeAlias = "Game | StateGraph | Solution | Policies"
AnyPolicy: TypeAlias = "Policy | str | os.PathLike[str] | Callable[[Any], Any] | pl.DataFrame"


def _is_table(given: object) -> TypeGuard[pl.DataFrame]:
    """Whether it is a Polars frame; Polars is imported where one was made."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(given, polars.DataFrame)


def can_be_policy(given: object) -> bool:
    """Whether `Policies.find` looks for a policy by it."""
    return isinstance(given, Policy | str | os.PathLike) or callable(given) or _is_table(given)


def are_policies(given: object) -> TypeGuard[list[AnyPolicy] | tuple[AnyPolicy, ...]]:
    """Whether it is a list of policies, and not one policy."""
    return isinstance(given, list | tuple) and all(map(can_be_policy, given))


class Policies:
    """The policies of one game by their typed form. Each is made once.

    Parameters
    ----------
    graph : StateGraph
    game : Game, optional
        Its rules, with the named policies.
    solution : Solution or callable, optional
        The source of ``optimal``, or a function that returns it. Unless given, the graph is
        solved once, at the first use.
    found : dict of str to Policy, optional
        A cache of policies by name.

    Examples
    --------
    >>> from rollwise.games.pig import Pig
    >>> Policies.of(Pig(target=20)).find("0.9*optimal+0.1*hold-at-20").name
    '0.9*optimal+0.1*hold-at-20'
    """

    def __init__(
        self,
        graph: StateGraph,
        game: Game | None = None,
        solution: Solution | Callable[[], Solution] | None = None,
        found: dict[str, Policy] | None = None,
    ) -> None:
        self.graph, self.game = graph, game
        self._solution = solution
        self._found = {} if found is None else found

    @classmethod
    def of(cls, subject: Subject, *, any_players: bool = False, **how: Any) -> Policies:
        """The policies of a game, of a solved game, or of a graph alone.

        Parameters
        ----------
        any_players : bool
            Allow games for three or more players.
        **how
            How to build the graph; see `rollwise.build`.

        Raises
        ------
        ForMorePlayers
        UsageError
            An answer by layers is too large for one graph.
        """
        if isinstance(subject, Policies):
            policies = subject
        elif isinstance(subject, Solution):
            whole = subject.whole()
            policies = cls(whole.graph, whole.game, whole, whole.policies_by_name)
        elif isinstance(subject, StateGraph):
            policies = cls(subject)
        else:
            game = require_game(subject)
            if not any_players:
                require_two(game)
            # play without an end is followed for a cycle, at the average of best play
            game = game.average() if game.objective == "average" else game
            return cls(build_for_all(game, **how), game)
        if not any_players and policies.graph.players > 2:
            refuse_many(policies.graph.title, policies.graph.players, policies.game)
        return policies

    @property
    def solution(self) -> Solution:
        """The answer to the game, found at the first use and cached."""
        if self._solution is None:
            self._solution = Solution.of_graph(self.graph, self.game)
        elif not isinstance(self._solution, Solution):
            self._solution = self._solution()
        return self._solution

    def find(self, policy: AnyPolicy) -> Policy:
        """A policy by its typed form.

        Parameters
        ----------
        policy : str, path, callable, polars.DataFrame or Policy
            - a policy of the rule sheet, by its name;
            - ``optimal``, unless the rules have a policy of that name: the solution's policy;
            - ``random``: all actions equally likely;
            - ``longest`` and ``shortest``, likewise: the policy of all players together for the
              longest or the shortest game (`rollwise.analysis.length_range`);
            - a path ending in ``.csv`` or ``.parquet``: a table with one row a state, the
              fields and ``action`` (by name or number), and ``probability`` where it mixes (a
              saved solution is such a table); or such a table as a Polars frame;
            - a path ending in ``.npz``: the policy of a saved learner;
            - a path ending in ``.json``: a rule of thumb (see `rollwise.thumb.language`);
            - a path ending in ``.npy``: the number of the action of each position, or
              a table of Q-values with a row a position and a column an action;
            - ``0.9*optimal+0.1*random``: a mixture, which draws one of its parts anew
              at every decision. The weights add up to 1, or are whole numbers, as 3 and 1 for
              0.75 and 0.25;
            - a function from states to actions;
            - a `Policy`, checked (`rollwise.graph.policies.require_policy`) and returned.

        Raises
        ------
        PolicyError
            There is no such policy, or it doesn't fit the game.
        LearnerFileError
            The learner's file is damaged or belongs to other rules.
        """
        if isinstance(policy, Policy):
            checked = _CHECKED.setdefault(self, WeakSet())
            if policy not in checked:  # once, as a game at a table asks for it at each move
                checked.add(require_policy(self.graph, policy))
            return policy
        if isinstance(policy, os.PathLike):
            policy = os.fspath(policy)
        if _is_table(policy):
            return _of_table(self.graph, policy, "the table")
        if not isinstance(policy, str):
            if not callable(policy):
                raise PolicyError(_no_policy(self.graph, policy))
            name = getattr(policy, "__name__", "policy")
            return Policy.of_function(self.graph, self._rules(name), name, policy)
        if _PART.fullmatch(policy):
            return self._mixture(policy)
        if policy.endswith(IN_FILES):  # the content of a file may change
            return self._read(policy)
        if policy not in self._found:
            self._found[policy] = self._named(policy)
        return self._found[policy]

    def _read(self, reference: str) -> Policy:
        if reference.endswith((".csv", ".parquet")):
            return _from_table(self.graph, self.game, Path(reference))
        if reference.endswith(".npz"):
            from rollwise.learn import Learner

            learned = Learner.load(reference, self.graph).result().policy
            return Policy(Path(reference).name, learned.probability)
        if reference.endswith(".npy"):
            return _from_array(self.graph, self.game, Path(reference))
        from rollwise.thumb.language import Rule

        rule = Rule.load(reference, self.graph, self.game)
        return rule.policy(self.graph, self.game, Path(reference).name)

    def _named(self, reference: str) -> Policy:
        if reference == "random":
            return Policy.uniform(self.graph)
        if reference == "optimal" and (self.game is None or "optimal" not in self.game.policies()):
            return self.solution.policy
        if reference in LASTING and (self.game is None or reference not in self.game.policies()):
            return lasting_policy(self.graph, reference)
        return _of_rules(self.graph, self._rules(reference), reference)

    def _rules(self, name: str) -> Game:
        if self.game is None:
            raise PolicyError(
                f"{self.graph.title} is a graph without its rules, which know the policies by "
                f"name: give the game instead, or a Policy in the place of {name!r}"
            )
        return self.game

    def _mixture(self, reference: str) -> Policy:
        parts, are_whole = [], True
        for text in reference.split("+"):
            match = _PART.fullmatch(text.strip())
            if match is None:
                raise PolicyError(
                    f"{reference!r} isn't a mixture; write weight*policy+weight*policy, as in "
                    "0.9*optimal+0.1*random"
                )
            parts.append((float(match[1]), self.find(match[2])))
            are_whole &= match[1].isdecimal()
        weights = [weight for weight, _ in parts]
        total = sum(weights)
        if not (_may_be_whole(weights) or (are_whole and 0 < total < np.inf)):
            remedy = ""
            if 0 < total < np.inf:
                shares = (f"{weight / total:.4g}*{part.name}" for weight, part in parts)
                remedy = f", as in {'+'.join(shares)}"
            raise PolicyError(
                f"{self.graph.title}: the weights of {reference!r} add up to {total:g}; they must "
                f"add up to 1, or be whole numbers{remedy}"
            )
        probability = sum(weight / total * part.probability for weight, part in parts)
        tied = [part.tied for _, part in parts if part.tied is not None]
        return Policy(reference, probability, tied[0] if tied else None)  # type: ignore[arg-type]


# The policies given as objects that fit, apart from `Policies`, which can be pickled.
_CHECKED: WeakKeyDictionary[Policies, WeakSet[Policy]] = WeakKeyDictionary()


def names_in(text: str) -> list[str]:
    """The policies of a list with commas. A file may have commas in its name."""
    parts, names = text.split(","), []
    # the longest join of parts that is a file, or else one part
    while parts:
        joined = [",".join(parts[: n + 1]).strip() for n in range(len(parts))]
        files = [
            n for n, name in enumerate(joined) if name.endswith(IN_FILES) and Path(name).exists()
        ]
        size = max(files, default=0)
        names.append(joined[size])
        parts = parts[size + 1 :]
    return names


def _no_policy(graph: StateGraph, given: Any) -> str:
    """The remedy in the message for a value that is no policy."""
    asked = "s, throw" if graph.throw_names else "s"
    asked += f", {ROLLS_LEFT}" if graph.has_pool else ""
    is_array = isinstance(given, np.ndarray | list | tuple)
    if isinstance(getattr(given, "policy", None), Policy):
        remedy = "write its .policy"
    elif isinstance(given, Mapping):
        remedy = f"a dict of the numbers of actions is one as lambda {asked}: actions[{asked}]"
    elif is_array and len(given) == graph.n_actions:
        remedy = 'a probability for each action is one as rollwise.Policy("mine", probability)'
    elif is_array:
        remedy = (
            f"the number of an action for each of the {graph.n_states:,} states is one as "
            f"lambda {asked}: actions[solution.find({asked})]"
        )
    else:
        remedy = f"the function takes {asked}, and gives the number of an action"
    return (
        f"{graph.title}: a policy is a name, a function or a rollwise.Policy, and not of the "
        f"type {type(given).__name__}; {remedy}"
    )


def _of_rules(graph: StateGraph, game: Game, name: str) -> Policy:
    """A policy that is written beside the rules."""
    functions = game.policies()
    if name not in functions:
        names = ", ".join(["optimal", "random", *functions])
        hint = suggestion(name, [*functions, "random", "optimal", "longest", "shortest"])
        raise PolicyError(
            f"{graph.game} has no policy {name!r}{hint} (its policies: {names}; a table of yours "
            "is a path ending in .csv or .parquet)"
        )
    if game.base_game is not game:  # its policies are those of the game it is made from
        inner = game.base_graph(graph)
        blind = _of_rules(inner, game.base_game, name)
        return Policy(name, blind.probability[base_actions(graph, inner)])
    function = functions[name]
    fault = Rules(game, any_players=True).policy_fault(function)
    if fault:
        raise PolicyError(fault)
    compiled = _of_compiled_function(graph, game, name, function)
    if compiled is not None:
        return compiled
    return Policy.of_function(graph, game, name, lambda *at: function(game, *at))


def _of_compiled_function(
    graph: StateGraph, game: Game, name: str, function: Callable[..., Any]
) -> Policy | None:
    """A policy evaluated in compiled code; None if that isn't worthwhile, or fails."""
    from rollwise.builders.limits import SMALL

    choices = np.flatnonzero(has_choice(graph))
    if len(choices) <= SMALL or jit_disabled():
        return None
    from rollwise.builders.compiled.cache_key import NotCompilable
    from rollwise.builders.compiled.compiling import ask

    rules = Rules(game, any_players=True)
    if rules.field_names != graph.field_names:
        return None
    try:
        answers, failed = ask(rules, function, graph.rows[choices])
    except NotCompilable:  # it may mix actions, or need Python
        return None
    # The only action of a state is taken, and of several the one with the label. Labels differ.
    asked, source = np.full(graph.n_states, -1), graph.action_state
    asked[choices] = answers
    taken = (graph.action_label == asked[source]) | ~has_choice(graph)[source]
    if failed >= 0 or np.count_nonzero(taken) < graph.n_states:
        return None  # the interpreter gives the error
    return Policy(name, taken.astype(np.float64))


def policy_table(graph: StateGraph, policy: Policy) -> pl.DataFrame:
    """A policy as a table, in the form that `Policies.find` reads.

    One row for each action taken in a state with a choice, with its probability in a mixture.
    """
    import polars as pl

    taken = np.flatnonzero((policy.probability > 0) & has_choice(graph)[graph.action_state])
    table = fields_and_throws(graph, graph.action_state[taken].astype(np.int64))
    names = {
        label: graph.vocabulary.text(label) for label in np.unique(graph.action_label).tolist()
    }
    table["action"] = [names[label] for label in graph.action_label[taken].tolist()]
    if np.any(policy.probability[taken] != 1):
        table["probability"] = policy.probability[taken]
    return pl.DataFrame(table)


def _from_table(graph: StateGraph, game: Game | None, path: Path) -> Policy:
    import polars as pl

    from rollwise.answer.storage import LISTS

    require_file(path, "a table", PolicyError)
    try:
        frame = pl.read_csv(path) if path.suffix == ".csv" else read_parquet(path)
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PolicyError(f"{path} can't be read as a table: {reason}") from error
    from rollwise.answer.load import load

    if graph.throws is not None and set(LISTS) <= set(frame.columns):  # a saved solution
        return replace(load(path, game).policy, name=path.name)
    return replace(_of_table(graph, frame, str(path)), name=path.name)


def _of_table(graph: StateGraph, frame: pl.DataFrame, table: str) -> Policy:
    """The policy of a table with a row for each state; messages call it `table`."""
    missing = [name for name in (*graph.columns, "action") if name not in frame.columns]
    if missing:
        raise PolicyError(
            f"{table} has no column {missing[0]!r}; a policy for {graph.game} has the columns "
            f"{', '.join(graph.columns)}, action (and probability where it mixes)"
        )
    if "score" in frame.columns and "score" not in graph.field_names and graph.objective != "win":
        raise PolicyError(
            f"{table} looks at the points made so far (its column score), and the states of "
            f"{graph.game} don't have them: ask with as=score (in Python "
            "rollwise.derive.chase.WithScore)"
        )
    rows = _rows_of(frame, graph, table)
    is_mixed, known = "probability" in frame.columns, set[tuple[int, ...]]()
    probability = np.zeros(graph.n_actions)
    # each state takes its rows, so that rows of no state remain
    for state in graph.view:
        key = state.fields if graph.throws is None else graph.row(state.index)
        known.add(key)
        if key in rows:
            for action, chance in _chances_in(rows[key], state, table, is_mixed=is_mixed).items():
                probability[action] = chance
        elif state.is_choice:
            raise PolicyError(f"{table} has no row for the state {state}")
        else:
            probability[state.action_range[0]] = 1.0
    # a table may have all combinations of the fields, also those that no play comes to
    reached = np.array(list(known))
    least, most = reached.min(axis=0), reached.max(axis=0)
    for key in rows.keys() - known:
        if ((key < least) | (key > most)).any():
            shown = ", ".join(f"{name}={x}" for name, x in zip(graph.columns, key, strict=True))
            raise PolicyError(
                f"{table}, row {min(row.number for row in rows[key])}: {graph.title} has no state "
                f"{shown}; leave out the row, or give the parameters of the game that the table "
                "is for"
            )
    return Policy("table", probability)


class _Row(NamedTuple):
    """A row of a policy's table: its number, the action in text, and its probability."""

    number: int
    action: str
    weight: float


def _rows_of(
    frame: pl.DataFrame, graph: StateGraph, table: str
) -> dict[tuple[int, ...], list[_Row]]:
    """The rows of a policy's table by the fields of their state, with its throw."""
    rows: dict[tuple[int, ...], list[_Row]] = {}
    is_mixed = "probability" in frame.columns
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        try:
            fields = tuple(
                NO_THROW if row[name] is None and name in graph.throw_names else index(row[name])
                for name in graph.columns
            )
            weight = float(row["probability"]) if is_mixed else 1.0
        except (TypeError, ValueError):
            raise PolicyError(f"{table}, row {number}: {row} isn't a state and an action") from None
        action = _as_written(row["action"])
        try:
            graph.vocabulary.require(action)
        except UsageError as error:
            raise PolicyError(f"{table}, row {number}: {error}") from None
        rows.setdefault(fields, []).append(_Row(number, action, weight))
    return rows


def _chances_in(
    rows: Sequence[_Row], state: State, table: str, *, is_mixed: bool
) -> dict[int, float]:
    """The probabilities of the actions of a state by its rows.

    Raises
    ------
    PolicyError
        Two rows contradict each other, or the probabilities are none, or don't add up to 1.
    """
    chances, places = dict[int, float](), dict[int, int]()
    for number, action, weight in rows:
        if not 0 <= weight < np.inf:
            raise PolicyError(
                f"{table} gives {action} the probability {weight} in the state {state}"
            )
        if places and not is_mixed:
            raise PolicyError(
                f"{table}, rows {rows[0].number} and {number}: both give an action in the state "
                f"{state}; leave one out, or add a column probability for a policy that mixes"
            )
        try:
            found = int(state.find_action(action))
        except UsageError as error:
            raise PolicyError(f"{table}, in the state {state}: {error}") from None
        if found in places:
            raise PolicyError(
                f"{table}, rows {places[found]} and {number}: both give {action} a probability in "
                f"the state {state}; leave one out"
            )
        chances[found], places[found] = weight, number
    total = sum(chances.values())
    if not _may_be_whole(list(chances.values())):
        raise PolicyError(
            f"{table}, row {rows[0].number}: the probabilities add up to {total:.12g} in the state "
            f"{state}; they must add up to 1: change them, or add the row of the action that is "
            "missing"
        )
    return {action: chance / total for action, chance in chances.items()}


def _may_be_whole(parts: Sequence[float]) -> bool:
    """Whether numbers add up to 1, as far as their digits tell; two digits or more count.

    So 0.333, 0.333 and 0.333 are three thirds, and 0.5 and 0.4 aren't a whole.
    """
    off = abs(sum(parts) - 1.0)
    if off <= MOST_ROUNDING or not np.isfinite(off):
        return bool(np.isfinite(off))
    digits = max(-int(Decimal(repr(float(part))).as_tuple().exponent) for part in parts)
    return off < len(parts) * 0.5 * 10.0 ** -max(digits, 2) * (1 - MOST_ROUNDING)


def array_in(path: Path, graph: StateGraph, n: int) -> NDArray[Any]:
    """The array in a ``.npy`` file, with a row for each of n positions.

    Raises
    ------
    PolicyError
        The file is missing or damaged, or the array has another shape.
    """
    require_file(path, "an array", PolicyError)
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # NumPy's reader of a header has errors of many kinds
        raise PolicyError(f"{path} can't be read as an array: {one_line(str(error))}") from error
    if array.ndim not in (1, 2) or len(array) != n or array.dtype.kind not in "iuf":
        raise PolicyError(
            f"{path} has the shape {array.shape} of {array.dtype}; a number or a row of numbers "
            f"for each of {n:,} positions is needed"
        )
    n_labels = 1 + int(graph.flat.action_label.max())
    if array.ndim == 2 and not 0 < array.shape[1] <= n_labels:
        raise PolicyError(f"{path} has {array.shape[1]} columns, and there are {n_labels} actions")
    return np.asarray(array)


def legal_values(path: Path, state: State, given: NDArray[Any]) -> NDArray[Any]:
    """The Q-values of the actions of a state in its row of an array; others are not read.

    Raises
    ------
    PolicyError
        An action has no column, or no finite number.
    """
    labels = [action.label for action in state.actions]
    if not state.is_choice and labels[0] >= given.size:  # the end of a model
        return given
    if max(labels) >= given.size:
        raise PolicyError(f"{path} has no column for the action {max(labels)}")
    legal = given[labels]
    if not np.isfinite(legal).all():
        raise PolicyError(f"{path} has no finite number for an action in the state {state}")
    return np.asarray(legal)


def _from_array(graph: StateGraph, game: Game | None, path: Path) -> Policy:
    """The policy of an array of actions, or of Q-values."""
    if graph.throw_names or game is None:
        raise PolicyError(f"{path}: an array is a policy of a game without throws, with its rules")
    row_of = {s: row for row, s in enumerate(game.numbered(graph))}
    given = array_in(path, graph, len(row_of))
    probability = np.zeros(graph.n_actions)
    for state in graph.view:
        actions, row = list(state.actions), row_of.get(state.index)
        chosen = actions[0]
        if state.is_choice and row is not None:
            if given.ndim == 1:
                labels = [action.label for action in actions]
                if given[row] not in labels:
                    raise PolicyError(f"{path} gives the action {given[row]} in the state {state}")
                chosen = actions[labels.index(given[row])]
            else:
                worths = graph.view.sign * legal_values(path, state, given[row])
                chosen = actions[int(np.argmax(worths))]
        probability[chosen] = 1.0
    return Policy(path.name, probability)


def _as_written(action: Any) -> str:
    """An action of a table as text: whether 3 is a number or a name, the game knows."""
    is_whole = isinstance(action, float) and action.is_integer()
    return str(int(action) if is_whole else action)


LASTING = {"shortest": "minimize", "longest": "maximize"}


def moves_of(graph: StateGraph) -> NDArray[np.float64]:
    """A point for each move: (n_actions,) float64."""
    return (~is_throw(graph)).astype(np.float64)


def together(graph: StateGraph, aim: str) -> StateGraph:
    """The game of all players as one, with a point for each move.

    Parameters
    ----------
    graph : StateGraph
    aim : str
        A key of `LASTING`.
    """
    return summed(graph, moves_of(graph), objective=LASTING[aim])


def first_chosen(
    graph: StateGraph, values: NDArray[np.float64], bounds: NDArray[np.float64], name: str = ""
) -> Policy:
    """The first of the best actions in each state, with the ties among them."""
    ahead = look_ahead(graph, values, bounds)
    return Policy.of_actions(graph, name, taken(graph, ahead), are_best(graph, ahead))


def lasting_policy(graph: StateGraph, aim: str) -> Policy:
    """The common policy for a short game, or for a long one.

    Parameters
    ----------
    graph : StateGraph
    aim : str
        A key of `LASTING`, and the name of the policy.

    Raises
    ------
    EndlessPlay
        The players can go round for ever; there is no longest game.
    """
    from rollwise.answer.certified import solve_and_certify

    of_moves = together(graph, aim)
    with suppress(EndlessPlay):
        found, certificate, _ = solve_and_certify(of_moves)
        if np.isfinite(certificate.bound):
            return first_chosen(of_moves, found.values, certificate.bounds, aim)
    endless = end_components(of_moves)
    places = describe(of_moves, endless.states, endless.stays)
    raise EndlessPlay(f"{graph.title} has no policy {aim!r}: {go_round(graph.players)}: {places}")
