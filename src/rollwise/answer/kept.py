"""Graphs and answers kept between runs, so that a second question about a game is instant.

They lie in the user's cache (`rollwise.machine.user_cache`) under a key. The key covers all data
that the rules read (`rollwise.builders.compiled.cache_key`), the method and its options, and the
sources of rollwise. The key is complete for compiled rules only. Only games with compiled rules are
kept, if their answers took a while. Files hold plain arrays with checksums, and no pickles. An
unreadable file is ignored, and the game is solved again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import rollwise
from rollwise.answer.solution import Solution
from rollwise.answer.solve import goes_by_layers, solve_whole
from rollwise.builders import Mode, Progress, is_compiled
from rollwise.builders.arrays import action_names, first_rows_of
from rollwise.builders.contract import require_two
from rollwise.builders.limits import SMALL, most_states
from rollwise.builders.rules import Rules
from rollwise.errors import OutputError, RollwiseError, TooManyStates
from rollwise.game import Game, has_many, require_game
from rollwise.graph import FACTS, HELD, Lotteries, StateGraph
from rollwise.graph.lotteries import Components
from rollwise.machine.atomic_files import read_arrays, remove_abandoned, write_arrays
from rollwise.machine.switches import jit_disabled
from rollwise.machine.user_cache import MOST_BYTES, answers_folder, make_room
from rollwise.methods import DEFAULT
from rollwise.methods.result import MethodResult, Status

if TYPE_CHECKING:
    from rollwise.answer.references import Policies

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


def build(
    game: Game,
    *,
    any_players: bool = False,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> StateGraph:
    """The graph of a game, as from `rollwise.build`: kept, or built and then kept.

    Parameters
    ----------
    any_players : bool
        Allow games for three or more players.
    """
    if not any_players:
        require_two(require_game(game))
    from rollwise.many.seats import build_for_all

    entry = Entry.of(game)
    graph = entry.graph(max_states)
    if graph is None:
        began = time.perf_counter()
        graph = build_for_all(game, max_states=max_states, progress=progress)
        entry.keep(graph, None, time.perf_counter() - began)
    return graph


def solve(
    game: Game,
    *,
    method: str = DEFAULT,
    options: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    mode: Mode = "auto",
    any_players: bool = False,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """The answer to a game, as from `rollwise.solve`: kept, or found and then kept.

    The `Solution.kept_from` of a kept answer is the time of its run.

    Parameters
    ----------
    any_players : bool
        Allow games for three or more players.
    """
    if not any_players:
        require_two(require_game(game))
    started = time.perf_counter()
    about = dict(options or {})
    if has_many(require_game(game)):
        about.pop("time_limit", None)  # an equilibrium that was found in time is the same
    entry = Entry.of(game, method, about) if mode == "auto" else None
    if entry is not None:
        kept = entry.solution(max_states)
        if kept is not None:
            seconds = {"read": time.perf_counter() - started}
            return replace(kept, tolerance=tolerance, seconds=seconds)
    solution = solve_whole(
        game,
        method=method,
        options=options,
        tolerance=tolerance,
        mode=mode,
        max_states=max_states,
        progress=progress,
    )
    if entry is not None:
        entry.keep(solution.graph, solution, sum(solution.seconds.values()))
    return solution


def solve_by_layers(
    game: Game,
    saved: str | Path | None = None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """As `rollwise.solve_by_layers`: read from a folder, kept, or found and then kept."""
    if saved is not None:
        return load(saved, game)
    from rollwise.answer.solve_by_layers import solve_by_layers

    started = time.perf_counter()
    entry = Entry.of(game)
    kept = entry.layers(max_states)
    if kept is not None:
        return replace(kept, seconds={"read": time.perf_counter() - started})
    solution = solve_by_layers(game, max_states=max_states, progress=progress)
    entry.keep_layers(solution)
    return solution


def answer(
    game: Game,
    saved: str | Path | None = None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
    by_layers: bool = True,
    **how: Any,
) -> Solution:
    """The answer to a game of any size and number of players: read, kept, or found now.

    Parameters
    ----------
    by_layers : bool
        Whether to solve a game too large for one graph by layers, if it has any and no other
        option is given.
    **how
        As in `solve`.
    """
    if saved is not None:
        return load(saved, game, max_states=max_states, progress=progress)
    how = {name: said for name, said in how.items() if said}
    by_layers = by_layers and not how
    if by_layers and max_states is None and (stored := large(game)) is not None:
        return stored
    try:
        return solve(game, any_players=True, max_states=max_states, progress=progress, **how)
    except TooManyStates:
        if not by_layers or not goes_by_layers(game, max_states):
            raise
    return solve_by_layers(game, progress=progress)


def policies_in_one_graph(
    game: Game,
    *,
    other_way: bool,
    any_players: bool = False,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Policies | None:
    """As `policies`; None for a game too large for one graph.

    Parameters
    ----------
    other_way : bool
        Whether the question has an answer without a graph. Otherwise, and with `max_states`, the
        size is an error.

    Raises
    ------
    TooManyStates
    """
    other_way = other_way and max_states is None
    if other_way and large(game) is not None:
        return None
    try:
        return policies(game, any_players=any_players, max_states=max_states, progress=progress)
    except TooManyStates:
        if not other_way:
            raise
        return None


def large(game: Game) -> Solution | None:
    """The kept answer by layers of a game too large for one graph; else None."""
    stored = Entry.of(game).layers(None)
    if stored is None:
        return None
    rules = Rules(game)
    states = len(stored) * (1 + rules.turn_states)
    return stored if states > most_states(rules) else None


def policies(
    game: Game,
    *,
    any_players: bool = False,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Policies:
    """The graph of a game and its policies by name; ``optimal`` is kept, or found and then kept."""
    from rollwise.answer.references import Policies

    graph = build(game, any_players=any_players, max_states=max_states, progress=progress)
    return Policies(graph, game, partial(_answer, graph, game))


def _answer(graph: StateGraph, game: Game) -> Solution:
    entry = Entry.of(game)
    kept = entry.answer(graph)
    if kept is not None:
        return kept
    solution = Solution.of_graph(graph, game)
    entry.keep(graph, solution, sum(solution.seconds.values()))
    return solution


def load(
    path: str | Path,
    game: Game | None = None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """A saved solution, as from `rollwise.load`.

    The cache keeps its graph, and its content after the proof. A file proved on this machine by the
    same rollwise isn't proved again, nor read by Polars.
    """
    if game is not None and Path(path).is_dir():
        return Solution.open(path, game)
    from rollwise.answer.storage import Content, read_facts
    from rollwise.answer.verify import load as read

    path = Path(path)
    folder, key = answers_folder(), _key_of_content(path)
    known = None
    if folder is not None and key is not None:
        file = next(folder.glob(f"*-{key}.content.npz"), None)
        if file is not None:
            known = _read(file, lambda x: Content(x["about"], x["values"], x["bounds"]))
    how: dict[str, Any] = {"max_states": max_states, "progress": progress}
    solution = read(path, game, proved=known, build=build, **how)
    if folder is None or key is None or known is not None or solution.profile is not None:
        return solution
    about = read_facts(path)
    if _key_of_content(path) == key:  # the file hasn't changed
        arrays = {"values": solution.values, "bounds": solution.error_bounds}
        file = folder / f"{_plain(about['game'])}-{key}.content.npz"
        _write(file, arrays, {"about": about})
        make_room(folder, "*.npz", most_bytes=MOST_BYTES)
    return solution


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


def _plain(name: str) -> str:
    """The name of a game in the names of files."""
    return re.sub(r"[^\w-]", "_", name)[:60]


class Entry:
    """The files of a game: its graph, its answer by a method, and data of other rooms.

    The name of a file begins with the name of the game. The slow computation of the key is needed
    only if such a file exists, or to write one.
    """

    def __init__(self, game: Game, about: str | None, place: Path | None) -> None:
        self._game, self._about, self._folder = game, about, place
        self._name = _plain(game.name)

    @classmethod
    def of(
        cls, game: Game, method: str = DEFAULT, options: Mapping[str, Any] | None = None
    ) -> Entry:
        try:
            about = json.dumps([method, options or {}], sort_keys=True)
        except TypeError:  # an option is a function
            about = None
        return cls(game, about, answers_folder())

    @cached_property
    def _rules(self) -> Rules | None:
        """The rules of the base game."""
        try:
            return _rules_of(self._game.made_from)
        except RollwiseError:
            return None  # the builder gives the reason

    @cached_property
    def _key(self) -> str | None:
        return None if self._rules is None else _key_of(self._game, self._rules)

    def _path(self, kind: str) -> Path | None:
        if self._folder is None or self._key is None:
            return None
        about = self._key
        if kind == "values":
            if self._about is None:
                return None
            about += "-" + hashlib.blake2b(self._about.encode(), digest_size=8).hexdigest()
        return self._folder / f"{self._name}-{about}.{kind}.npz"

    def _found(self, kind: str) -> Path | None:
        """The file, if it is there."""
        if self._folder is None or not any(self._folder.glob(f"{self._name}-*.{kind}.npz")):
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
        if self._folder is None:
            return
        make_room(self._folder, "*.npz", most_bytes=MOST_BYTES)
        remove_abandoned(self._folder)


def graph_of(found: dict[str, Any], game: Game) -> StateGraph:
    """The graph from its parts, with action names from the rules."""
    facts = {name: found[name] for name in FACTS if name != "action_names"}
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
    return Solution(
        graph,
        game,
        run.method,
        run.values,
        bounds,
        sweeps=run.sweeps,
        converged=run.converged,
        run=run,
        kept_from=found["kept_from"],
    )


def _read(path: Path, made_of: Callable[[dict[str, Any]], Kept]) -> Kept | None:
    """The object made from the arrays and facts of a file; None if it is missing or damaged."""
    if not path.exists():
        return None
    try:
        arrays, (facts,) = read_arrays(path, "facts")
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
    names = facts.pop("action_names")
    if game.made_from is game:
        facts["first_rows"] = first_rows_of(_rules_of(game), graph)
    else:
        facts["action_names"] = dict(names)
    facts["content_hash"], facts["names_hash"] = graph.content_hash, _names_hash(graph)
    return arrays, facts


OF_LAYERS = ("states", "layers", "progress", "actions")  # arrays


def _parts_of_layers(solution: Solution) -> tuple[dict[str, Any], dict[str, Any]]:
    from rollwise.answer.layer_answers import LayerFacts

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
    from rollwise.answer.layer_answers import LayerFacts
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
    from rollwise.builders.compiled.reads import graph_key

    try:
        roots = rules.few_roots(SMALL)
        if roots is None:
            return None  # the roots are a part of the rules, and too many for a key
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
