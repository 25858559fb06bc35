"""`learn`, `simulate` and `tournament` on the command line."""

from __future__ import annotations

import _thread
import csv
import io
import json
import threading

import numpy as np
import pytest
from cli_runner import output, refusal, run
from stakes import Gammons
from throwing import Runners

from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluation import best_response
from rollwise.answer.references import Policies
from rollwise.derive.changed import Against
from rollwise.games.pig import Pig
from rollwise.learn import Learner

SMALL = ("dice-blackjack", "sides=3", "low=6", "high=7")


def test_learn_prints_the_two_arrays_of_the_source():
    text = output("learn", *SMALL, "--games", "500", "--seed", "1")
    assert "Action learned (rows: mine, columns: theirs; -1: never seen)" in text
    assert "Win rate of that action" in text
    rows = [line for line in text.splitlines() if " | " in line]
    assert len(rows) == 12
    assert "seed 1" in text


def test_learn_as_json_and_csv():
    arguments = ("learn", *SMALL, "--games", "500", "--explore", "20", "--seed", "1")
    document = json.loads(output(*arguments, "--json", "--compare", "--checkpoints", "3"))
    assert document["kind"] == "estimated"
    assert document["games"] == 500
    assert np.array(document["action_grid"]).shape == (6, 6)
    assert np.array(document["estimate_grid"]).shape == (6, 6)
    assert [point["games"] for point in document["checkpoints"]] == [125, 250, 500]
    compared = document["compare"]
    assert compared["loss"] >= -compared["loss_bound"]
    assert sum(compared["reasons"].values()) == len(compared["positions"])
    rows = list(csv.DictReader(io.StringIO(output(*arguments, "--csv"))))
    assert len(rows) == 36
    seen = {(int(row["mine"]), int(row["theirs"])): row for row in rows}
    assert int(seen[0, 0]["visits"]) == 500
    unseen = [row for row in rows if row["visits"] == "0"]
    assert all(row["action"] == "-1" and float(row["win_rate"]) == -1 for row in unseen)
    assert output(*arguments, "--csv") == output(*arguments, "--csv")


def test_workers_are_threads_that_learn_side_by_side():
    """Their number is a part of the question."""
    arguments = ("learn", *SMALL, "--games", "9000", "--seed", "1", "--json")
    one, two = (json.loads(output(*arguments, "--workers", n)) for n in ("1", "2"))
    assert (one["workers"], two["workers"]) == (1, 2)
    assert not np.array_equal(one["rows"], two["rows"])


def test_learn_other_games():
    text = output("learn", "piglet", "target=3", "--games", "200", "--seed", "1", "--compare")
    assert "banked" in text
    assert "loss of the learned policy" in text
    text = output("learn", "craps", "--games", "200", "--seed", "1", "--method", "q-learning")
    assert "by q-learning" in text


@pytest.mark.parametrize("name", ["throws", "stakes", "pig"])
def test_to_one_player_a_game_against_a_policy_is_what_a_best_response_gets(name):
    """Before the first move is drawn: the mean of what it gets moving first and second."""
    game = {"throws": Runners(), "stakes": Gammons(), "pig": Pig(target=8)}[name]
    policies = Policies.of(game)
    policy = policies.find("random")
    against = Against.of(policies.graph, policy)
    found = best_response(policies, policy, starts=[0])
    best = (found.values[0] + found.values_second[0]) / 2
    values = solve_and_certify(against.graph)[0].values
    assert values[0] == pytest.approx(best, abs=1e-9)
    labels, before = against.graph.action_label, policies.graph.action_label
    assert (labels[against.mine] == before[against.action]).all()
    assert len(set(against.action.tolist())) == len(against.action)


def test_learning_to_beat_a_policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("learn", *SMALL, "--games", "4000", "--seed", "1", "--against", "one-die")
    document = json.loads(output(*words, "--save", "mine.csv", "--json"))
    beside = document["against"]
    assert beside["policy"] == "one-die"
    assert 0.5 < beside["gets"] <= beside["best_response"] + 1e-12
    worth = ("--policy", "mine.csv", "--against", "one-die", "--json")
    again = json.loads(output("evaluate", *SMALL, *worth))
    seats = (again["win_probability"], again["win_probability_second"])
    assert sum(seats) / 2 == pytest.approx(beside["gets"], abs=1e-12)
    assert "a best response has" in output(*words)
    assert refusal(*words, "--compare").strip().endswith("which --against isn't")
    assert "must end in .csv or .parquet" in refusal(*words, "--save", "mine.npz")
    alone = ("learn", "threes", "dice=2", "--games", "9", "--against", "random")
    assert "nobody to learn against" in refusal(*alone)


def test_a_run_that_goes_on_ends_as_an_unbroken_one(tmp_path):
    first, second, whole = (str(tmp_path / f"{name}.npz") for name in ("a", "b", "c"))
    output("learn", *SMALL, "--games", "300", "--seed", "1", "--save", first)
    output("learn", *SMALL, "--games", "800", "--resume", first, "--save", second)
    output("learn", *SMALL, "--games", "800", "--seed", "1", "--save", whole)
    with np.load(second) as one, np.load(whole) as other:
        assert all(np.array_equal(one[name], other[name]) for name in one.files)
    text = output("simulate", *SMALL, "--policy", second, "--against", "optimal", "--games", "100")
    assert "b.npz wins" in text
    refused = refusal("learn", *SMALL, "--games", "800", "--resume", second)
    assert "holds 800 games already" in refused
    refused = refusal("learn", *SMALL, "--games", "900", "--resume", second, "--seed", "2")
    assert "--seed 1, not 2" in refused
    refused = refusal("learn", "dice-blackjack", "--games", "900", "--resume", second)
    assert "was learned on" in refused


