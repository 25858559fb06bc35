"""What the benchmarks compare with: rewritten algorithms, kernels by hand, history, the page."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks import gallery, growth, history, large, memory, report, scale, trace, tricks
from benchmarks.goals import goals
from benchmarks.measure import (
    Row,
    Settings,
    Worker,
    WrongAnswer,
    measure,
    prepared,
    require_agreement,
)
from benchmarks.peers import PEERS, by_hand, open_spiel, peer, plain_python
from benchmarks.peers.decision_process import decision_process, worth
from benchmarks.report import markdown
from benchmarks.results import Results
from benchmarks.work import WORK, Problem, Work, certified_answer, check_known, find_work, prepare

import rollwise
from rollwise.builders import build
from rollwise.games import available
from rollwise.games.craps import Craps
from rollwise.games.super_six import SuperSix
from rollwise.machine.switches import TRICKS

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


def test_kernels_by_hand_are_for_two_games():
    assert [work.name for work in WORK if by_hand.refusal(work, "") is not None] == [
        "threes",
        "blackjack-15",
        "blackjack-500",
    ]


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


def test_open_spiel_reads_its_own_states():
    found = open_spiel.PIG.match("Scores: 3 14, Turn total: 15\nCurrent player: 1\n")
    assert found is not None
    assert found.groups() == ("3", "14", "15", "1")


def test_answers_are_held_against_those_known_from_outside():
    six = Work("super-six-7", "super-six", "super-six", {"sticks": 7})
    graph, worth_, _ = certified_answer(six)
    assert check_known(six, graph.states, worth_) == 20
    with pytest.raises(AssertionError):
        check_known(six, graph.states, worth_ + 1e-3)
    assert check_known(SMALL["response"], graph.states, worth_) == 0


def test_of_a_problem_whose_figures_alone_are_known_nothing_is_checked():
    forty = find_work("super-six-40")
    graph, worth_, _ = certified_answer(forty)
    assert check_known(forty, graph.states, worth_) == 0


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """One small problem, measured as `make bench` does it."""
    folder = tmp_path_factory.mktemp("measured")
    work = WORK[-2]  # dice blackjack, low=15
    settings = Settings(limit=120, share=0.01, turns=2, peers=("rollwise_itself", "plain_python"))
    facts = prepared(work, folder, settings)
    rows = measure(work, folder, settings, set(), lambda line: None)
    return work, settings, facts, rows


def test_tools_are_measured_in_turn(measured):
    _, _, facts, rows = measured
    assert [row.peer for row in rows] == ["rollwise_itself", "plain_python"]
    assert all(row.finished and row.peak > 0 for row in rows)
    assert facts["n_states"] == 225
    assert rows[0].runs[0]["claimed"] < 1e-14
    assert rows[1].runs[0]["error"] < 1e-13
    assert rows[1].runs[0]["compared"] == 225


def test_a_tool_that_is_missing_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.measure.installed", lambda module: None)
    settings = Settings(peers=("quantecon",))
    rows = measure(WORK[0], tmp_path, settings, set(), lambda line: None)
    assert {row.why_not for row in rows} == {"not installed: pip install quantecon"}
    assert not any(row.finished for row in rows)


def test_a_kernel_by_hand_that_disagrees_ends_the_run():
    for error, fine in ((1e-14, True), (1e-3, False), (float("nan"), False)):
        row = Row("pig-25", "by_hand", "", "by hand", "", [{"error": error}])
        if fine:
            require_agreement([row])
        else:
            with pytest.raises(WrongAnswer, match="pig-25"):
                require_agreement([row])


def test_a_problem_that_memory_is_too_small_for_is_left_out(tmp_path):
    settings = Settings(limit=60, memory=0.05, peers=("plain_python",))
    assert "fault" in prepared(WORK[0], tmp_path, settings)


def test_a_tool_that_is_too_slow_is_ended(tmp_path):
    worker = Worker(["this_module_does_not_exist"])
    assert "this_module_does_not_exist" in worker.hear(30)["fault"]
    worker.stop()
    slow = Worker(["timeit", "-n1", "-r1", "import time; time.sleep(60)"])
    assert slow.hear(0.2) == {"fault": "didn't finish in 0 s", "slow": True}
    slow.stop()
    assert slow.process.returncode != 0


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


def test_ratios_are_those_to_the_yardsticks():
    def row(tool, seconds, work="pig-25"):
        run = {"seconds": {"solve": seconds}, "error": 0.0, "compared": 2, "claim": "",
               "claimed": None}  # fmt: skip
        return Row(work, tool, "", tool, "", [run, run])

    results = Results(
        {"date": "2026-01-02", "commit": "abc", "machine": "m", "versions": {}},
        Settings(),
        {"pig-25": {"start": 0.5}, "super-six-7": {"start": 0.8}},
        [
            row("rollwise_itself", 0.6),
            row("by_hand", 0.2),
            row("rollwise_itself", 0.01, "super-six-7"),
            row("by_hand", 0.0001, "super-six-7"),  # too short for a yardstick
        ],
        rates={
            "learning": [
                {"name": "plain Python", "rate": 1.0},
                {"name": "a loop by hand", "rate": 30.0},
                {"name": "rollwise, counts", "rate": 20.0},
            ]
        },
        commands=[
            {"command": "python -c 'import numba, numpy'", "again": 0.5},
            {"command": "rollwise solve pig", "again": 2.0},
        ],
    )
    assert results.ratios == pytest.approx(
        {"pig-25": 3.0, "learning": 1.5, "solve pig / import numba": 4.0}
    )
    assert results.history_line["values"] == {"pig-25": 0.5, "super-six-7": 0.8}


def test_goals_are_held_against_what_was_measured():
    def row(work, tool, seconds, claimed=None):
        run = {"seconds": {"solve": seconds}, "error": 0.0, "compared": 2, "claim": "",
               "claimed": claimed}  # fmt: skip
        return Row(work, tool, "", tool, "", [run])

    assert Settings(limit=30, patience=45).limit_of("pig-100", "open_spiel") == 45
    assert Settings(limit=30, patience=45).limit_of("pig-100", "quantecon") == 30
    assert Settings(limit=60, patience=45).limit_of("pig-100", "open_spiel") == 60
    slow = Row("pig-100", "open_spiel", "", "OpenSpiel", "", limit=45)
    slow.why_not = "didn't finish in 45 s"
    results = Results(
        {},
        Settings(limit=30),
        {"pig-100": {}, "pig-100-response": {}},
        [
            row("pig-100", "rollwise_itself", 0.2),
            row("pig-100", "by_hand", 0.025),
            slow,
            row("pig-100-response", "rollwise_itself", 0.5),
            row("pig-100-response", "storm", 1.0),  # claims nothing
            row("pig-100-response", "storm", 2.0, 1e-6),
        ],
        commands=[{"command": "rollwise solve pig", "again": 1.2, "first": {"fault": "too slow"}}],
    )
    said = "\n".join(goals(results))
    assert "| pig-100, times the kernel by hand | at most 6 | 4 | 8.0 | not reached |" in said
    assert "sound method | at least 20 |  | 4.0 | not reached |" in said
    assert "more than 225: it didn't finish | open |" in said
    assert "again | at most 0.45 s |  | 1.20 s | not reached |" in said
    assert "ever | at most 7.0 s |  | too slow | not reached |" in said
    assert list(goals(Results({}, Settings()))) == []


def test_a_part_measured_again_takes_its_place():
    page = (
        "# Results\n\nall\n\n## Goals\n\n| a | 1 |\n| b | 2 |\n\n## The same work\n\nerrors\n"
        "\n### pig\n\n2 s\n\n### threes\n\n3 s\n\n## Whole commands\n\nslow\n"
        "\n## History\n\nlong\n"
    )
    part = (
        "# Results\n\n## Goals\n\n| b | 3 |\n\n## The same work\n\nerrors\n\n### pig\n\n1 s\n"
        "\n## Whole commands\n\nquick\n\n## History\n\nlonger\n"
    )
    said = report.merged(page, part, "Later.")
    wanted = page.replace("| b | 2 |", "| b | 3 |").replace("2 s", "Later.\n\n1 s")
    assert said == wanted.replace("slow", "Later.\n\nquick").replace("long", "longer")


def test_the_newest_line_of_history_has_what_was_measured_again(tmp_path):
    path = tmp_path / "history.jsonl"
    history.append(line(1, 8.0), path)
    history.append(line(2, 20.0), path)
    history.amend(line(3, 9.0), path)
    assert [one["ratios"]["pig"] for one in history.read(path)] == [8.0, 9.0]
    assert [one["date"] for one in history.read(path)] == ["2026-01-01", "2026-01-02"]


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


def test_history_sees_a_changed_answer_and_takes_new_work():
    changed = line(2, values={"pig": 0.5000001})
    assert "the answer is 0.5000001, and was 0.5" in history.regressions([line(1), changed])[0]
    new = line(2, ratios={"pig": 8.0, "chess": 99.0})
    assert history.regressions([line(1), new]) == []


def test_history_is_kept_and_shown(tmp_path, capsys, monkeypatch):
    path = tmp_path / "history.jsonl"
    for entry in (line(1), line(2, 20.0)):
        history.append(entry, path)
    assert [json.loads(text) for text in path.read_text().splitlines()] == history.read(path)
    monkeypatch.setattr(sys, "argv", ["history", str(path)])
    assert history.main() == 1
    shown = capsys.readouterr().out
    assert "| 2026-01-02 | abc | m | 20 |" in shown
    assert "Regressions:\n- pig: 20 times" in shown


def test_the_history_in_the_repository_can_be_read():
    for entry in history.read():
        assert {"date", "commit", "machine", "ratios", "values"} <= set(entry)
        assert all(ratio > 0 for ratio in entry["ratios"].values())


def test_the_gallery_finds_every_game_by_itself(monkeypatch):
    asked = []

    def ask(arguments, limit):
        asked.append(arguments)
        return {"fault": "not now"}

    monkeypatch.setattr(gallery, "ask", ask)
    found = gallery.rows(Settings(memory=3.0), lambda line: None)
    assert [row["game"] for row in found] == list(available())
    assert asked == [["benchmarks.gallery", name, "3.0"] for name in available()]


@pytest.mark.parametrize("slow", [0.0, 40.0])
def test_of_no_size_the_first_run_counts(monkeypatch, slow):
    """A large size is run no less than a small one is: once to begin with, and some more."""
    sizes, clock = [], iter(range(0, 10**6, int(slow) or 1))

    def solved(family, size):
        sizes.append(size)
        return {"n_states": 1}

    monkeypatch.setattr(growth, "solved", solved)
    monkeypatch.setattr(growth.time, "perf_counter", lambda: next(clock))
    said = growth.measured(growth.FAMILIES["pig"], 50)
    assert sizes == [growth.FAMILIES["pig"].warm, 50] + said["runs"] * [50]
    assert said["runs"] == (growth.LEAST_RUNS if slow else 3)


def test_exponents_are_those_of_a_power():
    states = [10_000, 40_000, 160_000, 640_000]
    assert growth.fit(states, [n**1.5 for n in states]) == pytest.approx(1.5)
    assert growth.fit([10_000, 40_000], [1, 2]) is None  # one of them is too small to count


def test_the_model_of_large_games_is_the_one_that_they_were_made_with():
    states = [10_000, 40_000, 300_000, 5_000_000]
    rows = [{"states": n, "seconds": 0.2 + 2e-6 * n**1.2, "peak": 10**8 + 90 * n} for n in states]
    model = scale.fitted(rows)
    assert [model[name] for name in "tcpmb"] == pytest.approx([0.2, 2e-6, 1.2, 1e8, 90], rel=1e-4)
    took, held = scale.predicted(model, 7e6)
    assert (took, held) == pytest.approx((0.2 + 2e-6 * 7e6**1.2, 1e8 + 90 * 7e6), rel=1e-4)


def test_the_page_on_scale_is_what_was_measured():
    page = scale.PAGE.read_text(encoding="utf-8")
    found = json.loads(scale.MEASURED.read_text(encoding="utf-8"))
    assert scale.refreshed(page, found, found["known"]) == page, "run python -m benchmarks.scale"
    assert {row["way"] for row in found["workers"]} == set(scale.WAYS)


def test_growth_says_why_there_is_no_picture(tmp_path, monkeypatch):
    pytest.importorskip("plotly")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("rollwise.plot.pages.find_browser", no_browser)
    rows = [{"family": "pig", "parameter": "target", "size": 9, "n_states": 10, "seconds": 1.0,
             "peak": 2, "peak_before": 1}]  # fmt: skip
    assert "no browser" in growth.draw(rows, tmp_path / "growth.svg")
    assert growth.draw(rows, tmp_path / "growth.html") == ""
    assert "<html" in (tmp_path / "growth.html").read_text()


def no_browser():
    from rollwise.errors import UsageError

    raise UsageError("there is no browser")


def test_peak_memory_counts_what_was_touched():
    # In a process of its own: this one may have held more before.
    run = """
