"""The server: its documents, what it refuses, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import html
import http.client
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from itertools import count
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.little_games import Faces, PassAChip
from tests.small_games import SMALL

import rollwise
from rollwise.coach import read_records
from rollwise.coach.tally import policy_losses
from rollwise.documents.answers import advice_document
from rollwise.documents.games import games_document
from rollwise.documents.model import documents_of, encode, html_of, union_of
from rollwise.documents.served import start_document
from rollwise.documents.solved import solved_document
from rollwise.errors import UnknownState
from rollwise.games import available, create, find
from rollwise.page import page
from rollwise.parameters import typed
from rollwise.serve.app import MOST_ADDRESS, MOST_BODY, make_app
from rollwise.serve.worker import PLOTTED, reply
from rollwise.serve.workers import Limits, Worker, offer

EXAMPLES = Path(__file__).parent.parent / "examples"
PIG = "game=pig&parameter=target=5"
START = "&state=banked=0,rival=0,turn=0"
ENDLESS = """
from dataclasses import dataclass
from rollwise import Game, parameter

@dataclass(frozen=True)
class Slow(Game):
    \"\"\"<img src=x onerror=alert(1)>\"\"\"
    name = "slow"
    fields = ("n",)
    players = 1
    size: int = parameter(3, about="<b>bold</b>")

    def start(self):
        while True:
            pass
