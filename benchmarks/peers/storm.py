"""Storm, by way of stormpy: its sparse engine, from a PRISM program and from explicit models.

The program of Pig is written by hand, as short as the rules. The explicit model is the
one that ``rollwise export --to drn`` writes, as text, and rewritten by Storm itself in
its binary form (UMB), which it reads many times faster. `default` is what stormpy does by itself
(sound since version 2: topological, with intervals); the others are chosen, with
Storm's own precision of 1e-6. Hensel, Junges, Katoen, Quatmann and Volk (2022), "The
probabilistic model checker Storm", STTT.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import Answer
from benchmarks.work import Problem, Work

TOOL = "Storm"
PACKAGE = "stormpy"

# Source of the model, method, and whether soundness is asked for. Topological by itself
# solves each component by value iteration; asked for soundness, by bounds from both sides.
METHODS = {
    "default": (None, None),
    "value iteration": ("VALUE_ITERATION", False),
    "topological, not sound": ("TOPOLOGICAL", False),
    "sound value iteration": ("SOUND_VALUE_ITERATION", True),
    "optimistic value iteration": ("OPTIMISTIC_VALUE_ITERATION", True),
    "interval iteration": ("INTERVAL_ITERATION", True),
}
EXPLICIT = ("default", "sound value iteration", "optimistic value iteration")
WAYS = {
    **{f"prism/{method}": f"PRISM program, {method}" for method in METHODS},
    **{f"umb/{method}": f"explicit, binary, {method}" for method in EXPLICIT},
    "drn/default": "explicit, text, default",
}

PROGRAM = Path(__file__).with_name("pig.prism")
PROGRAM_FOR_TWO = Path(__file__).with_name("pig_for_two.prism")
GAME = "pig-25"  # the game of two that it is asked for


def refusal(work: Work, way: str) -> str | None:
    if work.two_choose and (work.name != GAME or way != "prism/default"):
        return f"two players choose: see what it says of {GAME}"
    if not work.two_choose and way.startswith("prism") and work.game != "pig":
        return "no program was written for it: see the explicit model"
    return None


def start(problem: Problem, way: str) -> Callable[[], Answer]:
    import stormpy
    from stormpy import environments

    source, _, method = way.partition("/")
    question = 'R{"points"}min=? [F "finished"]' if problem.is_score else 'Pmax=? [F "won"]'
    if problem.work.two_choose:
        question = f"<<first>> {question}"
    make_model = models(problem, source, question)
    asked = stormpy.parse_properties(question)
    name, sound = METHODS[method]
    environment = None
    if name is not None:
        environment = environments.sound() if sound else environments.Environment()
        environment.solver().min_max().method = getattr(environments.MinMaxMethod, name)

    def solve() -> Answer:
        clock = time.perf_counter
        started = clock()
        model = make_model()
        built = clock()
        result = stormpy.model_checking(model, asked[0], environment=environment)
        ended = clock()
        if result is None:
            raise NotImplementedError("it builds the game, and has no method that solves it")
        first = model.initial_states[0]
        claims = name is None or sound
        return Answer(
            {"build": built - started, "solve": ended - built},
            lambda: worth_of(problem, source, result, first),
            "bounds; rounding isn't counted" if claims else "none: stops at a change of 1e-6",
            claimed(source, result, first) if claims else None,
            {"states": model.nr_states},
        )

    return solve


def models(problem: Problem, source: str, question: str) -> Callable[[], Any]:
    """How a model is built; making the files isn't timed."""
    import stormpy
    import stormpy.io

    if source == "drn":
        return lambda: stormpy.build_model_from_drn(str(problem.drn))
    if source == "umb":
        path = str(problem.drn.with_suffix(f".{os.getpid()}.umb"))
        stormpy.io.export_to_umb(stormpy.build_model_from_drn(str(problem.drn)), path)
        return lambda: stormpy.build_model_from_umb(path)
    path = PROGRAM_FOR_TWO if problem.work.two_choose else PROGRAM
    target = problem.work.parameters["target"]
    asked = stormpy.parse_properties(question)

    def build() -> Any:
        program = stormpy.parse_prism_program(str(path))
        whole, _ = stormpy.instantiate_constants(program, {"target": target})
        return stormpy.build_model(whole, asked)

    return build


def claimed(source: str, result: Any, first: int) -> float:
    """The largest distance of a value from its bounds: by state, or of the start."""
    if source == "prism":
        here = result[first]
        return float(max(here.upper - here.value, here.value - here.lower))
    values = np.array(result.get_value_vector())
    above = np.array(result.get_upper_bound_vector()) - values
    below = values - np.array(result.get_lower_bound_vector())
    return float(max(above.max(), below.max()))


def worth_of(problem: Problem, source: str, result: Any, first: int) -> Any:
    """By state where the numbering is the problem's, else of the start."""
    if source == "prism":
        return float(result.get_value(first))
    return np.array(result.get_value_vector()[: problem.facts["n_states"]])
