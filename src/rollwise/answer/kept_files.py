"""The files of kept graphs and answers, and their keys.

The key of a game covers all data that its rules read (`rollwise.builders.compiled.cache_key`), the
method and its options, and the sources of rollwise. It is complete for compiled rules only. Files
hold plain arrays with checksums, and no pickles. An unreadable file is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import rollwise
from rollwise.answer.solution import Solution
from rollwise.builders import is_compiled
from rollwise.builders.arrays import action_names, first_rows_of
from rollwise.builders.limits import SMALL
from rollwise.builders.rules import Rules
from rollwise.errors import OutputError, RollwiseError
from rollwise.game import Game
from rollwise.graph import FACTS, HELD, Lotteries, StateGraph
from rollwise.graph.layout import field_words
from rollwise.graph.lotteries import Components
from rollwise.machine.atomic_files import read_arrays, remove_abandoned, write_arrays
from rollwise.machine.switches import jit_disabled
from rollwise.machine.user_cache import MOST_BYTES, make_room
from rollwise.methods.result import MethodResult, Status

if TYPE_CHECKING:
    from rollwise.answer.storage import Content

WORTH_KEEPING = 0.3  # seconds: a faster answer isn't worth reading
WORTH_COMPILING = 5.0  # seconds: after this, interpreted rules are compiled to keep the answer
COMPONENTS = ("components.order", "components.indptr")  # of a graph, if known
# Rooms without a part in an answer.
ELSEWHERE = (
    "analysis",
    "cli",
    "cluster",
    "coach",
    "documents",
    "environments",
    "export",
    "learn",
    "page",
    "plot",
    "report",
    "simulate",
    "serve",
    "words",
)
OF_ROLLWISE = "rollwise."  # prefix of modules with sources in the key
Kept = TypeVar("Kept")


def _plain(name: str) -> str:
    """The name of a game in the names of files."""
    return re.sub(r"[^\w-]", "_", name)[:60]


class Entry:
    """The files of a game: its graph, its answer by a method, and data of other rooms.

    The name of a file begins with the name of the game. The slow computation of the key is needed
    only if such a file exists, or to write one.
    """

    def __init__(
        self, folder: Path, game: Game, method: str, options: Mapping[str, Any] | None
    ) -> None:
        self._folder, self._game, self._name = folder, game, _plain(game.name)
        self._known: str | None = None
        self._about: str | None = None
        with contextlib.suppress(TypeError):  # an option is a function
            self._about = json.dumps([method, options or {}], sort_keys=True)

    @cached_property
    def _rules(self) -> Rules | None:
        """The rules of the base game."""
        try:
            return _rules_of(self._game.made_from)
        except RollwiseError:
            return None  # the builder gives the reason

    @property
    def _key(self) -> str | None:
        """The key of the game. A game with many roots has none until these are compiled."""
        if self._known is None and self._rules is not None:
            self._known = _key_of(self._game, self._rules)
        return self._known

    def _path(self, kind: str) -> Path | None:
        if self._key is None:
            return None
        about = self._key
        if kind == "values":
            if self._about is None:
                return None
            about += "-" + hashlib.blake2b(self._about.encode(), digest_size=8).hexdigest()
        return self._folder / f"{self._name}-{about}.{kind}.npz"

    def _found(self, kind: str) -> Path | None:
        """The file, if it is there."""
        if not any(self._folder.glob(f"{self._name}-*.{kind}.npz")):
            return None
        path = self._path(kind)
        return path if path is not None and path.exists() else None

    def recall(self, kind: str, made_of: Callable[[dict[str, Any]], Kept]) -> Kept | None:
        """The object made from the arrays and facts of such a file; None without a sound file."""
        path = self._found(kind)
        return None if path is None else _read(path, made_of)

    def note(self, kind: str, arrays: dict[str, Any], facts: dict[str, Any], spent: float) -> None:
        """Keep arrays and facts, if possible and if `spent`, in seconds, makes it worthwhile."""
        if self._is_worth_keeping(kind, spent):
            self._write({kind: (arrays, facts)})

    def _is_worth_keeping(self, kind: str, spent: float) -> bool:
        if spent < WORTH_KEEPING or self._rules is None or self._path(kind) is None:
            return False
        return _can_be_kept(self._rules, spent)

    def graph(self, max_states: int | None) -> StateGraph | None:
        """The kept graph, if it has at most so many states."""
        graph = self.recall("graph", lambda found: graph_of(found, self._game))
        return None if graph is None or graph.n_states > (max_states or np.inf) else graph

    def solution(self, max_states: int | None) -> Solution | None:
        """The answer, if it is kept."""
        graph = self.graph(max_states) if self._found("values") else None
        return None if graph is None else self.answer(graph)

    def answer(self, graph: StateGraph) -> Solution | None:
        """The answer on the game's graph, if it is kept."""
        return self.recall("values", lambda found: _solution_of(graph, self._game, found))

    def layers(self, max_states: int | None) -> Solution | None:
        """The answer by layers, if it is kept and has no more states than that."""
        found = self.recall("layers", lambda parts: _layers_of(self._game, parts))
        return None if found is None or len(found) > (max_states or np.inf) else found

    def keep_layers(self, solution: Solution) -> None:
        """Keep an answer by layers, if it can be."""
        if solution.status == "certified":
            spent = sum(solution.seconds.values())
            self.note("layers", *_parts_of_layers(solution), spent)

    def keep(self, graph: StateGraph, solution: Solution | None, spent: float) -> None:
        """Keep a graph, and an answer, if they can be; a place that can't be written is no error.

        Parameters
        ----------
        spent : float
            Seconds that it took to find them.
        """
        if not self._is_worth_keeping("graph", spent):
            return
        files = {"graph": parts_of_graph(graph, self._game)}
        if solution is not None and self._about is not None and solution.is_final:
            arrays, facts = _parts_of(solution)
            files["values"] = arrays, facts | {"kept_from": time.strftime("%Y-%m-%d %H:%M")}
        self._write(files)

    def _write(self, files: Mapping[str, tuple[dict[str, Any], dict[str, Any]]]) -> None:
        """Write arrays and facts, each kind into its file; old files make room."""
        for kind, (arrays, facts) in files.items():
            path = self._path(kind)
            # a graph that was solved has its components, which one that was only built may lack
            known = kind == "graph" and "values" not in files
            if path is not None and not (known and path.exists()):
                _write(path, arrays, facts)
        make_room(self._folder, "*.npz", most_bytes=MOST_BYTES)
        remove_abandoned(self._folder)


