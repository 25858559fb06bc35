"""The language of rules of thumb: the first clause that holds says what to do.

    {"rule": [
        {"if": "max(banked, rival) >= 71", "do": "roll"},
        {"if": "8*turn + banked - rival >= 164", "do": "hold"},
        {"do": "roll"}
    ]}

A condition compares a *form* with a bound. A form is a sum of features with whole numbers before
them. A feature is a field of the state, a number of the throw, or the larger or smaller of two of
these. A bound is a whole number, or a parameter of the game. A clause whose action can't be taken
is passed over; where none is left, the first action is taken.

What has to be remembered are the bound, unless it is 0 or a parameter, and each number before a
feature other than 1. A condition counts as one at least.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import PolicyError
from rollwise.graph import StateGraph
from rollwise.graph.choices import first_actions
from rollwise.graph.policies import Policy
from rollwise.graph.vocabulary import no_such

Column = NDArray[np.int32]
LARGEST = 1 << 20  # number that a rule may hold
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
    """A column of the states, or the larger or smaller of two.

    Attributes
    ----------
    first, second : str
        Names of columns; `second` is empty where there is one.
    pair : "max", "min" or empty
    """

    first: str
    second: str = ""
    pair: str = ""

    @property
    def text(self) -> str:
        return f"{self.pair}({self.first}, {self.second})" if self.pair else self.first

    def values(self, columns: Mapping[str, Column]) -> Column:
        """Its values: (n,) int32."""
        if not self.pair:
            return columns[self.first]
        found: Column = PAIRS[self.pair](columns[self.first], columns[self.second])
        return found


@dataclass(frozen=True)
class Form:
    """A sum of features with whole numbers before them, not all multiples of a larger one."""

    terms: tuple[tuple[int, Feature], ...]

    @property
    def text(self) -> str:
        """Such as ``8*turn + banked - rival``."""
        parts = []
        for number, feature in self.terms:
            sign = "-" if number < 0 else "+"
            factor = "" if abs(number) == 1 else f"{abs(number)}*"
            parts += [sign, factor + feature.text]
        text = " ".join(parts)
        return text[2:] if text.startswith("+") else f"-{text[2:]}"

    @property
    def numbers(self) -> int:
        """How many numbers before features have to be remembered."""
        return len({abs(number) for number, _ in self.terms} - {1})

    @property
    def is_sum(self) -> bool:
        """Whether nothing is taken away."""
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
    """A form is at least a bound, or at most.

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

    @property
    def numbers(self) -> int:
        """How many numbers have to be remembered, at least 1."""
        own = isinstance(self.bound, int) and self.bound != 0
        return max(self.form.numbers + own, 1)

    def level(self, parameters: Mapping[str, Any]) -> int:
        """The bound as a number."""
        return self.bound if isinstance(self.bound, int) else int(parameters[self.bound])

    def holds(
        self, columns: Mapping[str, Column], parameters: Mapping[str, Any]
    ) -> NDArray[np.bool_]:
        """Where it holds: (n,) bool."""
        compare = operator.ge if self.at_least else operator.le
        return np.asarray(compare(self.form.values(columns), self.level(parameters)))


@dataclass(frozen=True)
class Clause:
    """An action, to be taken where a condition holds; always, where there is none."""

    condition: Condition | None
    action: int


