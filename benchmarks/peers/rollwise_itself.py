"""rollwise: rules to a certified answer, as its users call it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.peers import Answer
from benchmarks.work import Problem, Work

TOOL = "rollwise"
PACKAGE = "rollwise"
WAYS = {"default": "default"}


def refusal(work: Work, way: str) -> str | None:
    """It states them all."""
    return None


def start(problem: Problem, way: str) -> Callable[[], Answer]:
    import rollwise
    from rollwise.answer.evaluation import best_response
    from rollwise.answer.references import Policies

    game, against = problem.work.rules(), problem.work.against

    def solve() -> Answer:
        clock = time.perf_counter
        started = clock()
        solution = rollwise.solve(game)
        total = clock() - started
        inside = solution.seconds
        other = total - inside["solve"] - inside["certify"]
        bound = solution.error_bound
        assert solution.status == "certified"
        values = solution.values if solution.is_score else (1 + solution.values) / 2
        scale = 1.0 if solution.is_score else 0.5
        return Answer(
            {"build": other, "solve": inside["solve"], "certify": inside["certify"]},
            lambda: values,
            "proved",
            bound * scale,
        )

    def respond() -> Answer:
        clock = time.perf_counter
        started = clock()
        graph = rollwise.build(game)
        policy = Policies(graph, game).find(against)
        built = clock()
        best = best_response(graph, policy, starts=[0])
        ended = clock()
        assert best.bounds is not None
        assert best.bounds_second is not None
        bound = float(np.nanmax([best.bounds, best.bounds_second])) / 2
        assert bound < 1e-9
        return Answer(
            {"build": built - started, "solve": ended - built},
            lambda: np.concatenate([best.win_probability, best.win_probability_second]),
            "proved",
            bound,
            {"states": best.n_solved},
        )

    return solve if against is None else respond
