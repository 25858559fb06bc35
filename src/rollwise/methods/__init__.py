"""Methods for the values of a graph. The graph is their only input.

A method is one module with a function of the same name (dashes for underscores)
and one entry in `METHODS`. The function takes a `StateGraph` and keyword options
and returns a `MethodResult`.
"""

from __future__ import annotations

import importlib
import inspect
import math
import numbers
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rollwise.errors import UsageError, entry
from rollwise.machine.interrupts import Clock, OutOfTime
from rollwise.parameters import KINDS, TRUTHS

if TYPE_CHECKING:
    from rollwise.graph import StateGraph
    from rollwise.methods.result import MethodResult


FINITE = ("epsilon", "tolerance", "theta", "start")
_TYPED: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str}


@dataclass(frozen=True)
class Setting:
    """An option of a method on the command line: ``--set epsilon=1e-6``.

    Attributes
    ----------
    name : str
    type : {bool, int, float, str}
    default : object
        None where the method chooses.
    about : str
        Its meaning, from the docstring of the method.
    """

    name: str
    type: type
    default: Any
    about: str

    def parse(self, method: str, text: str) -> Any:
        """The value of a typed text.

        Raises
        ------
        UsageError
            It is of another type, or out of range (see `checked`).
        """
        value: Any
        try:
            value = TRUTHS[text.lower()] if self.type is bool else self.type(text)
        except (KeyError, ValueError):
            raise UsageError(f"{method}: {self.name} is {KINDS[self.type]}, not {text!r}") from None
        return self.checked(method, value)

    def checked(self, method: str, value: Any) -> Any:
        """The value in the type of the option; a text is read as if it were typed.

        Raises
        ------
        UsageError
            It is a number of another type; or negative, and no `start`; or a `tolerance` of 0;
            or a start or a tolerance that isn't finite.
        """
        kinds: dict[type, Any] = {int: numbers.Integral, float: numbers.Real}
        if self.type is bool:
            return self.parse(method, str(value)) if not isinstance(value, bool) else value
        if self.type not in kinds:
            return value
        if isinstance(value, str):
            return self.parse(method, value)
        if isinstance(value, bool) or not isinstance(value, kinds[self.type]):
            raise UsageError(f"{method}: {self.name} is {KINDS[self.type]}, not {value!r}")
        number = self.type(value)
        fault = ""
        if self.name in FINITE and not math.isfinite(number):
            fault = "must be finite"
        elif not number >= 0 and self.name != "start":
            fault = "can't be less than 0"
        elif self.name == "tolerance" and number == 0:
            fault = "must be positive"
        if fault:
            raise UsageError(f"{method}: {self.name} is {number:g}; it {fault}")
        return number


def _about_parameters(docstring: str) -> dict[str, str]:
    """The text of each parameter in a NumPy docstring, with its possible words."""
    lines = docstring.partition("Parameters\n----------\n")[2].partition("\n\n")[0].splitlines()
    about: dict[str, str] = {}
    among: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        # an unindented line names parameters; the indented lines below it describe them
        if line[:1] != " ":
            names = re.findall(r"\w+", line.partition(" : ")[0])
            about |= dict.fromkeys(names, "")
            among |= dict.fromkeys(names, re.findall(r'"([^"]+)"', line))
        else:
            about |= {name: f"{about[name]} {line.strip()}".strip() for name in names}
    for name, words in among.items():
        if any(word not in about[name] for word in words):
            about[name] = f"One of {', '.join(words)}. {about[name]}".strip()
    return {name: text.replace("`", "") for name, text in about.items()}


@dataclass(frozen=True)
class Method:
    """An entry of the table.

    Attributes
    ----------
    name : str
        As on the command line; its module has underscores for dashes.
    about : str
        One line.
    estimates : bool
        Whether its values are estimates, without proofs.
    """

    name: str
    about: str
    estimates: bool = False

    def load(self) -> Callable[..., MethodResult]:
        """The function; its module is imported when it is first asked for."""
        identifier = self.name.replace("-", "_")
        module = importlib.import_module(f"{__name__}.{identifier}")
        function: Callable[..., MethodResult] = getattr(module, identifier)
        return function

    def options(self) -> list[str]:
        """The names of its keyword options."""
        parameters = inspect.signature(self.load()).parameters.values()
        return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]

    def settings(self) -> dict[str, Setting]:
        """Its options for the command line, by name, from its signature and docstring."""
        function = self.load()
        about = _about_parameters(inspect.getdoc(function) or "")
        values = {}
        for p in inspect.signature(function).parameters.values():
            kinds = [kind for kind in _TYPED if kind in re.split(r"[ |]+", str(p.annotation))]
            if p.kind is p.KEYWORD_ONLY and kinds:
                values[p.name] = Setting(p.name, _TYPED[kinds[0]], p.default, about[p.name])
        return values


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("strategy-iteration", "component by component: fast, for games of any size"),
        Method("value-iteration", "sweeps over all states until little changes, or bounds close"),
        Method("policy-iteration", "on the whole graph (Howard; Hoffman and Karp)"),
        Method("modified-policy-iteration", "a few sweeps in place of each linear system"),
        Method("linear-programming", "right for one player, with two often wrong; HiGHS"),
        Method("mixed-integer", "a binary a choice, whole or by component; SCIP or HiGHS"),
        Method("exact", "rational numbers, for small games with whole weights; FLINT"),
        Method("sampled", "backward induction on random draws, an estimate", estimates=True),
    )
}


DEFAULT = "strategy-iteration"
# Methods check their time limit, but few libraries do; such a method is abandoned this much later.
GRACE, LEAST_GRACE = 1.25, 1.0


def find_method(name: str) -> Method:
    """The method of this name.

    Raises
    ------
    UsageError
        There is none.
    """
    return entry("method", name, METHODS)


def known_options(name: str, at_hand: Mapping[str, Any]) -> dict[str, Any]:
    """The available arguments that a method accepts."""
    options = find_method(name).options()
    return {key: value for key, value in at_hand.items() if key in options}


def run_method(graph: StateGraph, name: str, **options: Any) -> MethodResult:
    """Run a method and time it.

    Parameters
    ----------
    graph : StateGraph
    name : str
        One of `METHODS`.
    **options
        Of the method; None counts as not given.

    Raises
    ------
    UsageError
        No such method, or it has no such option; or a number is out of range; or the graph is of
        three or more players.
    """
    from rollwise.graph import require_one_value

    require_one_value(graph)
    method = find_method(name)
    given = {option: value for option, value in options.items() if value is not None}
    declared, settings = method.options(), method.settings()
    for option, value in given.items():
        if option not in declared:
            raise UsageError(f"the method {name} has no option {option.replace('_', '-')!r}")
        if option in settings:
            given[option] = settings[option].checked(f"the method {name}", value)
    function = method.load()
    started = time.perf_counter()
    limit = given.get("time_limit")
    clock = Clock(None if limit is None else GRACE * limit + LEAST_GRACE)
    try:
        result = clock.within(lambda: function(graph, **given))
    except OutOfTime:
        # it stays in a library past its time limit
        from rollwise.methods.result import MethodResult, Status

        details = {"sweeps": "unknown"}
        result = MethodResult.without_values(name, graph.n_states, Status.OUT_OF_TIME, details)
    return replace(result, seconds=time.perf_counter() - started)