import numpy as np
from benchmarks import memory
before = memory.peak_bytes()
held = np.ones(2**24)
print((memory.peak_bytes() - before) / held.nbytes)
"""
    found = subprocess.run(
        [sys.executable, "-c", run],
        cwd=Path(memory.__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert 0.5 < float(found.stdout) < 2


def test_every_work_item_has_a_game_and_a_name():
    names = [work.name for work in WORK]
    assert len(set(names)) == len(names)
    for work in WORK:
        assert work.rules().parameters | work.parameters == work.rules().parameters
    assert Path(history.FILE).parent.name == "benchmarks"


def test_what_a_trick_brings_is_told_beside_all_of_them():
    def row(trick, *runs):
        return tricks.row("pig", "command", trick, list(runs))

    found = [
        row(tricks.ALL, {"seconds": 0.3, "cpu": 0.5}, {"seconds": 0.4, "cpu": 0.2}),
        row("prefetch", {"seconds": 0.6, "cpu": 0.3}),
        row("garbage", {"seconds": 0.6, "cpu": 0.3}, {"fault": "too slow"}),
    ]
    page = "\n".join(report.trick_tables(Results({}, Settings(), tricks=found)))
    assert "| pig | command | (all tricks) | 300 ms | 200 ms | 2 |" in page
    assert "| pig | command | without prefetch | 600 ms (2.00) | 300 ms (1.50) | 1 |" in page
    assert "| pig | command | without garbage | too slow |" in page
    assert list(report.trick_tables(Results({}, Settings()))) == []


def test_every_trick_is_measured():
    measured = {*tricks.SOLVING, *tricks.STARTING, *tricks.COMPILING, *tricks.SMALL}
    assert measured == set(TRICKS)


TRACED = {
    "one.py": """
