"""What the benchmarks compare with: rewritten algorithms, kernels by hand, history, the page."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pytest
from benchmarks import gallery, history, large, scale
from benchmarks.measure import (
    Row,
    Settings,
    measure,
    prepared,
)
from benchmarks.peers import PEERS, by_hand, peer, plain_python
from benchmarks.peers.decision_process import decision_process, worth
from benchmarks.report import markdown
from benchmarks.results import Results
from benchmarks.work import WORK, Problem, Work, certified_answer, check_known, prepare

from rollwise.builders import build
from rollwise.games.craps import Craps

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
        prepare(work, folder, with_model=False)
        found[name] = Problem.load(work, folder)
    return found


@pytest.mark.parametrize("name", SMALL)
def test_plain_python_finds_the_certified_answer(problems, name):
    found = plain_python.start(problems[name], "")().worth()
    known = problems[name].worth
    if isinstance(found, float):
        assert found == pytest.approx(known[0], abs=1e-8)
    else:
        assert np.abs(found - known).max() < 1e-8


@pytest.mark.needs_jit
@pytest.mark.parametrize("name", ["pig", "response", "super-six"])
def test_kernels_by_hand_find_the_certified_answer(problems, name):
    answer = by_hand.start(problems[name], "")()
    assert np.abs(answer.worth() - problems[name].worth).max() < 1e-13


@pytest.mark.parametrize("name", SMALL)
def test_decision_processes_have_the_answer_for_a_fixed_point(problems, name):
    problem = problems[name]
    process = decision_process(problem)
    known = problem.worth if problem.is_score else 2 * problem.worth - 1
    values = np.append(-known if problem.is_score else known, 0.0)
    backed_up = process.reward + process.probability @ values
    first = np.searchsorted(process.action_state, np.arange(len(values)))
    assert np.abs(np.maximum.reduceat(backed_up, first) - values).max() < 1e-12
    assert np.array_equal(
        worth(problem, values), (1 + known) / 2 if not problem.is_score else known
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [p for p in PEERS if p not in ("rollwise_itself", "by_hand")])
def test_every_tool_finds_the_answer_or_says_why_not(tmp_path, name):
    module = peer(name)
    if module.PACKAGE is not None:
        pytest.importorskip({"open_spiel": "pyspiel", "pymdptoolbox": "mdptoolbox"}.get(
            module.PACKAGE, module.PACKAGE))  # fmt: skip
    settings = Settings(limit=60, share=0.01, turns=1, memory=8, peers=(name,))
    answers = 0
    for number, work in enumerate(SMALL.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        prepare(work, folder, with_model=True)
        problem = Problem.load(work, folder)
        for way in module.WAYS:
            if module.refusal(work, way) is not None:
                continue
            run = module.start(problem, way)()
            found = run.worth()
            known = problem.worth[0] if isinstance(found, float) else problem.worth
            assert np.nanmax(np.abs(found - known)) < max(2e-5, run.claimed or 0)
            answers += 1
    assert answers > 0
    assert settings.peers == (name,)


def test_answers_are_held_against_those_known_from_outside():
    six = Work("super-six-7", "super-six", "super-six", {"sticks": 7})
    graph, worth_, _ = certified_answer(six)
    assert check_known(six, graph.states, worth_) == 20
    with pytest.raises(AssertionError):
        check_known(six, graph.states, worth_ + 1e-3)
    assert check_known(SMALL["response"], graph.states, worth_) == 0


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """One small problem, measured as `make bench` does it."""
    folder = tmp_path_factory.mktemp("measured")
    work = WORK[-2]  # dice blackjack, low=15
    settings = Settings(limit=120, share=0.01, turns=2, peers=("rollwise_itself", "plain_python"))
    facts = prepared(work, folder, settings)
    rows = measure(work, folder, settings, set(), lambda line: None)
    return work, settings, facts, rows


def test_the_page_shows_what_was_measured(measured):
    work, settings, facts, rows = measured
    slow = Row(work.name, "open_spiel", "value-iteration", "OpenSpiel", "value iteration")
    slow.why_not, slow.limit = "didn't finish in 120 s", 120.0
    missing = Row(work.name, "storm", "prism/default", "Storm", "PRISM program, default")
    missing.why_not = "not installed: pip install stormpy"
    results = Results(
        {
            "command": "python -m benchmarks",
            "date": "2026-01-02",
            "commit": "abc",
            "machine": "some machine",
            "load": 0.5,
            "python": "3.11",
            "versions": {"numba": "1"},
            "bandwidth": 1e10,
        },
        settings,
        {work.name: facts},
        [*rows, slow, missing],
        growth=[
            {"family": "pig", "parameter": "target", "size": n, "n_states": 50_000 * n**3,
             "n_outcomes": 1, "seconds": 2.0 * n**3, "runs": 1, "bound": 1e-13,
             "peak": 10**8 + 10**8 * n**3, "peak_before": 10**8}
            for n in (1, 2, 4)
        ] + [{"family": "pig", "parameter": "target", "size": 9, "fault": "ran out of memory"}],
        gallery=[{"game": "craps", **gallery.measured("craps")},
                 {"game": "chess", "fault": "is no game of dice"}],
    )  # fmt: skip
    page = markdown(results, [])
    assert "± " in page
    assert "| OpenSpiel | value iteration |  |  |  | > 120 s |" in page
    assert "- Storm: not installed: pip install stormpy." in page
    assert "- pig: time ∝ states^1.00, memory ∝ states^1.00" in page
    assert "ran out of memory" in page
    craps = build(Craps())
    assert f"| craps | {craps.n_states} | {craps.n_outcomes} | " in page
    assert "| chess | is no game of dice |" in page
    for line in page.splitlines():
        if line.startswith("| rollwise | default"):
            assert line.count("|") == 13
            break
    else:
        pytest.fail("rollwise has no row")


def line(day, pig=8.0, **more):
    return {"date": f"2026-01-{day:02}", "commit": "abc", "machine": "m", "ratios": {"pig": pig},
            "values": {"pig": 0.5}, **more}  # fmt: skip


def test_history_tells_a_regression_from_noise():
    assert "begins it" in history.verdict([])
    assert "no history" in history.verdict([line(1)])
    steady = [line(1, 8.0), line(2, 9.0), line(3, 7.0)]
    assert history.regressions([*steady, line(4, 11.9)]) == []
    assert "No regression" in history.verdict([*steady, line(4, 11.9)])
    (said,) = history.regressions([*steady, line(4, 16.0)])
    assert said.startswith("pig: 16 times the yardstick, 2.00 times the 8")
    assert said in history.verdict([*steady, line(4, 16.0)])
    # One bad day among the earlier ones doesn't hide it.
    assert history.regressions([*steady, line(4, 90.0), line(5, 16.0)])


def test_the_history_in_the_repository_can_be_read():
    for entry in history.read():
        assert {"date", "commit", "machine", "ratios", "values"} <= set(entry)
        assert all(ratio > 0 for ratio in entry["ratios"].values())


def test_the_page_on_scale_is_what_was_measured():
    page = scale.PAGE.read_text(encoding="utf-8")
    found = json.loads(scale.MEASURED.read_text(encoding="utf-8"))
    assert scale.refreshed(page, found, found["known"]) == page, "run python -m benchmarks.scale"
    assert {row["way"] for row in found["workers"]} == set(scale.WAYS)


# ---- known answers of large games

PIGLET = """
[[answer]]
name = "right"
game = "piglet"
parameters = { target = 2 }
win_probability = "4/7"
states = 6
source = "a paper"

