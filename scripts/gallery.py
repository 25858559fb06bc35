"""Makes the gallery: a page for each game, and a front page: ``python scripts/gallery.py FOLDER``.

All files work without a server and without a network. The front page shows each game's start, a
puzzle of the day, and answers to common questions. A puzzle is a position where a policy of the
rule sheet loses much. Its number is the day's, and stands in the address of a shared result.
"""

from __future__ import annotations

import html
import inspect
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import rollwise
from rollwise.answer.advice import advise
from rollwise.answer.average import average_of
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.coach.tally import policy_losses
from rollwise.derive.average import Average
from rollwise.documents.hidden import answer_blocks, solved_document
from rollwise.errors import RollwiseError, TooManyStates, UsageError
from rollwise.games import available
from rollwise.graph.choices import has_choice
from rollwise.hidden import solve as solve_hidden
from rollwise.numbers.printed import percent
from rollwise.page import page, style
from rollwise.page.document import paragraphs
from rollwise.page.hidden import page_of
from rollwise.plot.boards import Cards
from rollwise.plot.fields import action_name, shown_costs
from rollwise.plot.kinds.amounts import given_away
from rollwise.plot.kinds.limit import find_limits
from rollwise.report.cheat_sheet import limit_table

# Games with a usual version too large for a page.
SHORT = ("hypergammon", "two-dice-pig", "yahtzee", "yatzy", "zilch")
MOST_STATES = 1_500_000
PUZZLES = 12  # of a game
LEAST = 0.25  # cost of a puzzle's mistake: percentage points, or points
FAIR = 0.5  # percentage points
STYLE = """
.games { display: grid; gap: 1rem; padding: 0;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); }
.games li, #puzzle { list-style: none; padding: 1rem; border-radius: 12px;
  border: 1px solid var(--line); background: var(--card); }
.games svg, #puzzle svg { max-width: 100%; height: auto; }
#puzzle { margin: 1rem 0; border: 2px solid var(--accent); max-width: 40rem; }
#puzzle-choices { display: flex; flex-wrap: wrap; gap: .5rem; }
#puzzle-choices .best { border: 3px solid var(--good); }
#puzzle-choices .wrong { border: 3px dashed var(--warn); }
a { color: var(--accent); } h2 { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 2px 8px; border-bottom: 1px solid var(--line); }
"""
SCRIPT = """
const puzzles = JSON.parse(document.getElementById("puzzles").textContent);
const $ = (id) => document.getElementById(id);
const today = Math.floor(Date.now() / 864e5);
let number = today;
const numberOf = (hash) => (/^#\\d{1,9}$/.test(hash) ? Number(hash.slice(1)) : today);
function show() {
  const one = puzzles[number % puzzles.length];
  $("puzzle-game").textContent = one.game;
  $("puzzle-day").textContent = number === today ? "Puzzle of the day" : `Puzzle ${number}`;
  $("puzzle-board").innerHTML = one.board;
  $("puzzle-link").href = one.link;
  $("puzzle-after").hidden = true;
  $("puzzle-said").textContent = "Which choice is best?";
  $("shared").textContent = "";
  $("puzzle-choices").replaceChildren(...one.choices.map((choice) => {
    const button = document.createElement("button");
    button.textContent = choice.action;
    button.addEventListener("click", () => guess(one, choice));
    return button;
  }));
}
function guess(one, chosen) {
  [...$("puzzle-choices").children].forEach((button, k) => {
    const choice = one.choices[k];
    button.disabled = true;
    button.textContent = `${choice.action}: ${choice.worth}`;
    if (choice.best) button.className = "best";
    else if (choice === chosen) button.className = "wrong";
  });
  const verdict = chosen.best ? "Right" : `It costs ${chosen.cost}`;
  $("puzzle-said").textContent = `${verdict}. ${one.said}.`;
  $("puzzle-after").hidden = false;
  const address = `${location.href.split("#")[0]}#${number}`;
  const result = chosen.best ? "right" : "wrong";
  const text = `Dice puzzle ${number} (${one.game}): ${result}. ${address}`;
  $("share").onclick = async () => {
    try {
      if (navigator.share) await navigator.share({ text });
      else await navigator.clipboard.writeText(text);
      $("shared").textContent = navigator.share ? "" : "Copied.";
    } catch {
      $("shared").textContent = text;
    }
  };
}
$("another").addEventListener("click", () => { number += 1; show(); });
addEventListener("hashchange", () => { number = numberOf(location.hash); show(); });
number = numberOf(location.hash);
show();
"""