@pytest.mark.parametrize(
    "arguments",
    [
        ("learn", *SMALL),
        ("learn", *SMALL, "--games", "0"),
        ("learn", *SMALL, "--games", "-5"),
        ("learn", *SMALL, "--games", "5", "--explore", "0"),
        ("learn", *SMALL, "--games", "5", "--explore", "-1"),
        ("learn", *SMALL, "--games", "5", "--explore", "nan"),
        ("learn", *SMALL, "--games", "5", "--workers", "0"),
        ("learn", *SMALL, "--games", "5", "--seed", "-1"),
        ("learn", *SMALL, "--games", "5", "--method", "luck"),
        ("learn", *SMALL, "--games", "5", "--checkpoints", "0"),
        ("learn", *SMALL, "--games", "5", "--csv", "--json"),
        ("learn", *SMALL, "--games", "5", "--save", "nowhere/at/all.npz"),
        ("learn", *SMALL, "--games", "5", "--resume", "nowhere.npz"),
        ("learn", "dice-blackjack", "low=9", "high=8", "--games", "5"),
        ("learn", "dice-blackjack", "sides=0", "--games", "5"),
        ("learn", "dice-blackjack", "dice=0", "--games", "5"),
        ("learn", "dice-blackjack", "sides=1000", "dice=20", "--games", "5"),
        ("simulate", *SMALL, "--policy", "hold-at-20"),
        ("simulate", *SMALL, "--policy", "one-die", "--games", "0"),
        ("simulate", *SMALL, "--policy", "one-die", "--workers", "0"),
        ("simulate", *SMALL, "--policy", "one-die", "--seed", "-1"),
        ("simulate", *SMALL, "--policy", "0.5*one-die+luck"),
        ("simulate", *SMALL, "--policy", "nothing.csv"),
        ("simulate", "craps", "--policy", "random", "--against", "random"),
        ("tournament", *SMALL, "--policies", "one-die"),
        ("tournament", *SMALL, "--policies", "one-die,one-die"),
        ("tournament", *SMALL, "--policies", "one-die,luck"),
        ("tournament", *SMALL, "--policies", "one-die,random", "--games", "1"),
    ],
    ids=" ".join,
)
def test_wrong_use_is_refused_in_one_line(arguments):
    refusal(*arguments)


def test_simulate_for_people_and_programs():
    arguments = ("simulate", *SMALL, "--policy", "one-die", "--against", "all-dice", "--games",
                 "2000", "--seed", "1")  # fmt: skip
    text = output(*arguments)
    assert "95 % confidence interval" in text
    assert "(exact " in text
    document = json.loads(output(*arguments, "--json"))
    assert document["games"] == 2000
    assert document["disagreements"] == []
    assert [side["games"] for side in document["sides"]] == [1000, 1000]
    rate = document["sides"][0]["win_rate"]
    assert abs(rate["mean"] - rate["exact"]) < 5 * rate["standard_error"]
    document = json.loads(output(*arguments, "--json", "--no-exact"))
    assert document["sides"][0]["win_rate"]["exact"] is None


def test_a_game_told():
    text = output("simulate", *SMALL, "--policy", "optimal", "--tell", "--seed", "2")
    assert text.splitlines()[0].endswith("seed 2: A plays optimal, B plays optimal")
    assert text.splitlines()[1].startswith("  A throws ")
    assert text.rstrip().endswith(("wins", "loses"))
    document = json.loads(
        output("simulate", *SMALL, "--policy", "optimal", "--tell", "--seed", "2", "--json")
    )
    assert document["moves"][-1]["next_state"] is None


def test_a_tournament():
    document = json.loads(
        output("tournament", *SMALL, "--policies", "random,optimal,one-die", "--json")
    )
    assert document["kind"] == "certified"
    assert document["standings"][0]["policy"] == "optimal"
    text = output("tournament", *SMALL, "--policies", "random,optimal", "--no-exact", "--games",
                  "500", "--seed", "1")  # fmt: skip
    assert "500 games a pair, seed 1" in text


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_keeps_what_was_learned(tmp_path, monkeypatch, workers):
    kept = tmp_path / "kept.npz"
    play = Learner.play

    def interrupted(self, games, **options):
        threading.Timer(0.3, _thread.interrupt_main).start()
        play(self, games, **options)

    arguments = ("learn", *SMALL, "--seed", "1", "--workers", workers)
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "play", interrupted)
        done = run(*arguments, "--games", str(10**10), "--save", str(kept))
    assert done.returncode == 130
    with np.load(kept) as archive:
        games = json.loads(archive["facts"].tobytes())["games"]
    assert f"{kept} holds {games:,} games" in done.stderr
    goal, again, whole = str(games + 10_000), str(tmp_path / "b.npz"), str(tmp_path / "c.npz")
    output("learn", *SMALL, "--games", goal, "--resume", str(kept), "--save", again)
    output(*arguments, "--games", goal, "--save", whole)
    with np.load(again) as one, np.load(whole) as other:
        assert all(np.array_equal(one[name], other[name]) for name in one.files)
