"""The page that shows every game: a position of it, what it teaches, and how it is solved."""

from __future__ import annotations

import inspect
import textwrap
import tomllib
from pathlib import Path

import cards
import numpy as np

import rollwise
from rollwise.game import Game
from rollwise.games import available
from rollwise.plot.fields import action_name
from rollwise.words import Narrator

TEACHES = tomllib.loads(Path(__file__).with_name("teaches.toml").read_text(encoding="utf-8"))
GAMES = 20  # that are played; of these the one with most decisions is shown
BOXES = 2  # of the sheets that are too large for one graph
WIDTH = 96  # letters in a line

HEAD = """\
# The games, one by one

A position of each game, as `rollwise play` shows it to the mover, and the best thing to do there;
what the game teaches; and how it is solved, with its default parameters. The rules, the answers and
the rules of thumb stand on the [cards](games/README.md).
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *map(section, available())])


def section(name: str) -> str:
    """What the page says of a game."""
    cls = available()[name]
    small = {"boxes": BOXES} if name in cards.BY_LAYERS else {}
    game = cls(**small)
    solution = rollwise.solve(game)
    about = (inspect.getdoc(cls) or "").partition("\n")[0]
    parts = [
        f"## {cards.title(name)}",
        f"{about} ([card](games/{name}.md))",
        "```text\n" + shown(solution, game) + "\n```",
        f"*It teaches:* {TEACHES[name]}",
        f"*How it is solved:* {how(solution, cls)}",
    ]
    return "\n\n".join(parts) + "\n"


def shown(solution: rollwise.Solution, game: Game) -> str:
    """A position, and what is best there."""
    narrator, state = Narrator(solution.graph, game), middle(solution)
    here = solution.graph.view[state]
    best = int(solution.graph.action_label[solution.best_actions[state]])
    lines = [narrator.board(state), *textwrap.wrap(narrator.position(state), WIDTH)]
    if here.is_choice:
        named = action_name(solution, best)
        lines.append(f"The best of {len(here.actions)} choices: {named}")
    return "\n".join(line for line in lines if line)


def middle(solution: rollwise.Solution) -> int:
    """A decision from a game between perfect players; a position if there is none.

    It is as unlike the start as any, and the nearest to the middle of the longest of some games.
    """
    games = [met(solution, seed) for seed in range(GAMES)]
    longest = max(games, key=len)
    rows = solution.graph.fields
    unlike = [int(np.count_nonzero(rows[s] != rows[0])) for s in longest]
    half = len(longest) // 2
    return longest[max(range(len(longest)), key=lambda k: (unlike[k], -abs(k - half)))]


def met(solution: rollwise.Solution, seed: int) -> list[int]:
    """The states of a game between perfect players in which there is a choice, or else all."""
    random, view, state = np.random.default_rng(seed), solution.graph.view, 0
    found: list[int] = []
    while True:
        found.append(state)
        action = view.action(int(solution.best_actions[state]))
        outcome = action.outcomes[int(random.choice(len(action.chances), p=action.chances))]
        if outcome.is_over:
            return [s for s in found if view[s].is_choice] or found
        state = outcome.target


def how(solution: rollwise.Solution, cls: type[Game]) -> str:
    """How large the graph is, and how its order lets it be solved."""
    graph = solution.graph
    if graph.game in cards.BY_LAYERS:
        return (
            f"One layer of filled boxes after the other, the last ones first: `solve` does so by "
            f"itself. All positions have the same turn, so no graph is needed. Here the sheet has "
            f"the first {BOXES} boxes only."
        )
    after = graph.n_states - graph.n_positions
    size = f"{graph.n_positions:,} positions" + (f", and {after:,} after a throw" if after else "")
    largest = graph.components.largest
    if largest > 1:
        improved = "by improving a policy until nothing can be improved (strategy iteration)"
        order = (
            f"Up to {largest:,} of them lead round in a circle; their values are the solution of "
            f"one system of equations{f', found {improved}' if cards.has_choice(solution) else ''}."
        )
    elif cards.returns_at_once(solution):
        order = (
            "A position can only come back at once, so each is one equation, solved from the end "
            "of the game backwards."
        )
    else:
        order = "No position comes back, so each is worked out once, from the end backwards."
    layers = ""
    if cls.progress is not Game.progress:
        layers = " Its `progress` allows one layer in memory at a time (`--by-layer`)."
    what = solution.worth_name if solution.is_score else "chance"
    digits = int(-np.log10(max(solution.error_bound, 1e-16)))
    return f"{size}. {order}{layers} Each {what} is proved to {digits} decimals or more."