def solved(name: str) -> Solution | None:
    """The solution of a game for a page; of a large game the short version."""
    kind = available()[name]
    try:
        game = kind(**(kind.presets["short"] if name in SHORT else {}))
        return rollwise.solve(game, max_states=MOST_STATES)
    except TooManyStates:
        return None


def edge(solution: Solution) -> str:
    """The value of the start in a sentence."""
    if solution.game is not None and solution.game.players > 2:
        return "An equilibrium of all players"
    if isinstance(solution.game, Average):
        return f"Perfect play makes {average_of(solution)[0]:.4g} on average in the long run"
    if solution.is_score:
        return f"Perfect play scores {solution.value:.4g} on average"
    who = "The player" if solution.graph.players == 1 else "The first player"
    return f"{who} wins {percent(solution.win_probability or 0.0)} by perfect play"


def puzzles(solution: Solution, file: str, cards: Cards) -> list[dict[str, Any]]:
    """Positions where policies of the rule sheet lose most, with the worth of each choice."""
    graph, game = solution.graph, solution.game
    if game is None or game.players > 2:
        return []
    found: dict[int, dict[str, Any]] = {}
    policies = Policies.of(solution)
    unit = "points" if solution.is_score else "percentage points"
    for name in game.policies():
        cost = shown_costs(solution, given_away(solution, policies.find(name)))
        for state in np.argsort(-cost)[:PUZZLES].tolist():
            if cost[state] < LEAST or len(found) == PUZZLES:
                break
            place = graph.view[state].address
            parts = [list(place["state"].values()), place["throw"] or []]
            parts += [[place["rolls_left"]]] if place["rolls_left"] is not None else []
            address = ";".join(",".join(map(str, part)) for part in parts).rstrip(";")
            costs = shown_costs(solution, solution.regret)
            rows = zip(graph.view[state].actions, advise(solution, state).actions, strict=True)
            found[state] = {
                "game": solution.heading,
                "board": cards.html(state, ""),
                "choices": [
                    {
                        "action": row.action,
                        "worth": f"{row.value:.4g}"
                        if row.win_probability is None
                        else percent(row.win_probability),
                        "cost": f"{costs[action]:.2f} {unit}",
                        "best": row.best,
                    }
                    for action, row in rows
                ],
                "said": f"The policy {name} loses {cost[state]:.2f} {unit} here",
                "words": cards.words(state),
                "link": f"{file}#{address}",
            }
    return list(found.values())


def questions(solution: Solution) -> list[tuple[str, str]]:
    """Common questions about a game, and their answers in HTML."""
    found = []
    heading, players = solution.heading, solution.graph.players
    states = np.flatnonzero(has_choice(solution.graph))
    if len(states) and (table := limit_table(solution)):
        action = action_name(solution, find_limits(solution, states, []).action)
        found.append(
            (f"When should I {action} in {heading}?", f"<div class='scroll'>{table}</div>")
        )
    if players == 2 and not solution.is_score:
        share = 100 * (solution.win_probability or 0.0)
        word = "Nearly" if abs(share - 50) < FAIR else "No"
        found.append((f"Is {heading} fair?", f"<p>{word}. {edge(solution)}.</p>"))
    named = {} if solution.game is None else solution.game.policies()
    losses = {name: lost for name, lost in policy_losses(solution).items() if name in named}
    if losses:
        name, lost = next(iter(losses.items()))
        about = (inspect.getdoc(named[name]) or name).partition("\n")[0]
        cost = float(shown_costs(solution, np.float64(lost)))
        unit = "points" if solution.is_score else "percentage points"
        found.append(
            (
                f"Which simple rule is good in {heading}?",
                f"<p>{html.escape(about)} "
                f"Against perfect play this loses {cost:.2f} {unit} a game.</p>",
            )
        )
    return found