from package import two

def numbers():
    yield from (x + 1 for x in two.gives())

def work():
    helper()
    return two.total(numbers())

def helper():
    pass
""",
    "two.py": """
import package.one

def at_import():
    pass

at_import()

def gives():
    yield 1
    yield 2

def total(given):
    return sum(given) + len([package.one.helper() for _ in range(3)])
""",
}


def test_the_tracer_counts_calls_from_file_to_file(tmp_path, monkeypatch):
    package = tmp_path / "package"
    package.mkdir()
    for name, text in {"__init__.py": "", **TRACED}.items():
        (package / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    tracer = trace.Tracer(package)
    before = sys.getprofile()
    sys.setprofile(tracer)
    try:
        from package.one import work

        assert work() == 8
    finally:
        sys.setprofile(before)
    told = tracer.report()
    assert dict(told["called"]) == {
        "one.py:work": 1,
        "one.py:numbers": 1,
        "one.py:helper": 4,
        "two.py:gives": 1,
        "two.py:total": 1,
    }
    assert (told["files"], told["functions"]) == (2, 5)
    # work > total > numbers > gives, and total > helper three times
    assert told["changes"] == 1 + 1 + 1 + 3
    assert sorted(told["between"]) == [["one.py", "two.py", 2], ["two.py", "one.py", 4]]


@pytest.mark.slow
def test_a_command_is_traced():
    told = trace.trace("solve piglet target=3")
    assert told["functions"] >= told["files"] > 5
    assert told["changes"] == sum(times for _, _, times in told["between"])
    page = "\n".join(report.trace_table(Results({}, Settings(), traces=[{"command": "x", **told}])))
    assert f"| `x` | {told['files']} | {told['functions']} | {told['changes']} |" in page
    with pytest.raises(RuntimeError, match="no game is called"):
        trace.trace("solve no-such-game")


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


@pytest.mark.needs_jit
def test_a_large_answer_is_saved_in_a_folder(tmp_path):
    known = rollwise.solve(SuperSix(sticks=12)).win_probability
    files = {name: tmp_path / name for name in ("answers", "measured", "page")}
    files["answers"].write_text(PIGLET.replace("WORTH", f"{known:.10f}"))
    files["page"].write_text("# Results\n")
    given = argparse.Namespace(**files, only="saved", limit=120.0, folder=tmp_path / "kept")
    assert large.run(given, lambda *_, **__: None) == 0
    kept = rollwise.open_layers(tmp_path / "kept" / "saved", SuperSix(sticks=12))
    assert kept.win_probability == pytest.approx(known, abs=1e-12)
    row = page_rows(files)["`super-six sticks=12 --by-layer --save FOLDER`"]
    assert row[6] == "9.5"
    given.folder = None  # a temporary one
    assert large.run(given, lambda *_, **__: None) == 0


def page_rows(files):
    """The rows of the table of large answers, by their games."""
    rows = [line.split(" | ") for line in files["page"].read_text().splitlines() if "| `" in line]
    return {cells[0].removeprefix("| "): cells for cells in rows}


def test_a_game_for_three_is_found_again(tmp_path):
    entry = {"game": "pig", "parameters": {"players": 3, "target": 2}, "win_probability": "36/43"}
    found = large.solved(entry, tmp_path)
    assert found["states"] == 1
    assert not large.differences(entry, found)
    assert large.differences({**entry, "win_probability": "0.5"}, found)


def test_large_answers_are_written_as_they_are_read():
    for name, entry in large.answers().items():
        assert re.fullmatch("[a-z0-9-]+", name)
        assert entry["game"] in available()
        assert entry["source"]
        assert sum(figure in entry for figure in large.FIGURES) == 1
        known = {
            "name",
            "game",
            "parameters",
            "target",
            "contest",
            "by_layer",
            "keep",
            "save",
            "published_core_minutes",
            "state",
            "max_states",
        }
        assert set(entry) <= known | {*large.FIGURES, "states", "certified", "source"}
        page = "\n".join(large.section({name: entry}, large.read()))
        assert not page or large.title(entry) in page
