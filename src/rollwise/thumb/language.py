"""The language of rules of thumb: the first clause that holds gives the action.

    {"rule": [
        {"if": "max(banked, rival) >= 71", "do": "roll"},
        {"if": "8*turn + banked - rival >= 164", "do": "hold"},
        {"do": "roll"}
    ]}

The last clause of another rule: ``{"most": ["captures", "12*number - points"]}``. It takes the
action with the largest value of the first form. Ties go to the largest value of the next form, then
to the first action. These are forms of features of actions, see `rollwise.thumb.features`.

A condition compares a *form* with a bound. A form is a sum of features with whole factors. A
feature is a field of the state, a number of the throw, or a feature from the rule sheet; or the
larger, the smaller or the product of two of these: ``mine*theirs``. A bound is a whole number, or a
parameter of the game. A clause with an impossible action is skipped. If no clause is left, the
first action is taken.

A rule's numbers measure the effort to remember it. They are the bounds, except 0 and parameters,
and the factors other than 1. A condition counts as at least one number. A preferred form counts
as at least one, and as at least the number of its features less one.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import gcd, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import PolicyError
from rollwise.faults import too_deep
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.choices import first_actions
from rollwise.graph.naming import no_such
from rollwise.graph.policies import Policy
from rollwise.machine.atomic_files import read_text, require_file
from rollwise.thumb.features import Features

Column = NDArray[np.int32]
LARGEST = 1 << 20  # number in a rule
LARGEST_PRODUCT = 1 << 26  # of two features
PAIRS: dict[str, Callable[[Any, Any], Any]] = {"max": np.maximum, "min": np.minimum}
_ORDER: dict[type[ast.AST], str] = {
    ast.GtE: ">=",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.Lt: "<",
}
_DOT = "__dot__"  # a column of a tuple has a name that isn't one to Python: ``board.0``


@dataclass(frozen=True, order=True)
class Feature:
    """A column of the states; or the larger, the smaller or the product of two columns.

    Attributes
    ----------
    first, second : str
        Names of columns; `second` is empty for a single column.
    pair : "max", "min", "product" or empty
    """

    first: str
    second: str = ""
    pair: str = ""

    @property
    def text(self) -> str:
        return self.written()

    def written(self, name: Callable[[str], str] = str, times: str = "*") -> str:
        """The feature with other names of columns, and another sign of multiplication."""
        if not self.pair:
            return name(self.first)
        first, second = name(self.first), name(self.second)
        return f"{first}{times}{second}" if self.is_product else f"{self.pair}({first}, {second})"

    @property
    def is_product(self) -> bool:
        return self.pair == "product"

    def values(self, columns: Mapping[str, Column]) -> Column:
        """Its values: (n,) int32."""
        if not self.pair:
            return columns[self.first]
        first, second = columns[self.first], columns[self.second]
        if not self.is_product:
            column: Column = PAIRS[self.pair](first, second)
            return column
        product = first.astype(np.int64) * second
        if np.abs(product).max(initial=0) > LARGEST_PRODUCT:
            raise PolicyError(
                f"{self.text} is up to {np.abs(product).max():,} in size; a product in a rule of "
                f"thumb may be {LARGEST_PRODUCT:,} at most"
            )
        return product.astype(np.int32)


@dataclass(frozen=True)
class Form:
    """A sum of features with whole factors that have no common divisor."""

    terms: tuple[tuple[int, Feature], ...]

    @cached_property
    def text(self) -> str:
        """The form as text, such as ``8*turn + banked - rival``."""
        return self.written(Feature.written)

    def written(self, name: Callable[[Feature], str], times: str = "*", minus: str = "-") -> str:
        """The form with other texts of features, and other signs."""
        text = ""
        for number, feature in self.terms:
            sign = (
                (f" {minus} " if number < 0 else " + ") if text else (minus if number < 0 else "")
            )
            text += f"{sign}{'' if abs(number) == 1 else f'{abs(number)}{times}'}{name(feature)}"
        return text

    @cached_property
    def numbers(self) -> int:
        """The number of factors other than 1 and -1."""
        return sum(abs(number) != 1 for number, _ in self.terms)

    @property
    def is_sum(self) -> bool:
        """Whether all factors are positive."""
        return all(number > 0 for number, _ in self.terms)

    def values(self, columns: Mapping[str, Column]) -> Column:
        """Its values: (n,) int32."""
        parts = [number * feature.values(columns) for number, feature in self.terms]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return np.asarray(total, np.int32)


@dataclass(frozen=True)
class Condition:
    """The condition that a form is at least, or at most, a bound.

    Attributes
    ----------
    bound : int or str
        A number, or a parameter of the game.
    """

    form: Form
    at_least: bool
    bound: int | str

    @property
    def text(self) -> str:
        return f"{self.form.text} {'>=' if self.at_least else '<='} {self.bound}"

    @cached_property
    def numbers(self) -> int:
        """The count of numbers to remember, at least 1."""
        own = isinstance(self.bound, int) and self.bound != 0
        return max(self.form.numbers + own, 1)

    def level(self, parameters: Mapping[str, Any]) -> int:
        """The bound as a number."""
        return self.bound if isinstance(self.bound, int) else int(parameters[self.bound])

    def holds(
        self, columns: Mapping[str, Column], parameters: Mapping[str, Any]
    ) -> NDArray[np.bool_]:
        """Whether it holds: (n,) bool."""
        compare = operator.ge if self.at_least else operator.le
        return np.asarray(compare(self.form.values(columns), self.level(parameters)))


@dataclass(frozen=True)
class Preference:
    """The action with the largest value of a form; ties go to the next form, then to the first."""

    forms: tuple[Form, ...]

    @cached_property
    def numbers(self) -> int:
        """The count of numbers to remember: the weights of all features but one."""
        return sum(max(form.numbers, len(form.terms) - 1, 1) for form in self.forms)

    def best(self, columns: Mapping[str, Column], state: NDArray[Any]) -> NDArray[np.int64]:
        """The best actions, one for each state.

        Parameters
        ----------
        columns : mapping of (n,) int32
            The features of actions.
        state : (n,) int
            The state of each action, ascending.
        """
        # lexsort takes its main key last: the state, then the first form, then the next ones
        keys = [-form.values(columns).astype(np.int64) for form in reversed(self.forms)]
        order = np.lexsort([*keys, state])
        first = np.flatnonzero(np.diff(state[order], prepend=-1))
        return np.asarray(order[first], np.int64)


@dataclass(frozen=True)
class Clause:
    """A deed with its condition; a clause without a condition always holds.

    Attributes
    ----------
    deed : int or Preference
        The number of an action, or a preference.
    """

    condition: Condition | None
    deed: int | Preference


@dataclass(frozen=True)
class Rule:
    """A rule of thumb: the first clause that holds gives the action.

    Examples
    --------
    >>> from rollwise.games.pig import Pig
    >>> from rollwise.builders import build
    >>> graph = build(Pig(target=20))
    >>> rule = Rule.read({"rule": [{"if": "turn >= 10", "do": "hold"}, {"do": "roll"}]}, graph)
    >>> rule.numbers
    1
    """

    clauses: tuple[Clause, ...]

    @cached_property
    def numbers(self) -> int:
        """The count of numbers to remember."""
        conditions = sum(clause.condition.numbers for clause in self.clauses if clause.condition)
        deeds = {clause.deed for clause in self.clauses if isinstance(clause.deed, Preference)}
        return conditions + sum(deed.numbers for deed in deeds)

    def document(self, graph: StateGraph) -> dict[str, Any]:
        """The rule as JSON."""
        clauses = list[dict[str, Any]]()
        for clause in self.clauses:
            entry: dict[str, Any] = {"if": clause.condition.text} if clause.condition else {}
            if isinstance(clause.deed, Preference):
                entry["most"] = [form.text for form in clause.deed.forms]
            else:
                entry["do"] = graph.vocabulary.text(clause.deed)
            clauses.append(entry)
        return {"game": graph.game, "parameters": dict(graph.parameters), "rule": clauses}

    def policy(
        self,
        graph: StateGraph,
        game: Game | None = None,
        name: str = "rule of thumb",
        features: Features | None = None,
    ) -> Policy:
        """Its policy on a graph.

        Parameters
        ----------
        game : Game, optional
            The rules, which may offer features.
        name : str
        features : Features, optional
            Those of the game, if known already.
        """
        columns = Features(graph, game) if features is None else features
        return Policy.of_actions(graph, name, self.actions(graph, columns))

    def actions(self, graph: StateGraph, features: Features) -> NDArray[np.int64]:
        """Its action in each state of a graph: (n_states,) int64."""
        taken = first_actions(graph).copy()
        labels = graph.action_label
        # from the last clause to the first, so that earlier clauses overwrite later ones
        for clause in reversed(self.clauses):
            if isinstance(clause.deed, Preference):
                places = clause.deed.best(features.actions, graph.action_state)
            else:
                places = np.flatnonzero(labels == clause.deed)
            states = graph.action_state[places]
            if clause.condition is not None:
                holds = clause.condition.holds(features.states, graph.parameters)[states]
                places, states = places[holds], states[holds]
            taken[states] = places
        return taken

    @classmethod
    def load(
        cls,
        path: str | Path,
        graph: StateGraph,
        game: Game | None = None,
        features: Features | None = None,
    ) -> Rule:
        """The rule in a file, for a game.

        Parameters
        ----------
        features : Features, optional
            Those of the game, if known already.

        Raises
        ------
        PolicyError
            It can't be read, or doesn't fit the game.
        """
        require_file(Path(path), "a rule of thumb", PolicyError)
        try:
            document = json.loads(read_text(Path(path), "utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise PolicyError(f"{path} can't be read as a rule of thumb: {reason}") from None
        try:
            return cls.read(document, graph, game, features)
        except PolicyError as error:
            raise PolicyError(f"{path}: {error}") from None

    @classmethod
    def read(
        cls,
        document: Any,
        graph: StateGraph,
        game: Game | None = None,
        features: Features | None = None,
    ) -> Rule:
        """The rule of a document, for a game; see `load`.

        Raises
        ------
        PolicyError
            It is no rule, or contains a name unknown to the game.
        """
        rule = document.get("rule") if isinstance(document, Mapping) else None
        if not isinstance(rule, list) or not rule:
            action = graph.vocabulary.text(int(graph.action_label[0]))
            example = {"rule": [{"do": action}]}
            raise PolicyError(f"a rule of thumb is a list of clauses, as {json.dumps(example)}")
        reader = _Reader(graph, Features(graph, game) if features is None else features)
        return cls(tuple(reader.clause(number, part) for number, part in enumerate(rule, start=1)))


def form_of(terms: Mapping[Feature, int]) -> tuple[Form, int]:
    """A form from its terms, the largest factor first, and the common divisor taken out."""
    left = {feature: number for feature, number in terms.items() if number}
    by = gcd(*left.values()) if left else 1
    ordered = sorted(left.items(), key=lambda term: (-abs(term[1]), term[1] < 0))
    return Form(tuple((number // by, feature) for feature, number in ordered)), by


class _Reader:
    """A reader of the clauses of a rule, for one game.

    Attributes
    ----------
    number : int
        Of the clause, from 1.
    fault : PolicyError
        The refusal of its present part, if that has another form.
    """

    number: int
    fault: PolicyError

    def __init__(self, graph: StateGraph, features: Features) -> None:
        self.graph, self.features = graph, features

    @cached_property
    def parameters(self) -> dict[str, int]:
        """The parameters that are whole numbers."""
        return whole_parameters(self.graph)

    def clause(self, number: int, part: Any) -> Clause:
        self.number = number
        deeds = {"do", "most"} & set(part) if isinstance(part, Mapping) else set()
        if len(deeds) != 1 or not set(part) <= {"if", *deeds}:
            raise PolicyError(
                f'clause {number} must be {{"if": a condition, "do": an action}}, or have "most": '
                "a list of preferred features"
            )
        deed = self.preference(part["most"]) if "most" in part else self.deed(part)
        text = part.get("if")
        return Clause(None if text is None else self.condition(text), deed)

    def deed(self, part: Any) -> int:
        """An action by its name in tables."""
        labels = [label for label in self.graph.vocabulary.meaning(str(part["do"])) if label >= 0]
        possible = [label for label in labels if label in self.graph.vocabulary.labels]
        if not possible:
            raise PolicyError(
                f"clause {self.number}: {self.graph.vocabulary.unknown(str(part['do']))}"
            )
        return possible[0]

    def preference(self, texts: Any) -> Preference:
        """A preference from a list of forms, such as ``["captures", "12*number - points"]``."""
        texts = [texts] if isinstance(texts, str) else texts
        self.fault = PolicyError(
            f"clause {self.number}: {texts!r} isn't a list of preferences; write sums of features "
            'of actions, as in ["12*number - points"]'
        )
        if not isinstance(texts, list) or not texts:
            raise self.fault
        forms = (self.form(self._parsed(text), self.features.actions) for text in texts)
        return Preference(tuple(form for form, _ in forms))

    def condition(self, text: Any) -> Condition:
        """A condition as text, such as ``8*turn + banked - rival >= 164``."""
        self.fault = PolicyError(
            f"clause {self.number}: {text!r} isn't a condition; write a sum of fields, >= or <=, "
            f'and a number or a parameter, as in "2*{next(iter(self.features.states), "field")} '
            '>= 7"'
        )
        body = self._parsed(text)
        if not isinstance(body, ast.Compare) or len(body.ops) != 1:
            raise self.fault
        order, bound = _ORDER.get(type(body.ops[0])), self._bound(body.comparators[0])
        if order is None or bound is None:
            raise self.fault
        form, by = self.form(body.left, self.features.states)
        at_least, strict = order[0] == ">", len(order) == 1
        if isinstance(bound, str):
            if by != 1 or strict:
                raise self.fault
        else:  # of whole numbers: more than 3 is at least 4
            bound += strict if at_least else -strict
            # dividing by the common factor rounds a lower bound up and an upper bound down
            bound = -(-bound // by) if at_least else bound // by
        return Condition(form, at_least, bound)

    def form(self, node: ast.expr, columns: Mapping[str, Column]) -> tuple[Form, int]:
        """A form, and the common divisor that was taken out."""
        terms = dict[Feature, int]()
        self._add(terms, node, 1, columns)
        form, by = form_of(terms)
        if not form.terms:
            raise self.fault
        return form, by

    def _parsed(self, text: Any) -> ast.expr:
        if not isinstance(text, str) or len(text) > 500:
            raise self.fault
        try:
            tree = ast.parse(text.replace(".", _DOT), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self.fault from None
        if too_deep(tree):
            raise self.fault
        return tree

    def _bound(self, node: ast.expr) -> int | str | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            bound = self._bound(node.operand)
            return -bound if isinstance(bound, int) else None
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value <= LARGEST:
            return node.value
        if isinstance(node, ast.Name) and node.id in self.parameters:
            return node.id
        return None

    def _add(
        self, terms: dict[Feature, int], node: ast.expr, factor: int, columns: Mapping[str, Column]
    ) -> None:
        """Add the terms of a node, a sum of features of these columns."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            sign = 1 if isinstance(node.op, ast.Add) else -1
            self._add(terms, node.left, factor, columns)
            self._add(terms, node.right, sign * factor, columns)
            return
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self._add(terms, node.operand, -factor, columns)
            return
        # whole numbers multiply into the factor, and one feature or a product of two is left
        factors = _factors(node)
        numbers = [n for part in factors if isinstance(n := self._bound(part), int)]
        others = [part for part in factors if not isinstance(self._bound(part), int)]
        factor *= prod(numbers)
        if abs(factor) > LARGEST or not 1 <= len(others) <= 2:
            raise self.fault
        if len(others) == 1 and len(factors) > 1:
            self._add(terms, others[0], factor, columns)
            return
        feature = self._feature(others, columns)
        terms[feature] = terms.get(feature, 0) + factor

    def _feature(self, factors: list[ast.expr], columns: Mapping[str, Column]) -> Feature:
        """A column; or a product of two, or the larger or the smaller of two."""
        pair, parts = "product" if len(factors) == 2 else "", factors
        call = factors[0]
        if (
            not pair
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id in PAIRS
            and len(call.args) == 2
            and not call.keywords
        ):
            pair, parts = call.func.id, call.args
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        if len(names) < len(parts):
            raise self.fault
        first, second = [*(self._column(name, columns) for name in names), ""][:2]
        return Feature(first, second, pair)

    def _column(self, name: str, columns: Mapping[str, Column]) -> str:
        name = name.replace(_DOT, ".")
        if name not in columns:
            raise PolicyError(f"clause {self.number}: {no_such('feature', name, tuple(columns))}")
        return name


def _factors(node: ast.expr) -> list[ast.expr]:
    """The factors of a product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def whole_parameters(graph: StateGraph) -> dict[str, int]:
    """The parameters with whole numbers, except those named like a field."""
    return {
        name: value
        for name, value in graph.parameters.items()
        if type(value) is int and name not in graph.columns
    }
