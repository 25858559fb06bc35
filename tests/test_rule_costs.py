"""What is printed of a rule of thumb is what evaluating it gives, to the last digit."""

from __future__ import annotations

import json

import pytest
from cli_runner import output, run
from hypothesis import given, settings
from hypothesis import strategies as st

import rollwise
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.games import create, find
from rollwise.graph.view import sign_of
from rollwise.thumb.sentences import OF_THE_GRAPH

# A game for one or two, with or without throws: what its parameters may be.
FAMILIES = {
    "pig": {"target": st.integers(35, 50), "sides": st.integers(3, 6)},
    "two-dice-pig": {"target": st.integers(20, 26)},
    "super-six": {"sticks": st.integers(5, 9)},
    "dice-blackjack": {"low": st.integers(6, 7), "high": st.integers(8, 10), "dice": st.just(2)},
    "threes": {"dice": st.integers(2, 3)},
    "shut-the-box": {"tiles": st.integers(4, 6)},
    "bear-off": {"checkers": st.integers(2, 3)},
    "two-sided-bear-off": {"checkers": st.just(2), "points": st.integers(3, 4)},
}


@pytest.mark.parametrize("name", FAMILIES)
@given(data=st.data())
@settings(max_examples=4, deadline=None)
def test_what_is_printed_is_what_evaluate_finds(name, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    drawn = data.draw(st.fixed_dictionaries(FAMILIES[name]))
    asked = [name, *(f"{parameter}={value}" for parameter, value in drawn.items())]
    search = [
        f"--numbers={data.draw(st.integers(1, 3))}",
        f"--seed={data.draw(st.integers(0, 99))}",
    ]
    search.append(f"--evaluations={data.draw(st.integers(1, 60))}")
    printed = output("thumb", *asked, *search, "--save", "mine.json", cwd=folder)
    last = next(x for x in reversed(printed.splitlines()) if x.lstrip()[:1].isdecimal())
    policies = Policies.of(create(find(name), {key: str(value) for key, value in drawn.items()}))
    cells = _costs(policies, str(folder / "mine.json"))
    assert last.split()[1 : 1 + len(cells)] == cells

    asked_of = ["evaluate", *asked, "--json", "--policy"]
    if policies.graph.players == 1:
        best = json.loads(output(*asked_of, "optimal", cwd=folder))["value"]
        mine = json.loads(output(*asked_of, "mine.json", cwd=folder))["value"]
        said = [f"{sign_of(policies.graph.objective) * (best - mine):z.4f}"]
        assert cells == said
    else:
        said = json.loads(output(*asked_of, "mine.json", "--against", "optimal", cwd=folder))
        mean = (said["win_probability"] + said["win_probability_second"]) / 2
        assert cells[0] == f"{50 - 100 * mean:z.4f}"

    written_out = run("thumb", *asked, *search, "--python", cwd=folder)
    if written_out.returncode:  # it prefers actions by what rules have no words for
        preferred = json.loads((folder / "mine.json").read_text())["rule"][-1]["most"]
        assert any(word in " ".join(preferred) for word in OF_THE_GRAPH)
        assert "which its rule sheet doesn't say" in written_out.stderr
        return
    told: dict = {}
    exec(written_out.stdout, {"policy": rollwise.game.policy}, told)
    own = type(policies.game)
    written = type("Own", (own,), told)(**policies.game.parameters)
    assert _costs(Policies(build(written), written), "rule-of-thumb") == cells


def _costs(policies: Policies, reference: str) -> list[str]:
    """What a policy loses, as `rollwise thumb` prints it."""
    graph, best = policies.graph, policies.solution.value
    policy = policies.find(reference)
    if graph.players == 1:
        found = evaluate(policies, policy, starts=[0]).values[0]
        return [f"{sign_of(graph.objective) * (best - found):z.4f}"]
    found = evaluate(policies, policy, "optimal", starts=[0])
    first = 50 * (best - float(found.values[0]))
    second = 50 * (-best - float(found.values_second[0]))
    response = best_response(policies, policy, starts=[0]).exploitability()
    percent = [f"{number:z.4f}" for number in ((first + second) / 2, first, second)]
    return [*percent, f"{response:z.4f}"]