def graph_of(found: dict[str, Any], game: Game) -> StateGraph:
    """The graph from its parts, with action names from the rules."""
    facts = {name: found[name] for name in FACTS if name not in ("action_names", "words")}
    facts |= {name: tuple(facts[name]) for name in ("field_names", "throw_names")}
    if "action_names" in found:
        names = _by_number(found["action_names"])
    else:
        names = action_names(_rules_of(game), _by_number(found["first_rows"]))
    facts["action_names"] = names
    graph = StateGraph(
        **{name: found[name] for name in HELD},
        throws=found.get("throws"),
        **facts,
        words=field_words(game),
        lotteries=Lotteries(*(found[f"lotteries.{name}"] for name in Lotteries._fields)),
    )
    if found["names_hash"] == _names_hash(graph):
        vars(graph)["content_hash"] = found["content_hash"]  # found when the graph was kept
    if COMPONENTS[0] in found:
        vars(graph)["components"] = Components.of_order(*(found[name] for name in COMPONENTS))
    return graph


def _rules_of(game: Game) -> Rules:
    return Rules(game, any_players=True)


def _by_number(found: Mapping[str, Any]) -> dict[int, Any]:
    return {int(number): item for number, item in found.items()}


def _names_hash(graph: StateGraph) -> str:
    names = json.dumps(sorted(graph.action_names.items()))
    return hashlib.blake2b(names.encode(), digest_size=8).hexdigest()


ARRAYS = ("values", "error_bounds", "deviation_gains")  # of an equilibrium