@dataclass(frozen=True)
class Rule:
    """A rule of thumb: the first clause that holds says what to do.

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

    @property
    def numbers(self) -> int:
        """How many numbers a player has to remember."""
        return sum(clause.condition.numbers for clause in self.clauses if clause.condition)

    def document(self, graph: StateGraph) -> dict[str, Any]:
        """The rule as JSON."""
        name = graph.vocabulary.text
        return {
            "game": graph.game,
            "parameters": dict(graph.parameters),
            "rule": [
                {"if": clause.condition.text, "do": name(clause.action)}
                if clause.condition
                else {"do": name(clause.action)}
                for clause in self.clauses
            ],
        }

    def policy(self, graph: StateGraph, name: str = "rule of thumb") -> Policy:
        """What it does in each state of a graph."""
        rows = graph.rows
        columns = {name: rows[:, k] for k, name in enumerate(graph.columns)}
        taken = first_actions(graph).copy()
        labels = graph.action_label
        for clause in reversed(self.clauses):
            places = np.flatnonzero(labels == clause.action)
            states = graph.action_state[places]
            if clause.condition is not None:
                holds = clause.condition.holds(columns, graph.parameters)[states]
                places, states = places[holds], states[holds]
            taken[states] = places
        return Policy.of_actions(graph, name, taken)

    @classmethod
    def load(cls, path: str | Path, graph: StateGraph) -> Rule:
        """The rule in a file, for a game.

        Raises
        ------
        PolicyError
            It can't be read, or doesn't fit the game.
        """
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise PolicyError(f"there is no file {path}") from None
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise PolicyError(f"{path} can't be read as a rule of thumb: {reason}") from None
        try:
            return cls.read(document, graph)
        except PolicyError as error:
            raise PolicyError(f"{path}: {error}") from None

    @classmethod
    def read(cls, document: Any, graph: StateGraph) -> Rule:
        """The rule that a document writes down, for a game.

        Raises
        ------
        PolicyError
            It is none, or names what the game doesn't have.
        """
        rule = document.get("rule") if isinstance(document, Mapping) else None
        if not isinstance(rule, list) or not rule:
            raise PolicyError('a rule of thumb is a list of clauses, as {"rule": [{"do": "roll"}]}')
        reader = _Reader(graph)
        return cls(tuple(reader.clause(number, part) for number, part in enumerate(rule, start=1)))


def form_of(terms: Mapping[Feature, int]) -> tuple[Form, int]:
    """A form of its terms, the largest number first, and the number it was divided by."""
    left = {feature: number for feature, number in terms.items() if number}
    by = gcd(*left.values()) if left else 1
    ordered = sorted(left.items(), key=lambda term: (-abs(term[1]), term[1] < 0))
    return Form(tuple((number // by, feature) for feature, number in ordered)), by


class _Reader:
    """Reads the clauses of a rule, for one game."""

    def __init__(self, graph: StateGraph) -> None:
        self.graph = graph

    @cached_property
    def parameters(self) -> dict[str, int]:
        """The parameters that are whole numbers."""
        return whole_parameters(self.graph)

    def clause(self, number: int, part: Any) -> Clause:
        if not isinstance(part, Mapping) or not {"do"} <= set(part) <= {"if", "do"}:
            raise PolicyError(f'clause {number} must be {{"if": a condition, "do": an action}}')
        labels = [label for label in self.graph.vocabulary.meaning(str(part["do"])) if label >= 0]
        known = [label for label in labels if label in self.graph.vocabulary.labels]
        if not known:
            raise PolicyError(f"clause {number}: {self.graph.vocabulary.unknown(str(part['do']))}")
        text = part.get("if")
        return Clause(None if text is None else self.condition(number, text), known[0])

    def condition(self, number: int, text: Any) -> Condition:
        """A condition as text, such as ``8*turn + banked - rival >= 164``."""
        fault = (
            f"clause {number}: {text!r} isn't a condition; write a sum of fields, >= or <=, and a "
            'number or a parameter, as in "8*turn + banked - rival >= 164"'
        )
        if not isinstance(text, str) or len(text) > 500:
            raise PolicyError(fault)
        try:
            body = ast.parse(text.replace(".", _DOT), mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            raise PolicyError(fault) from None
        if not isinstance(body, ast.Compare) or len(body.ops) != 1:
            raise PolicyError(fault)
        order = _ORDER.get(type(body.ops[0]))
        bound = self._bound(body.comparators[0])
        terms = dict[Feature, int]()
        if order is None or bound is None or not self._add(terms, body.left, 1, number, fault):
            raise PolicyError(fault)
        form, by = form_of(terms)
        at_least = order[0] == ">"
        if isinstance(bound, str):
            if by != 1 or len(order) == 1:
                raise PolicyError(fault)
        else:  # of whole numbers: more than 3 is at least 4
            strict = len(order) == 1
            bound += strict if at_least else -strict
            bound = -(-bound // by) if at_least else bound // by
        if not form.terms:
            raise PolicyError(fault)
        return Condition(form, at_least, bound)

    def _bound(self, node: ast.expr) -> int | str | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found = self._bound(node.operand)
            return -found if isinstance(found, int) else None
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value <= LARGEST:
            return node.value
        if isinstance(node, ast.Name) and node.id in self.parameters:
            return node.id
        return None

    def _add(
        self, terms: dict[Feature, int], node: ast.expr, factor: int, number: int, fault: str
    ) -> bool:
        """Add what a node says to the terms; False where it says none."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            sign = 1 if isinstance(node.op, ast.Add) else -1
            left = self._add(terms, node.left, factor, number, fault)
            return left and self._add(terms, node.right, sign * factor, number, fault)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._add(terms, node.operand, -factor, number, fault)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            times = node.left.value if isinstance(node.left, ast.Constant) else None
            if type(times) is not int or abs(times * factor) > LARGEST:
                return False
            return self._add(terms, node.right, times * factor, number, fault)
        feature = self._feature(node, number)
        if feature is None:
            return False
        terms[feature] = terms.get(feature, 0) + factor
        return True

    def _feature(self, node: ast.expr, number: int) -> Feature | None:
        if isinstance(node, ast.Name):
            return Feature(self._column(node.id, number))
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in PAIRS
            and len(node.args) == 2
            and not node.keywords
            and all(isinstance(part, ast.Name) for part in node.args)
        ):
            first, second = (self._column(part.id, number) for part in node.args)  # type: ignore[attr-defined]
            return Feature(first, second, node.func.id)
        return None

    def _column(self, name: str, number: int) -> str:
        name = name.replace(_DOT, ".")
        if name not in self.graph.columns:
            raise PolicyError(f"clause {number}: {no_such('field', name, self.graph.columns)}")
        return name


def whole_parameters(graph: StateGraph) -> dict[str, int]:
    """The parameters of a game that are whole numbers, and no field's name."""
    return {
        name: value
        for name, value in graph.parameters.items()
        if type(value) is int and name not in graph.columns
    }