[[answer]]
name = "elsewhere"
game = "piglet"
parameters = { target = 2 }
state = { banked = 0, rival = 0, turn = 1 }
win_probability = "0.7143"
source = "a paper"

[[answer]]
name = "wrong"
game = "threes"
target = 7
win_probability = "0.1"
states = 5
certified = 0
source = "nobody"

[[answer]]
name = "saved"
game = "super-six"
parameters = { sticks = 12 }
by_layer = true
save = true
win_probability = "WORTH"
published_core_minutes = "9.5"
source = "a paper"

[[answer]]
name = "none"
game = "chess"
win_probability = "1/2"
source = "nobody"
"""


def test_large_answers_are_found_again_and_kept(tmp_path):
    """Each in a process of its own; and what differs is named."""
    files = {name: tmp_path / name for name in ("answers", "measured", "page")}
    files["answers"].write_text(PIGLET)
    folder = None
    before = "# Results\n\n## Goals\n\n- one\n\n## History\n\nlong\n"
    files["page"].write_text(before)

    def found(only: str) -> tuple[int, list[str]]:
        told: list[str] = []
        given = argparse.Namespace(**files, only=only, limit=120.0, folder=folder)
        return large.run(given, lambda line, **_: told.append(line)), told

    code, told = found("right,elsewhere")
    assert code == 0, told
    assert told[0].startswith("right: as known (")
    assert float(page_rows(files)["`piglet target=2`"][5]) >= 0
    code, told = found("wrong,none")
    assert code == 1
    assert "the win probability is 0." in told[0]
    assert ", and 0.1 is known; there are " in told[0]
    assert " states, and 5 are known; the certified error is " in told[0]
    assert "no game is called 'chess'" in told[1]
    assert set(large.read(files["measured"])) == {"right", "elsewhere", "wrong", "none"}
    page = files["page"].read_text()
    assert page.index("## Goals") < page.index(large.HEADING) < page.index("## History")
    assert page.count("| `piglet target=2` |") == 2
    assert large.refreshed(page, []) == before
    code, told = found("nobody")
    assert code == 2
    assert "there is no such answer" in told[0]


def page_rows(files):
    """The rows of the table of large answers, by their games."""
    rows = [line.split(" | ") for line in files["page"].read_text().splitlines() if "| `" in line]
    return {cells[0].removeprefix("| "): cells for cells in rows}