def _parts_of(solution: Solution) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of an answer, and its facts in JSON: see `_solution_of`."""
    if solution.profile is not None:
        profile = solution.profile
        arrays: dict[str, Any] = {name: getattr(profile, name) for name in ARRAYS}
        arrays["probability"] = profile.policy.probability
        return arrays, {"unsettled": profile.unsettled}
    arrays, facts = {"error_bounds": solution.error_bounds}, {}
    # arrays go to the archive by name, everything else to its description in JSON
    for name in (part.name for part in fields(MethodResult)):
        value = getattr(solution.run, name)
        if name == "history":
            value = np.array(value, np.float64)
        if name == "fractions" and value is not None:
            value = [str(fraction) for fraction in value]
        if name == "columns":
            arrays |= {f"columns.{column}": array for column, array in value.items()}
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            facts[name] = dict(value) if isinstance(value, Mapping) else value
    return arrays, facts


def _solution_of(graph: StateGraph, game: Game, found: dict[str, Any]) -> Solution:
    if graph.players > 2:
        from rollwise.many.equilibrium import Equilibrium

        values, bounds, gains = (found[name] for name in ARRAYS)
        if any(x.shape != (graph.n_states, graph.players) for x in (values, bounds, gains)):
            raise ValueError("an equilibrium of another graph")
        from rollwise.graph.policies import Policy

        policy, unsettled = Policy("optimal", found["probability"]), tuple(found["unsettled"])
        profile = Equilibrium(graph, game, policy, values, bounds, gains, unsettled, {})
        return Solution.of_equilibrium(profile, found["kept_from"])
    run, bounds = _run_of(found), found["error_bounds"]
    if not len(run.values) == len(bounds) == graph.n_states:
        raise ValueError("values of another graph")
    return Solution(graph, game, run, run.values, bounds, kept_from=found["kept_from"])


def _read(path: Path, made_of: Callable[[dict[str, Any]], Kept]) -> Kept | None:
    """The object made from the arrays and facts of a file; None if it is missing or damaged."""
    if not path.exists():
        return None
    try:
        arrays, (facts,) = read_arrays(path, "facts")
        with contextlib.suppress(OSError):  # the cache may be read-only
            os.utime(path)  # it was used
        return made_of({**arrays, **facts})
    except Exception:  # damaged in some way, and useless
        with contextlib.suppress(OSError):
            path.unlink()
        return None


def _write(path: Path, arrays: dict[str, Any], facts: dict[str, Any]) -> None:
    """Write arrays and facts, unless they are too large or the file can't be written."""
    if sum(array.nbytes for array in arrays.values()) > MOST_BYTES / 2:
        return
    with contextlib.suppress(OutputError):
        write_arrays(path, arrays, facts=facts)