def front(entries: list[str], problems: list[dict[str, Any]], asked: list[str]) -> str:
    """The front page."""
    data = json.dumps(problems, ensure_ascii=False).replace("</", "<\\/")
    hidden = "" if problems else " hidden"
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
<p>Play each game against perfect play, with a coach. Every number is proved.
<a href="#questions">Questions</a></p></header>
<main>
<section id="puzzle" aria-labelledby="puzzle-head"{hidden}>
<h2 id="puzzle-head"><span id="puzzle-day"></span>: <span id="puzzle-game"></span></h2>
<div id="puzzle-board"></div>
<p id="puzzle-said" role="status"></p>
<div id="puzzle-choices"></div>
<p id="puzzle-after" hidden><a id="puzzle-link" href="#">Play from here</a>
<button type="button" id="share">Share your result</button>
<span id="shared" role="status"></span></p>
<p><button type="button" id="another">Another puzzle</button></p>
</section>
<h2>Games</h2>
<ul class="games">
{chr(10).join(entries)}
</ul>
<section aria-labelledby="questions"><h2 id="questions">Questions</h2>
{chr(10).join(asked)}
</section>
</main>
<script type="application/json" id="puzzles">{data}</script>
<script>{SCRIPT if problems else ""}</script>
</body>
</html>
"""


def entry(solution: Solution, name: str, cards: Cards, problems: list[dict[str, Any]]) -> str:
    """A game on the front page, with links to some positions."""
    about = "" if solution.game is None else solution.game.description.partition("\n")[0]
    links = ", ".join(
        f'<a href="{one["link"]}">{html.escape(one["words"])}</a>' for one in problems[:2]
    )
    return (
        f'<li><h2><a href="{name}.html">{html.escape(solution.heading)}</a></h2>'
        f"<p>{html.escape(about)}</p>{cards.html(0, edge(solution))}"
        f"{f'<p>Where rules of thumb lose most: {links}</p>' if links else ''}"
        f"<p><small>{html.escape(solution.graph.title)}</small></p></li>"
    )


def hidden_entry(name: str, folder: Path) -> str:
    """Write the page of a game with hidden dice or simultaneous choices; its entry in the list."""
    game = available(hidden=True)[name]()
    answer = solve_hidden(game)
    text = page_of(answer, answer_blocks(answer))
    (folder / f"{name}.html").write_text(text, encoding="utf-8")
    print(f"{name}: {len(text) / 1000:,.0f} kB")
    worth = str(list(solved_document(answer).blocks())[1]).strip()
    return (
        f'<li><h2><a href="{name}.html">{html.escape(game.heading)}</a></h2>'
        f"<p>{html.escape(paragraphs(game)[0])}</p>"
        f"<p>{html.escape(worth[0].upper() + worth[1:])}.</p>"
        f"<p><small>{html.escape(answer.positions.title)}</small></p></li>"
    )


def make(folder: Path, names: list[str]) -> None:
    """Write the page of each game that fits into one, and the front page."""
    folder.mkdir(parents=True, exist_ok=True)
    entries: list[str] = []
    problems: list[tuple[int, dict[str, Any]]] = []  # each with its place among those of its game
    asked: list[tuple[str, str, str]] = []
    for name in names:
        if name in available(hidden=True):
            entries.append(hidden_entry(name, folder))
            continue
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
        own = puzzles(solution, f"{name}.html", cards)
        entries.append(entry(solution, name, cards, own))
        problems += enumerate(own)
        try:
            asked += [(*pair, f"{name}.html") for pair in questions(solution)]
        except RollwiseError as error:
            print(f"{name}: a question without an answer ({error})", file=sys.stderr)
        print(f"{name}: {len(text) / 1000:,.0f} kB")
    answers = [
        f"<details><summary>{html.escape(question)}</summary>{answer}"
        f'<p><a href="{file}">Play it</a></p></details>'
        for question, answer, file in sorted(asked, key=lambda one: not one[0].startswith("When"))
    ]
    # from day to day another game
    mixed = [one for _, one in sorted(problems, key=lambda pair: pair[0])]
    (folder / "index.html").write_text(front(entries, mixed, answers), encoding="utf-8")
    print(f"{folder / 'index.html'}: {len(entries)} games, {len(problems)} puzzles")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    make(Path(sys.argv[1]), sys.argv[2:] or [*sorted(available()), *available(hidden=True)])