"""


def client_of(names, history=None, **limits):
    app = make_app(offer(names), Limits(**limits), history=history)
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


def solved(client, game="pig", **parameters):
    answer = client.post("/api/solve", json={"game": game, "parameters": parameters})
    words = "&".join([f"game={game}", *(f"parameter={n}={x}" for n, x in parameters.items())])
    end = time.monotonic() + 60
    while answer.status_code == 202 and time.monotonic() < end:
        time.sleep(0.02)
        answer = client.get(f"/api/solve?{words}")
    return answer.json()


@pytest.fixture(scope="module")
def client():
    with client_of(["pig", "piglet"], rate=1e6) as client:
        assert solved(client, target=5)["state"] == "solved"
        yield client


@pytest.fixture(scope="module")
def games():
    with client_of(
        ["royal-ur", "hypergammon", "craps", "pass-the-pigs", "threes", "snakes-and-ladders"],
        rate=1e6,
    ) as found:
        yield found


def test_the_documents_are_those_of_the_commands(client):
    solution = rollwise.solve(find("pig")(target=5))
    games = games_document([find("pig"), find("piglet")])
    assert client.get("/api/games").json() == json.loads(encode(games))
    assert client.get("/api/games/pig").json() == json.loads(encode(games))["games"][0]
    found = client.get(f"/api/solve?{PIG}").json()["solution"]
    expected = json.loads(encode(solved_document(solution)))
    assert found.keys() == expected.keys()
    assert found["value"] == expected["value"]
    advice = solution.advise({"banked": 0, "rival": 0, "turn": 0})
    expected = json.loads(encode(advice_document(solution, advice)))
    assert client.get(f"/api/advise?{PIG}{START}").json() == expected
    blocks = advice_document(solution, advice).blocks()
    assert client.get(f"/advice?{PIG}{START}").text == html_of(blocks, "advice")
    assert "the mover at the start" in client.get(f"/answer?{PIG}").text
    rows = client.get(f"/api/table?{PIG}&limit=2&offset=1").json()["rows"]
    assert rows == json.loads(solution.table()[1:3].write_json())


def test_a_game_with_hidden_dice_is_served():
    with client_of(["liars-dice"]) as client:
        found = solved(client, "liars-dice", sides=3)
        assert found["solution"]["schema"] == "rollwise/solve/hidden/1"
        words = "game=liars-dice&parameter=sides=3"
        assert client.get(f"/api/start?{words}").json()["boards"][0]["cells"]
        page = client.get(f"/page?{words}")
        assert "Liar&#x27;s Dice" in page.text
        assert page.headers["content-security-policy"]
        assert "the first player" in client.get(f"/answer?{words}").text
        assert client.get(f"/report?{words}").text.count("</tr>") > 10
        refused = client.get(f"/api/table?{words}")
        assert refused.status_code == 400
        assert "liars-dice has hidden dice" in refused.json()["error"]
        # no position is asked for in vain, and a person sees no links to pictures
        assert "a server has /page" in client.get(f"/api/advise?{words}").json()["error"]
        shown = client.get(f"/plot?{words}", headers={"accept": "text/html"}).text
        assert "Liar&#x27;s Dice</h1>" in shown
        assert "kind=value" not in shown


def test_rules_of_thumb_are_opponents(client):
    solution = rollwise.solve(find("pig")(target=5))
    losses = client.get(f"/api/opponents?{PIG}").json()["losses"]
    assert losses == pytest.approx(policy_losses(solution), abs=1e-12)
    assert {"random", "hold-at-20"} <= losses.keys()
    asked = client.get(f"/api/position?{PIG}&state=banked=0,rival=0,turn=3").json()
    taken = {one["action"]: one["policies"]["hold-at-20"] for one in asked["choices"]}
    assert taken == {"roll": 1.0, "hold": 0.0}


def test_an_answer_by_layers_has_the_same_boards_and_tables():
    game = find("royal-ur")(pieces=1)
    layered, whole = rollwise.solve_by_layers(game), rollwise.solve(game)
    rows = [*layered.space.states[:5].tolist(), [0, 0, 0, 0], [99, 0, 0, 0], [-1, 0, 0, 0]]
    for question in (
        {"ask": "boards", "rows": rows},
        {"ask": "table_rows", "offset": 0, "limit": 5, "where": None},
    ):
        first, second = (json.loads(reply(one, question)) for one in (layered, whole))
        assert first.keys() == second.keys()
        same = ("boards", "fields", "n", "total")
        assert [first.get(key) for key in same] == [second.get(key) for key in same]
    drawn = {"ask": "plot", "kind": "graph", "x": None, "y": None, "where": None, "state": None}
    assert "one decision" in reply(layered, drawn)


def test_boards_are_of_positions_only(client):
    asked = [[4, 4, 0], [4, 4, 1], [5, 0, 0], [0, 0, 0]]
    found = client.post(f"/api/boards?{PIG}", json={"rows": asked}).json()["boards"]
    solution = rollwise.solve(find("pig")(target=5))
    known = {state.fields for state in solution.graph.view}
    assert [one["at"] for one in found] == [row for row in asked if tuple(row) in known]
    assert found[-1]["cells"] == client.get(f"/api/position?{PIG}{START}").json()["cells"]
    for body in ({}, [], {"rows": 3}, {"rows": [[1], [1, 2]]}, {"rows": [["a"]]}, {"rows": [[1]]}):
        answer = client.post(f"/api/boards?{PIG}", json=body)
        assert answer.status_code == 400, body
        assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize("parameters", [{"target": 5}, {"target": 4, "players": 3}])
def test_the_coach_page_is_the_mailed_one(client, parameters):
    """But for what it may ask of the server, and for the link home."""
    assert solved(client, **parameters)["state"] == "solved"
    words = "".join(f"&parameter={name}={value}" for name, value in parameters.items())
    solution = rollwise.solve(find("pig")(**parameters))
    served = client.get(f"/page?game=pig{words}").text
    made = page(solution, api={"keeps": False, "has_file": False})
    assert re.sub("<p class='home'>.*?</p>", "", served) == made


def test_a_game_is_played_by_positions(client):
    """From the start to an end, by the API alone; values are those of the solution."""
    solution = rollwise.solve(find("pig")(target=5))
    place, moves = {"state": {"banked": 0, "rival": 0, "turn": 0}}, 0
    while place is not None:
        state = ",".join(f"{name}={number}" for name, number in place["state"].items())
        here = client.get(f"/api/position?{PIG}&state={state}").json()
        msgspec.convert(here, union_of(documents_of("serve")))
        assert here["state"] == place["state"]
        assert here["value"] == solution.values[solution.graph.find(place["state"])]
        advice = client.get(f"/api/advise?{PIG}&state={state}").json()["actions"]
        keys = ("action", "value", "cost", "best")
        choices = [{key: one[key] for key in keys} for one in here["choices"]]
        assert choices == [{key: one[key] for key in keys} for one in advice]
        action = quote(here["choices"][-1]["action"])
        came = client.get(f"/api/position?{PIG}&state={state}&action={action}").json()
        msgspec.convert(came, union_of(documents_of("serve")))
        assert len(came["outcomes"]) == here["choices"][-1]["outcomes"]
        mean = sum(one["ways"] * one["value"] for one in came["outcomes"])
        assert mean / came["outcomes"][0]["of"] == pytest.approx(here["choices"][-1]["value"])
        place = came["outcomes"][len(came["outcomes"]) // 3]["next"]
        moves += 1
    assert moves > 3


def test_outcomes_of_three_players_add_up_to_the_value_of_their_action():
    """The value of an outcome is the mover's, whoever moves next."""
    solution = rollwise.solve(find(str(EXAMPLES / "king_maker.py"))())
    view = solution.graph.view
    for state in (0, solution.graph.n_states // 2):
        question = {"ask": "position", **as_typed(view[state].address), "action": None}
        for choice in json.loads(reply(solution, question))["choices"]:
            found = json.loads(reply(solution, question | {"action": choice["action"]}))
            worth = sum(one["ways"] / one["of"] * one["value"] for one in found["outcomes"])
            assert worth == pytest.approx(choice["value"], abs=1e-9)
            for one in found["outcomes"]:
                assert one["payoff"] == (one["value"] if one["over"] else None)


def as_typed(address):
    """An address of a state with its fields as they are typed."""
    fields = ",".join(f"{name}={x}".replace(" ", "") for name, x in address["state"].items())
    return {**address, "state": fields}


def cells_by_hand(solution, named, axes, throw, rolls_left):
    """What is best in each position that differs along the axes only, one position at a time."""
    view, found = solution.graph.view, {}
    for position in solution.graph.positions.tolist():
        fields = view[position].address["state"]
        if any(fields[name] != number for name, number in named.items() if name not in axes):
            continue
        try:
            state = view[solution.graph.find(fields, throw, rolls_left)]
        except UnknownState:
            continue
        best = view.action(int(solution.best_actions[state.index]))
        name = best.distinct_name if state.is_choice else None
        found[tuple(fields[name] for name in axes)] = (name, float(solution.values[state.index]))
    return found


def test_a_position_may_be_typed_as_in_an_address(client):
    """An error says `Write state=banked=0,...`; a form has the fields alone."""
    answers = [
        client.get(f"/api/advise?{PIG}&state={more}banked=0,rival=0,turn=3")
        for more in ("", "state=")
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()


@pytest.mark.parametrize("name", ["royal-ur", "yahtzee", "pig", "super-six", "hypergammon"])
def test_the_map_around_a_position(name):
    game = find(name)(**SMALL[name])
    whole = rollwise.solve(game)
    answers = [whole]
    if name in ("royal-ur", "yahtzee"):
        answers.append(rollwise.solve_by_layers(game))
    step = max(1, len(whole.graph.positions) // 5)
    for position in whole.graph.positions[::step].tolist():
        here = whole.graph.view[position].address
        said = [json.loads(reply(one, {"ask": "map", **as_typed(here), "x": None, "y": None}))
                for one in answers]  # fmt: skip
        document = said[0]
        for other in said[1:]:
            for cell, twin in zip(document["cells"], other["cells"], strict=True):
                assert cell["value"] == pytest.approx(twin.pop("value"), abs=1e-12)
                assert {key: cell[key] for key in twin} == twin
            assert {**other, "cells": 0} == {**document, "cells": 0}
        expected = cells_by_hand(
            whole, here["state"], document["axes"], document["throw"], document["rolls_left"]
        )
        cells = {tuple(one["at"]): (one["action"], one["value"]) for one in document["cells"]}
        assert cells.items() <= expected.items()
        assert len(document["cells"]) == len(expected) or document["left_out"] > 0
        throws = [one.next_state.address for one in whole.graph.view[position].throws]
        told = [{"state": here["state"], "throw": one["throw"], "rolls_left": one["rolls_left"]}
                for one in document["throws"]]  # fmt: skip
        assert told == throws


def test_games_are_kept(tmp_path):
    line = {
        "game": "pig",
        "parameters": {"target": 5},
        "players": [{"name": "Ann"}, {"name": "optimal", "policy": "optimal"}],
        "seed": 3,
        "moves": [{"player": 0, "action": "roll", "shows": [6]}],
    }
    with client_of(["pig"], tmp_path / "a.sqlite", rate=1e6) as client:
        assert client.post(f"/api/history?{PIG}", json=line).status_code == 409
        solved(client, target=5)
        for number in (1, 2):
            kept = client.post(f"/api/history?{PIG}", json=line)
            assert (kept.status_code, kept.json()) == (201, {"number": number, "over": True})
        bad = [
            line | {"game": "piglet"},
            line | {"parameters": {"target": 6}},
            line | {"parameters": {"target": 5, "as": "chase"}},
            line | {"moves": [{"player": 1, "action": "roll", "shows": [6]}]},
            line | {"rules": "other"},
            [line],
            "a text",
        ]
        for one in bad:
            assert client.post(f"/api/history?{PIG}", json=one).status_code == 400, one
        long = line | {"more": "x" * 300_000}
        assert client.post(f"/api/history?{PIG}", json=long).status_code == 413
    assert [record.players[0] for record in read_records(tmp_path / "a.sqlite")] == ["Ann"] * 2
    chase = {"dice": 1, "as": "chase", "target": 3}
    with client_of(["threes"], tmp_path / "b.sqlite", rate=1e6) as client:
        solved(client, "threes", **chase)
        one = {"game": "threes", "parameters": chase, "players": [{"name": "Ann"}], "moves": []}
        words = "game=threes&parameter=dice=1&parameter=as=chase&parameter=target=3"
        assert client.post(f"/api/history?{words}", json=one).status_code == 201
    with client_of(["pig"]) as client:
        refused = client.post(f"/api/history?{PIG}", json=line)
        assert (refused.status_code, refused.json()["error"][:22]) == (
            400,
            "this server keeps no g",
        )


def test_headers(client):
    for path in ("/", "/serve.js", "/api/games", "/nowhere", f"/page?{PIG}"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "http" not in policy


def test_who_is_refused(client):
    refused = client.get("/api/games", headers={"host": "evil.example:80"})
    assert refused.status_code == 400
    assert "evil.example" in refused.json()["error"]
    other = {"origin": "http://evil.example"}
    assert client.post("/api/solve", json={"game": "pig"}, headers=other).status_code == 403
    assert client.post("/api/solve", content='{"game": "pig"}').status_code == 415
    kind = {"content-type": "application/json"}
    body = b" " * (MOST_BODY + 1)
    assert client.post("/api/solve", content=body, headers=kind).status_code == 413
    assert client.get("/api/table?where=" + "x" * MOST_ADDRESS).status_code == 414


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/api/games/nim", 404, "no game is called 'nim'"),
        ("/api/advise?game=/etc/passwd", 404, "no game is called"),
        ("/api/advise", 404, "which game? Write game=NAME"),
        (f"/api/advise?{PIG}", 400, "which position? Write state=banked=0,rival=0,turn=0"),
        (
            f"/api/advise?{PIG}&state=x",
            400,
            "must_bank=false: 'x' isn't a state; write every field",
        ),
        (f"/api/advise?{PIG}{START}&throw=3", 400, "leave the throw out"),
        (f"/api/position?{PIG}{START}&action=dance", 400, "turn=0: 'dance' can't be done here"),
        ("/api/solve?game=piglet", 409, "piglet isn't solved"),
        ("/api/nothing", 404, "there is no /api/nothing here"),
        (f"/api/advise?game=x.py:X{START}", 404, "no game is called"),
        (f"/api/advise?game=piglet{START}", 409, "isn't solved"),
        (f"/api/advise?game=pig&parameter=target=0{START}", 400, "target must be"),
        (f"/api/advise?{PIG}&state=banked=900,rival=0,turn=0", 400, ""),
        (f"/api/table?{PIG}&where=__import__('os')", 400, ""),
        (f"/api/table?{PIG}&limit=-1", 400, "limit must be a whole number from 0"),
        (f"/plot?{PIG}&kind=nothing", 400, ""),
    ],
)
def test_mistakes_are_a_line(client, path, status, said):
    answer = client.get(path)
    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_a_wrong_method_is_answered_with_the_right_ones(client):
    answer = client.delete("/api/games")
    assert answer.status_code == 405
    assert answer.json()["error"].startswith("/api/games doesn't take DELETE; it takes ")
    assert "GET" in answer.headers["allow"]


def test_all_right_methods_of_an_address_are_named(client):
    answer = client.put("/api/solve")
    assert answer.json()["error"].endswith("doesn't take PUT; it takes DELETE, GET, HEAD, POST")
    assert answer.headers["allow"] == "DELETE, GET, HEAD, POST"


def test_a_large_game_as_a_graph_is_the_decision_at_its_start(client):
    solved(client, target=20)
    shown = client.get("/plot?game=pig&parameter=target=20&kind=graph")
    assert shown.status_code == 200
    assert "one decision" in shown.text


@pytest.mark.parametrize("name", ["pig", "piglet", "craps", "threes", "snakes-and-ladders"])
def test_only_pictures_of_the_game_are_linked(games, client, name):
    """Without a kind the first one is shown."""
    person = {"accept": "text/html,*/*"}
    client = client if name in ("pig", "piglet") else games
    words = {"pig": PIG, "piglet": "game=piglet&parameter=target=5"}.get(name, f"game={name}")
    assert solved(client, name, **({"target": 5} if "pig" in name else {}))["state"] == "solved"
    refused = client.get(f"/plot?{words}&kind=error&x=none", headers=person)
    assert refused.status_code == 400
    linked = set(re.findall(r"kind=(\w+)'", refused.text))
    assert linked
    for kind in PLOTTED:
        answer = client.get(f"/plot?{words}&kind={kind}", headers=person)
        assert answer.status_code == (200 if kind in linked else 400), kind
    shown = client.get(f"/plot?{words}", headers=person)
    assert shown.status_code == 200
    assert "<b>" in shown.text


def test_a_person_who_follows_a_link_gets_a_page(client):
    """An unsolved game can be solved there, a table is read, and every page links home."""
    person = {"accept": "text/html,*/*"}
    unsolved = client.get("/report?game=piglet&parameter=target=4", headers=person)
    assert unsolved.status_code == 202
    assert unsolved.headers["content-type"].startswith("text/html")
    assert "data-game='game=piglet&amp;parameter=target=4'" in unsolved.text
    begun = client.get("/api/start?game=piglet").json()["boards"]
    assert begun[0]["at"] == [0, 0, 0]
    assert begun[0]["cells"]
    assert client.get("/report?game=piglet&parameter=target=4").status_code == 409
    pictures = client.get(f"/plot?{PIG}&kind=value", headers=person).text
    assert (
        f"href='plot?{html.escape(PIG.replace('target=', 'target%3D'))}&amp;kind=regret'"
        in pictures
    )
    table = client.get(f"/table?{PIG}&where=banked >= 0&field.turn=2&limit=3", headers=person)
    assert table.text.count("<tr>") == 4
    assert "<th scope='col'>banked</th>" in table.text
    assert re.search("<td class='text'>(roll|hold)</td>", table.text)
    assert "offset=3" in table.text
    assert "form-action 'self'" in table.headers["content-security-policy"]
    assert client.get(f"/table?{PIG}&where=nothing", headers=person).status_code == 400
    for path in ("page", "report", "plot", "table", "nowhere"):
        answer = client.get(f"/{path}?{PIG}", headers=person)
        assert f"<a href='./#{html.escape(PIG)}'>All games</a>" in answer.text, path
    assert "All games" not in client.get(f"/page?{PIG}&file=yes").text


def test_a_faulty_sheet_is_listed_with_its_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = "from rollwise import *\n"
    (tmp_path / "wrong.py").write_text(head + "class Wrong(Game)\n    pass\n")
    (tmp_path / "house.py").write_text("from rollwise.games.pig import Pig\nclass House(Pig)\n")
    (tmp_path / "fails.py").write_text(head + "class Fails(Game):\n    pass\n1 / 0\n")
    with pytest.warns(UserWarning, match="left out"):
        offering = client_of([])
    with offering as client:
        faults = client.get("/api/sheets").json()["faults"]
        assert "line 2" in faults["wrong.py"]
        assert "line 2" in faults["house.py"]
        assert "ZeroDivisionError" in faults["fails.py:Fails"]
        assert client.get("/api/games/pig").status_code == 200


def test_house_rules_of_a_game_are_a_sheet(tmp_path, monkeypatch):
    """A class derived from a game of rollwise, and one derived from that."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "house.py").write_text(
        "from rollwise.games.pig import Pig as Base\n"
        "class House(Base):\n    pass\n"
        "class Mansion(House):\n    pass\n"
        "class Other(list):\n    pass\n"
    )
    with client_of([]) as client:
        assert client.get("/api/sheets").json() == {"own": ["house", "mansion"], "faults": {}}


def test_every_version_of_a_game_can_be_made():
    for kind in available().values():
        for values in kind.presets.values():
            made = create(kind, {name: typed(value) for name, value in values.items()})
            assert values.items() <= made.parameters.items()


def test_a_changed_sheet_is_read_again(tmp_path, monkeypatch):
    """A sheet comes before the gallery; a new, a changed and a faulty one are seen at once."""
    monkeypatch.chdir(tmp_path)
    rules = Path(inspect.getfile(find("craps"))).read_text()
    with client_of([]) as client:
        assert client.get("/api/sheets").json() == {"own": [], "faults": {}}
        (tmp_path / "own.py").write_text(rules)
        games = client.get("/api/games").json()["games"]
        assert games[0]["game"] == "craps"
        assert client.get("/api/sheets").json()["own"] == ["craps"]
        before = solved(client, "craps")["solution"]["value"]
        (tmp_path / "own.py").write_text(rules.replace("WIN", "LOSE"))
        os.utime(tmp_path / "own.py", (1, 1))
        assert client.get("/api/solve?game=craps").status_code == 409
        assert solved(client, "craps")["solution"]["value"] < before
        (tmp_path / "own.py").write_text("class Own(Game)")
        assert "own.py" in client.get("/api/sheets").json()["faults"]


def test_every_answer_about_a_game_is_by_the_rules_of_now(tmp_path, monkeypatch):
    """Also after an error in its sheet; a page of the old rules gets no answer by the new ones."""
    monkeypatch.chdir(tmp_path)
    rules = Path(inspect.getfile(find("craps"))).read_text().replace("Craps", "Own")
    times = count(1)

    def write(text: str) -> None:
        (tmp_path / "own.py").write_text(text)
        os.utime(tmp_path / "own.py", (1, next(times)))

    questions = (
        "/page?game=own",
        "/api/advise?game=own&state=point=4",
        "/api/solve?game=own",
        "/table?game=own",
        "/answer?game=own",
    )
    write(rules)
    with client_of([]) as client:
        for question in questions:
            solved(client, "own")
            assert client.get(question).status_code == 200, question
            rules += "# changed\n"
            write(rules)
            assert client.get(question).status_code == 409, question
            write(rules.replace("class Own(Game):", "class Own(Game)"))
            refused = client.get(question)
            assert (refused.status_code, "own.py" in refused.json()["error"]) == (404, True)
            assert "own.py" in client.get("/api/sheets").json()["faults"]
            write(rules)
            assert client.get(question).status_code == 409, question


def test_a_page_of_old_rules_gets_no_answer_by_new_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rules = Path(inspect.getfile(find("craps"))).read_text()
    (tmp_path / "own.py").write_text(rules)
    with client_of([]) as client:
        old = client.app.state.site.offered.rules_of("craps")
        asked = f"/api/position?game=craps&state=point=4&rules={old}"
        solved(client, "craps")
        assert client.get(asked).status_code == 200
        (tmp_path / "own.py").write_text(rules.replace("WIN", "LOSE"))
        os.utime(tmp_path / "own.py", (1, 1))
        assert client.get(asked).status_code == 410
        solved(client, "craps")
        assert client.get(asked).status_code == 410
        assert client.get(asked.partition("&rules")[0]).status_code == 200


def test_a_changed_module_beside_a_sheet_is_read_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rules = Path(inspect.getfile(find("craps"))).read_text()
    rules = rules.replace("from typing", "import beside\nfrom typing", 1)
    assert "beside" in rules
    (tmp_path / "own.py").write_text(rules.replace("yield", "yield from beside.once(); yield", 1))
    (tmp_path / "beside.py").write_text("def once(): return ()\n")
    with client_of([]) as client:
        solved(client, "craps")
        assert client.get("/api/games").status_code == 200
        assert client.get("/api/solve?game=craps").status_code == 200
        (tmp_path / "beside.py").write_text("def once(): return []\n")
        os.utime(tmp_path / "beside.py", (1, 1))
        assert client.get("/api/games").status_code == 200
        assert client.get("/api/solve?game=craps").status_code == 409


def test_modules_beside_a_sheet_are_watched(tmp_path, monkeypatch):
    """Also of a class from one of them, and while they are faulty; a touch changes nothing."""
    monkeypatch.chdir(tmp_path)
    rules = Path(inspect.getfile(find("craps"))).read_text()
    (tmp_path / "rules.py").write_text(rules.replace("from typing", "import other\nfrom typing", 1))
    (tmp_path / "other.py").write_text("W = 1\n")
    (tmp_path / "sheet.py").write_text("from rules import *\n")
    offered, times = offer(["sheet.py"]), count(1)

    def write(name: str, text: str) -> list[str]:
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (1, next(times)))
        return offered.refresh()

    assert offered.refresh() == []
    assert write("other.py", "W = 1\n") == []
    assert write("other.py", "W = 2\n") == ["craps"]
    assert write("other.py", "W = (\n") == ["craps"]
    assert offered.faults
    assert write("other.py", "W = 3\n") == []  # it was offered no more
    assert not offered.faults
    assert write("other.py", "W = 4\n") == ["craps"]


TEXT = st.text(max_size=12) | st.sampled_from(
    ["pig", "target=5", "../x", "/etc/passwd", "x.py:X", "banked=0", "a=(1,2)", "1", "\0", "policy"]
)
ROUTES = ["/api/games/", "/api/solve", "/api/advise", "/api/position", "/api/map", "/api/table",
          "/page", "/report", "/plot", "/table"]  # fmt: skip
NAMES = ["game", "parameter", "state", "throw", "rolls_left", "action", "where", "limit", "offset",
         "kind", "x", "y"]  # fmt: skip


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    route=st.sampled_from(ROUTES),
    words=st.dictionaries(st.sampled_from(NAMES), TEXT),
    more=TEXT,
    is_solved=st.booleans(),
)
def test_no_query_is_a_fault(client, route, words, more, is_solved):
    """Of all kinds, half of them of a game that is solved."""
    words = {"game": "pig", "parameter": "target=5"} | words if is_solved else words
    query = "&".join(f"{name}={quote(text)}" for name, text in words.items())
    path = route + quote(more) if route.endswith("/") else f"{route}?{query}"
    answer = client.get(path)
    assert answer.status_code < 500
    assert "root:" not in answer.text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=examples(50))
@given(body=JSON | st.fixed_dictionaries({"game": st.just("nim") | JSON, "parameters": JSON}))
def test_no_body_is_a_fault(client, body):
    content = json.dumps(body)
    if isinstance(body, dict) and body.get("game") in ("pig", "piglet"):
        return  # which would begin to solve
    kind = {"content-type": "application/json"}
    assert 400 <= client.post("/api/solve", content=content, headers=kind).status_code < 500


def test_a_game_that_takes_too_long_is_stopped(tmp_path):
    sheet = tmp_path / "slow.py"
    sheet.write_text(ENDLESS)
    with client_of([f"{sheet}:Slow"], seconds=0.5) as client:
        found = solved(client, "slow")
        assert found["state"] == "failed"
        assert "not solved within 0.5 seconds" in found["error"]
        key = client.post("/api/solve", json={"game": "slow"}).json()["key"]
        assert client.delete(f"/api/solve?game=slow&key={key}").status_code == 204
        assert client.get("/api/solve?game=slow").status_code == 409


def test_too_many_requests_are_refused():
    with client_of(["pig"], rate=1) as client:
        assert [client.get("/api/games").status_code for _ in range(3)] == [200, 200, 429]


def test_only_those_who_asked_can_stop_a_game(client):
    solved(client, "piglet", target=3)
    body = {"game": "piglet", "parameters": {"target": 3}}
    there = "/api/solve?game=piglet&parameter=target=3"
    keys = [client.post("/api/solve", json=body).json()["key"] for _ in range(2)]
    assert "key" not in client.get(there).json()
    for key in ("", "&key=", "&key=nothing"):
        refused = client.delete(there + key)
        assert refused.status_code == 403
        assert "the key that POST /api/solve gave" in refused.json()["error"]
    assert client.delete(f"{there}&key={keys[0]}").status_code == 204
    assert client.delete(f"{there}&key={keys[0]}").status_code == 403  # it has been used
    assert client.get(there).json()["state"] == "solved"  # for the other one


def children() -> list[int]:
    """The processes of workers that this one has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            words = (path.parent / "cmdline").read_text()
            if parent == os.getpid() and "rollwise.serve.worker" in words:
                found.append(int(path.parent.name))
    return found


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")


@linux
def test_a_process_that_has_ended_is_begun_anew():
    with client_of(["pig"]) as client:
        before = set(children())
        assert solved(client, target=5)["state"] == "solved"
        (pid,) = set(children()) - before
        os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + 20
        while client.get(f"/api/solve?{PIG}").json()["state"] == "solved":
            assert time.monotonic() < end
            time.sleep(0.02)
        status = client.get(f"/api/solve?{PIG}").json()
        assert status["state"] == "failed"
        assert "was ended by SIGKILL; out of memory perhaps" in status["error"]
        asked = client.get(f"/api/advise?{PIG}{START}")
        assert asked.status_code == 409
        assert "POST /api/solve solves it" in asked.json()["error"]
        assert solved(client, target=5)["state"] == "solved"
        assert client.get(f"/api/advise?{PIG}{START}").status_code == 200


FAULTY = """
import os
import signal
import sys

from rollwise.games.pig import Pig

class Faulty(Pig):
    name = "faulty"
    faces = 2

    def start(self):
        if self.target == 7:
            END
        return super().start()

if sys.argv[0].endswith("worker.py"):
    import rollwise.answer.advice
    rollwise.answer.advice.advise = lambda *given: {}["no such key"]
"""


def test_an_error_of_rollwise_is_told_as_one(tmp_path, caplog):
    sheet = tmp_path / "faulty.py"
    sheet.write_text(FAULTY.replace("END", "os._exit(3)"))
    with client_of([str(sheet)]) as client:
        status = solved(client, "faulty", target=7)
        assert status["error"] == "the process of this game has ended with the exit code 3"
        assert solved(client, "faulty", target=5)["state"] == "solved"
        place = f"/api/advise?game=faulty&parameter=target=5{START}"
        for _ in range(2):
            asked = client.get(place)
            assert asked.status_code == 500
            said = "an error of rollwise: KeyError: 'no such key'"
            assert asked.json()["error"].startswith(said)
            assert "Traceback" in caplog.text
        assert client.get(place.replace("advise", "position")).status_code == 200


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_process_that_crashes_names_its_signal(tmp_path):
    sheet = tmp_path / "faulty.py"
    sheet.write_text(FAULTY.replace("END", "signal.raise_signal(11)"))
    with client_of([str(sheet)]) as client:
        status = solved(client, "faulty", target=7)
        assert status["error"] == "the process of this game was ended by SIGSEGV"


def test_clients_with_the_same_question_share_its_answer(monkeypatch):
    asked = []

    async def answer(worker, question):
        asked.append(question["ask"])
        await asyncio.sleep(0.01)
        return question["ask"]

    async def ask():
        worker = Worker(("pig", ()), "pig", None, Limits())
        names = ["report", "report", "plot", "report"]
        bodies = await asyncio.gather(*(worker.ask({"ask": name}) for name in names))
        assert bodies == names
        assert asked == ["report", "plot"]
        keeping = [worker.ask({"ask": "keep"}, is_remembered=False) for _ in range(2)]
        assert await asyncio.gather(*keeping) == ["keep", "keep"]
        assert asked == ["report", "plot", "keep", "keep"]
        await worker.end()

    monkeypatch.setattr(Worker, "_asked", answer)
    asyncio.run(ask())


def test_nothing_of_the_folder_is_run_but_rule_sheets(tmp_path, monkeypatch):
    for name in ("random", "numpy", "json", "rollwise", "typer"):
        (tmp_path / f"{name}.py").write_text("open('was_run', 'w').close()\nraise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    with client_of(["pig"]) as client:
        assert solved(client, target=5)["state"] == "solved"
    assert not (tmp_path / "was_run").exists()


@linux
def test_all_games_together_have_a_limit():
    """The one that was asked for longest ago gives way, and can be had again."""
    with client_of(["pig"], total=1) as client:
        client.post("/api/solve", json={"game": "pig", "parameters": {"target": 5}})
        found = solved(client, target=5)
        end = time.monotonic() + 20
        while found["state"] != "failed":
            assert time.monotonic() < end
            found = client.get(f"/api/solve?{PIG}").json()
        assert "all games together took more than 1e-09 GB" in found["error"]


@pytest.fixture
def process(request):
    more = getattr(request, "param", ())
    command = [sys.executable, "-m", "rollwise", "serve", "pig", "--port", "0", *more]
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    started.stdout.readline()
    url = started.stdout.readline().split()[0]
    yield started, url
    started.kill()
    started.communicate()


def get(url):
    end = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.read()
        except ConnectionError:
            assert time.monotonic() < end
        except urllib.error.URLError:
            assert time.monotonic() < end
        time.sleep(0.05)


def test_a_server_answers_and_ends(process):
    started, url = process
    assert b"Dice games, solved" in get(url)
    port = url.rstrip("/").rpartition(":")[2]
    again = [sys.executable, "-m", "rollwise", "serve", "pig", "--port", port]
    second = subprocess.run(again, capture_output=True, text=True, timeout=30)
    assert second.returncode == 1
    assert f"--port {port} can't be had" in second.stderr
    assert "Traceback" not in second.stderr
    head = b"POST /api/solve HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", int(port)), 20) as leaves:
        leaves.sendall(head + b"Content-Length: 99\r\n\r\n{")
    get(url)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=20)
    assert "Traceback" not in said
    with socket.socket() as free:
        assert free.connect_ex(("127.0.0.1", int(port))) != 0


