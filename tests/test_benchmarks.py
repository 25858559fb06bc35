"""What the benchmarks compare with: rewritten algorithms, kernels by hand, history, the page."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from benchmarks import history, scale
from benchmarks.attack_questions import QUESTIONS, attacked
from benchmarks.peers import PEERS, by_hand, peer
from benchmarks.report import merged
from benchmarks.work import Problem, Work, certified_answer, check_known, prepare

SMALL = {
    "pig": Work("small-pig", "pig", "pig", {"target": 12}),
    "response": Work("small-response", "pig-response", "pig", {"target": 27}, "hold-at-20"),
    "super-six": Work("small-six", "super-six", "super-six", {"sticks": 9}),
    "threes": Work("small-threes", "threes", "threes"),
    "blackjack": Work("small-blackjack", "blackjack", "dice-blackjack", {"low": 9, "high": 11}),
}


@pytest.fixture(scope="module")
def problems(tmp_path_factory):
    found = {}
    for name, work in SMALL.items():
        folder = tmp_path_factory.mktemp(name)
        prepare(work, folder, with_model=True)
        found[name] = Problem.load(work, folder)
    return found


@pytest.mark.needs_jit
@pytest.mark.parametrize("name", ["pig", "response", "super-six"])
def test_kernels_by_hand_find_the_certified_answer(problems, name):
    answer = by_hand.start(problems[name], "")()
    assert np.abs(answer.worth() - problems[name].worth).max() < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("name", [p for p in PEERS if p not in ("rollwise_itself", "by_hand")])
def test_every_tool_finds_the_answer_or_says_why_not(problems, name):
    module = peer(name)
    if module.PACKAGE is not None:
        pytest.importorskip({"open_spiel": "pyspiel", "pymdptoolbox": "mdptoolbox"}.get(
            module.PACKAGE, module.PACKAGE))  # fmt: skip
    answers = 0
    for work, problem in zip(SMALL.values(), problems.values(), strict=True):
        for way in module.WAYS:
            if module.refusal(work, way) is not None:
                continue
            run = module.start(problem, way)()
            found = run.worth()
            known = problem.worth[0] if isinstance(found, float) else problem.worth
            assert np.nanmax(np.abs(found - known)) < max(2e-5, run.claimed or 0)
            answers += 1
    assert answers > 0


def test_answers_are_held_against_those_known_from_outside():
    six = Work("super-six-7", "super-six", "super-six", {"sticks": 7})
    graph, worth_, _ = certified_answer(six)
    assert check_known(six, graph.states, worth_) == 20
    with pytest.raises(AssertionError):
        check_known(six, graph.states, worth_ + 1e-3)
    assert check_known(SMALL["response"], graph.states, worth_) == 0


def test_the_history_in_the_repository_can_be_read():
    for entry in history.read():
        assert {"date", "commit", "machine", "ratios", "values"} <= set(entry)
        assert all(ratio > 0 for ratio in entry["ratios"].values())


def test_the_page_on_scale_is_what_was_measured():
    page = scale.PAGE.read_text(encoding="utf-8")
    found = json.loads(scale.MEASURED.read_text(encoding="utf-8"))
    assert scale.refreshed(page, found, found["known"]) == page, "run python -m benchmarks.scale"
    assert {row["way"] for row in found["workers"]} == set(scale.WAYS)


def test_a_later_run_replaces_its_sections_and_adds_new_ones():
    page = "# Results\n\nall\n\n## One\n\nold\n\n## Three\n\nold\n"
    part = "# Results\n\nsome\n\n## Two\n\nnew\n\n## Three\n\nnew\n"
    assert merged(page, part, "Today.") == (
        "# Results\n\nall\n\n## One\n\nold\n"
        "\n## Two\n\nToday.\n\nnew\n"
        "\n## Three\n\nToday.\n\nnew\n"
    )


@pytest.mark.parametrize("seed", [1, 4, 33, 141])
def test_questions_about_random_rules_have_the_figures_of_naive_play(seed):
    """A sample of `python -m benchmarks.attack_questions`: the kinds of games with most choices."""
    asked = Counter()
    assert not list(attacked(seed, 4, [*QUESTIONS], asked))
    assert sum(asked.values()) > 10
