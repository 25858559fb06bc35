"""The server: its documents, what it refuses, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.browser import open_browser

import rollwise
from rollwise.documents.answers import advice_document, solution_document
from rollwise.documents.games import games_document
from rollwise.documents.parts import as_json
from rollwise.errors import UsageError
from rollwise.games import find
from rollwise.serve.app import MOST_ADDRESS, MOST_BODY, make_app
from rollwise.serve.offered import offer
from rollwise.serve.workers import Limits

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


def client_of(names, **limits):
    app = make_app(offer(names), Limits(**limits))
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


def test_the_documents_are_those_of_the_commands(client):
    solution = rollwise.solve(find("pig")(target=5))
    games = games_document([find("pig"), find("piglet")])
    assert client.get("/api/games").json() == json.loads(as_json(games))
    assert client.get("/api/games/pig").json() == json.loads(as_json(games))["games"][0]
    found = client.get(f"/api/solve?{PIG}").json()["solution"]
    assert found.keys() == solution_document(solution).keys()
    assert found["value"] == solution_document(solution)["value"]
    advice = solution.advise({"banked": 0, "rival": 0, "turn": 0})
    expected = json.loads(as_json(advice_document(solution, advice)))
    assert client.get(f"/api/advise?{PIG}{START}").json() == expected
    rows = client.get(f"/api/table?{PIG}&limit=2&offset=1").json()["rows"]
    assert rows == json.loads(solution.table()[1:3].write_json())


def test_the_coach_page_is_the_mailed_one(client):
    assert client.get(f"/page?{PIG}").text == rollwise.solve(find("pig")(target=5)).page().html


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
        ("/api/advise?game=/etc/passwd", 400, "isn't a state"),
        (f"/api/advise?game=x.py:X{START}", 404, "no game is called"),
        (f"/api/advise?game=piglet{START}", 409, "isn't solved"),
        (f"/api/advise?game=pig&parameter=target=0{START}", 400, "target must be"),
        (f"/api/advise?{PIG}&state=banked=900,rival=0,turn=0", 400, ""),
        (f"/api/table?{PIG}&where=__import__('os')", 400, ""),
        (f"/api/table?{PIG}&limit=-1", 400, "limit must be a whole number"),
        (f"/plot?{PIG}&kind=nothing", 400, ""),
    ],
)
def test_mistakes_are_a_line(client, path, status, said):
    answer = client.get(path)
    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


TEXT = st.text(max_size=12) | st.sampled_from(
    ["pig", "target=5", "../x", "/etc/passwd", "x.py:X", "banked=0", "a=(1,2)", "1", "\0", "policy"]
)
ROUTES = ["/api/games/", "/api/solve", "/api/advise", "/api/table", "/page", "/report", "/plot"]
NAMES = ["game", "parameter", "state", "throw", "rolls_left", "where", "limit", "offset", "kind"]


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    route=st.sampled_from(ROUTES), words=st.dictionaries(st.sampled_from(NAMES), TEXT), more=TEXT
)
def test_no_query_is_a_fault(client, route, words, more):
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


@settings(max_examples=80, deadline=None)
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
        client.post("/api/solve", json={"game": "slow"})
        assert client.delete("/api/solve?game=slow").status_code == 204
        assert client.get("/api/solve?game=slow").status_code == 409


def test_too_many_requests_are_refused():
    with client_of(["pig"], rate=1) as client:
        assert [client.get("/api/games").status_code for _ in range(3)] == [200, 200, 429]


def test_own_sheets_are_those_of_the_folder(tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text(ENDLESS)
    (tmp_path / "other.py").write_text("raise SystemExit(3)  # isn't a rule sheet, isn't run\n")
    (tmp_path / "broken.py").write_text("class (Game\n")
    monkeypatch.chdir(tmp_path)
    kinds = offer(()).kinds
    assert "slow" in kinds
    assert "pig" in kinds
    (tmp_path / "twin.py").write_text(ENDLESS)
    with pytest.raises(UsageError, match="the same name"):
        offer(())


def test_saved_solutions_are_used(tmp_path):
    game = find("pig")(target=5)
    rollwise.solve(game).save(tmp_path / "pig.parquet")
    (tmp_path / "other.parquet").write_text("not one")
    assert list(offer(["pig"], tmp_path).saved.values()) == [tmp_path / "pig.parquet"]
    assert offer(["piglet"], tmp_path).saved == {}
    app = make_app(offer(["pig"], tmp_path), Limits())
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert solved(client, target=5)["state"] == "solved"


@pytest.fixture
def process():
    command = [sys.executable, "-m", "rollwise", "serve", "pig", "--port", "0"]
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
    assert b"rollwise" in get(url)
    port = url.rstrip("/").rpartition(":")[2]
    again = [sys.executable, "-m", "rollwise", "serve", "pig", "--port", port]
    second = subprocess.run(again, capture_output=True, text=True, timeout=30)
    assert second.returncode == 1
    assert f"--port {port} can't be had" in second.stderr
    assert "Traceback" not in second.stderr
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=20)
    assert "Traceback" not in said
    with socket.socket() as free:
        assert free.connect_ex(("127.0.0.1", int(port))) != 0


@pytest.mark.slow
def test_a_browser_solves_and_says_when_the_server_is_gone(process):
    started, url = process
    get(url)
    browser = open_browser()
    try:
        browser.call("Network.emulateNetworkConditions", offline=False, latency=0,
                     downloadThroughput=-1, uploadThroughput=-1)  # fmt: skip
        browser.call("Page.navigate", url=url)
        browser.wait("document.documentElement?.dataset.ready")
        browser.js("document.querySelector('[name=target]').value = 5")
        browser.click("#choice button")
        browser.wait("!document.getElementById('solved').hidden")
        browser.click("#ask button")
        browser.wait("document.querySelectorAll('#advice tr').length > 1")
        assert browser.errors == []
        assert all(asked.startswith(url) for asked in browser.asked)
        started.kill()
        started.wait()
        browser.click("#ask button")
        browser.wait("document.getElementById('status').textContent.includes('Start it again')")
    finally:
        browser.close()