def connected(url):
    return http.client.HTTPConnection("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]), 20)


@pytest.mark.skipif(os.name != "posix", reason="limits of a process")
def test_connections_without_a_request_lock_nobody_out(process):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1200:
        pytest.skip("too few files may be open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
    _, url = process
    get(url)
    kept = connected(url)
    with contextlib.ExitStack() as stack:
        for _ in range(1005):
            half_open = stack.enter_context(socket.create_connection((kept.host, kept.port), 20))
            half_open.sendall(b"GET / HTTP/1.1\r\nHost:")
        assert b"Dice games, solved" in get(url)
        kept.request("GET", "/api/games")
        assert kept.getresponse().status == 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("process", [("--rate", "1")], indirect=True)
def test_a_header_gives_nobody_another_address(process):
    _, url = process
    get(url)
    statuses = []
    for number in range(4):
        asking = connected(url)
        asking.request("GET", "/api/games", headers={"X-Forwarded-For": f"10.0.0.{number}"})
        statuses.append(asking.getresponse().status)
    assert 429 in statuses


def test_the_board_of_many_fields_has_no_tiles():
    """They would be too small for their numbers; few fields have tiles."""
    kinds = [
        {cell[0] for row in start_document(game).boards[0].cells for cell in row}
        for game in (Faces(), PassAChip())
    ]
    assert kinds == [{"label"}, {"label", "tile"}]