def parts_of_graph(graph: StateGraph, game: Game) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and facts of a graph, without the action names of the rules.

    A graph derived from another keeps its action names, which are in its key.
    """
    arrays = {name: getattr(graph, name) for name in HELD}
    if graph.throws is not None:
        arrays["throws"] = graph.throws
    arrays |= {f"lotteries.{name}": array for name, array in graph.lotteries._asdict().items()}
    if "components" in vars(graph):
        components = graph.components
        arrays |= dict(zip(COMPONENTS, (components.order, components.indptr), strict=True))
    facts: dict[str, Any] = {name: getattr(graph, name) for name in FACTS}
    facts["parameters"] = dict(graph.parameters)
    names, _ = facts.pop("action_names"), facts.pop("words")
    if game.made_from is game:
        facts["first_rows"] = first_rows_of(_rules_of(game), graph)
    else:
        facts["action_names"] = dict(names)
    facts["content_hash"], facts["names_hash"] = graph.content_hash, _names_hash(graph)
    return arrays, facts


OF_LAYERS = ("states", "layers", "progress", "actions")  # arrays


def _parts_of_layers(solution: Solution) -> tuple[dict[str, Any], dict[str, Any]]:
    from rollwise.answer.layer_folder import LayerFacts

    space = solution.space
    assert not isinstance(space, StateGraph)
    facts = {field.name: getattr(space, field.name) for field in fields(LayerFacts)}
    arrays = {name: getattr(space, name) for name in OF_LAYERS}
    arrays |= {"values": solution.values, "error_bounds": solution.error_bounds}
    return arrays, {
        "facts_of_layers": facts,
        "first_rows": dict(space.first_rows),
        "start": space.start,
        "kept_from": time.strftime("%Y-%m-%d %H:%M"),
    }


def _layers_of(game: Game, found: dict[str, Any]) -> Solution:
    from rollwise.answer.layer_folder import LayerFacts
    from rollwise.answer.layered_states import LayeredStates

    facts, first = LayerFacts(**found["facts_of_layers"]), _by_number(found["first_rows"])
    given = {name: found[name] for name in (*OF_LAYERS, "start")}
    space = LayeredStates.of(game, facts, first, **given)
    values, bounds = found["values"], found["error_bounds"]
    return Solution.of_layers(space, values, bounds, {}, found["kept_from"])


def _run_of(found: dict[str, Any]) -> MethodResult:
    from fractions import Fraction

    given = {field.name: found[field.name] for field in fields(MethodResult) if field.name in found}
    given["status"] = Status(given["status"])
    given["columns"] = {
        name.removeprefix("columns."): array
        for name, array in found.items()
        if name.startswith("columns.")
    }
    if given.get("fractions") is not None:
        given["fractions"] = [Fraction(text) for text in given["fractions"]]
    return MethodResult(**given)


def _key_of(game: Game, rules: Rules) -> str | None:
    """The key of a game, the same in every process; None if it has none."""
    if game.made_from is not game:
        base = _key_of(game.made_from, rules)
        own = type(rules.game).__module__.startswith(OF_ROLLWISE)
        if base is None or (rules.has_action_text and not own):
            return None  # names of actions are kept here, and can depend on any data
        return _key_of_derived(game, base, rules.action_names)
    from rollwise.builders.compiled.reads import graph_key, has_compiled_roots

    try:
        roots = rules.few_roots(SMALL)
        if roots is None:  # too many; the key covers all values that compiled roots read
            if not has_compiled_roots(rules):
                return None
            roots = rules.start_row
        key = graph_key(rules, roots, sources())
    except (RollwiseError, TypeError, ValueError):
        return None  # the builder gives the reason
    return key.text if key.lasts else None


def _key_of_derived(game: Game, inner: str, names: Mapping[int, str]) -> str | None:
    """The key of a derived game: the inner key, the action names, and the derivation.

    The derivation is code of rollwise, whose sources are in the inner key. A class from elsewhere
    has no key.
    """
    from rollwise.builders.compiled.cache_key import key_of

    kind = type(game)
    if not kind.__module__.startswith(OF_ROLLWISE):
        return None
    own = tuple((f.name, getattr(game, f.name)) for f in fields(game) if f.name != "inner")
    key = key_of({}, inner, tuple(names.items()), kind.__module__, kind.__qualname__, own)
    return key.text if key.lasts else None


@cache
def sources() -> str:
    """A hash of the sources of rollwise that find answers."""
    digest = hashlib.blake2b(rollwise.__version__.encode(), digest_size=16)
    home = Path(rollwise.__file__).parent
    for path in sorted(home.rglob("*.py")):
        if path.relative_to(home).parts[0] not in ELSEWHERE:
            digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def _can_be_kept(rules: Rules, spent: float) -> bool:
    """Whether the rules were compiled, or can be, if finding the answer took long."""
    if jit_disabled():
        return False
    if is_compiled(rules):
        return True
    if spent < WORTH_COMPILING:
        return False
    from rollwise.builders.compiled.cache_key import NotCompilable
    from rollwise.builders.compiled.compiling import compiled_rules

    try:
        compiled_rules(rules)
    except NotCompilable:
        return False
    return True


class KeptContent:
    """The content of a saved solution, kept after its proof.

    A file proved on this machine by the same rollwise isn't proved again, nor read by Polars.

    Parameters
    ----------
    folder : Path
        Of the kept files.
    path : Path
        Of the solution.
    """

    def __init__(self, folder: Path, path: Path) -> None:
        self._folder, self._path, self._key = folder, path, _key_of_content(path)

    def read(self) -> Content | None:
        """The kept content, if there is one."""
        from rollwise.answer.storage import Content

        found = self._folder.glob(f"*-{self._key}.content.npz") if self._key is not None else ()
        file = next(iter(found), None)
        if file is None:
            return None
        return _read(file, lambda x: Content(x["about"], x["values"], x["bounds"]))

    def keep(self, solution: Solution) -> None:
        """Keep the content of the solution, unless the file has changed since."""
        if self._key is None:
            return
        from rollwise.answer.storage import read_facts

        about = read_facts(self._path)
        if _key_of_content(self._path) == self._key:
            arrays = {"values": solution.values, "bounds": solution.error_bounds}
            file = self._folder / f"{_plain(about['game'])}-{self._key}.content.npz"
            _write(file, arrays, {"about": about})
            make_room(self._folder, "*.npz", most_bytes=MOST_BYTES)


def _key_of_content(path: Path) -> str | None:
    """The key of a saved solution: a hash of its bytes, and the sources of rollwise."""
    if not path.is_file():  # a device may have no end
        return None
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, hashlib.blake2b).hexdigest()
    except OSError:  # a later read gives the reason
        return None
    return hashlib.blake2b(f"{digest} {sources()}".encode(), digest_size=20).hexdigest()
