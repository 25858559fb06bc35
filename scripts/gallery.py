"""Makes the gallery: a page for each game, and a front page: ``python scripts/gallery.py FOLDER``.

All files work without a server and without a network. The front page shows each game's start and a
puzzle of the day: a position where a policy of the rule sheet loses much.
"""

from __future__ import annotations

import html
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import rollwise
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.errors import TooManyStates, UsageError
from rollwise.games import available
from rollwise.numbers.printed import percent
from rollwise.page import page, style
from rollwise.plot.boards import Cards

# Parameters of games whose usual ones make no page.
SMALLER: dict[str, dict[str, Any]] = {
    "hypergammon": {"checkers": 1},
    "royal-ur": {"pieces": 2},
    "yahtzee": {"boxes": 2},
    "yatzy": {"boxes": 2},
    "two-dice-pig": {"target": 60},
    "pickomino": {},
}
MOST_STATES = 1_500_000
PUZZLES = 12  # of a game
STYLE = """
.games { display: grid; gap: 1rem; padding: 0;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); }
.games li, #puzzle { list-style: none; padding: 1rem; border-radius: 12px;
  border: 1px solid var(--line); background: var(--card); }
.games svg, #puzzle svg { max-width: 100%; height: auto; }
#puzzle { margin: 1rem 0; border: 2px solid var(--accent); }
a { color: var(--accent); } h2 { overflow-wrap: anywhere; }
"""
SCRIPT = """
const puzzles = JSON.parse(document.getElementById("puzzles").textContent);
const place = document.getElementById("puzzle");
let number = Math.floor(Date.now() / 864e5);
function show() {
  const one = puzzles[number % puzzles.length];
  document.getElementById("puzzle-game").textContent = one.game;
  document.getElementById("puzzle-board").innerHTML = one.board;
  document.getElementById("puzzle-answer").open = false;
  document.getElementById("puzzle-choices").replaceChildren(...one.choices.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
  document.getElementById("puzzle-link").href = one.link;
}
document.getElementById("another").addEventListener("click", () => { number += 1; show(); });
show();
"""


def solved(name: str) -> Solution | None:
    """The solution of a game for a page, with smaller parameters where it needs them."""
    game = available()[name](**SMALLER.get(name, {}))
    try:
        return rollwise.solve(game, max_states=MOST_STATES)
    except TooManyStates:
        return None


def edge(solution: Solution) -> str:
    """The value of the start in a sentence."""
    if solution.game is not None and solution.game.players > 2:
        return "An equilibrium of all players"
    if solution.is_score:
        return f"Perfect play scores {abs(solution.value):.4g} on average"
    who = "The player" if solution.graph.players == 1 else "The first player"
    return f"{who} wins {percent(solution.win_probability or 0.0)} by perfect play"


def puzzles(solution: Solution, file: str, cards: Cards) -> list[dict[str, Any]]:
    """Positions where policies of the rule sheet lose most, with the worth of each choice."""
    graph, game = solution.graph, solution.game
    if game is None or game.players > 2 or graph.throw_names or solution.is_score:
        return []
    found: list[dict[str, Any]] = []
    policies = Policies.of(solution)
    for name in (one for one in game.policies() if one != "optimal"):
        chances = policies.find(name).probability
        cost = np.zeros(graph.n_states)
        np.add.at(cost, graph.action_state, chances * solution.regret / 2)
        for state in np.argsort(-cost)[:PUZZLES].tolist():
            if cost[state] < 0.005:
                break
            advice = solution.advise(graph.states[state].tolist())
            choices = [
                f"{row.action}: {percent(row.win_probability or 0.0)}{', best' if row.best else ''}"
                for row in advice.actions
            ]
            said = f"{name} loses {percent(float(cost[state]))} here"
            found.append(
                {
                    "game": solution.heading,
                    "board": cards.html(state, "Which choice is best?"),
                    "choices": [*choices, said],
                    "link": f"{file}#{','.join(map(str, graph.states[state].tolist()))}",
                }
            )
    return found


def front(entries: list[str], problems: list[dict[str, Any]]) -> str:
    """The front page."""
    data = json.dumps(problems, ensure_ascii=False).replace("</", "<\\/")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Dice games, solved</title>
<style>{style()}{STYLE}</style>
</head>
<body>
<header><h1>Dice games, solved</h1>
<p>Play each game against perfect play, with a coach. Every number is proved.</p></header>
<main>
<section id="puzzle" aria-labelledby="puzzle-head">
<h2 id="puzzle-head">Puzzle of the day: <span id="puzzle-game"></span></h2>
<div id="puzzle-board"></div>
<details id="puzzle-answer"><summary>The answer</summary>
<ul id="puzzle-choices"></ul><p><a id="puzzle-link" href="#">Look at the position</a></p></details>
<p><button type="button" id="another">Another puzzle</button></p>
</section>
<ul class="games">
{chr(10).join(entries)}
</ul>
</main>
<script type="application/json" id="puzzles">{data}</script>
<script>{SCRIPT}</script>
</body>
</html>
"""


def make(folder: Path, names: list[str]) -> None:
    """Write the page of each game that fits into one, and the front page."""
    folder.mkdir(parents=True, exist_ok=True)
    entries: list[str] = []
    problems: list[dict[str, Any]] = []
    for name in names:
        solution = solved(name)
        try:
            text = "" if solution is None else page(solution)
        except UsageError as error:
            print(f"{name}: no page ({error})", file=sys.stderr)
            continue
        if solution is None:
            print(f"{name}: no page, it has too many states", file=sys.stderr)
            continue
        solution = solution.whole()
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
        cards = Cards(solution, hints=False)
        about = (type(solution.game).__doc__ or "").partition("\n")[0]
        entries.append(
            f'<li><h2><a href="{name}.html">{html.escape(solution.heading)}</a></h2>'
            f"<p>{html.escape(about)}</p>{cards.html(0, edge(solution))}"
            f"<p><small>{html.escape(solution.graph.title)}</small></p></li>"
        )
        problems += puzzles(solution, f"{name}.html", cards)
        print(f"{name}: {len(text) / 1000:,.0f} kB")
    (folder / "index.html").write_text(front(entries, problems), encoding="utf-8")
    print(f"{folder / 'index.html'}: {len(entries)} games, {len(problems)} puzzles")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    make(Path(sys.argv[1]), sys.argv[2:] or sorted(available()))
