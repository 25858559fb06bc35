"""``rollwise play`` for games with hidden dice or simultaneous choices: a game in the terminal.

The coach knows what the player sees, and no more: it shows the probabilities of the optimal
strategy, and the payoffs against the optimal strategy of the opponent.
"""

from __future__ import annotations

import numpy as np
import typer

from rollwise.cli.hidden_games import find_answer
from rollwise.cli.printing import render
from rollwise.cli.streams import ASKED
from rollwise.documents.hidden import HiddenPlayed, actions_table, situation_row
from rollwise.documents.model import Rows
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.hidden import Answer, Situation
from rollwise.hidden.simulation import Walk, drawn
from rollwise.numbers.randomness import check_seed, fresh_seed

DOUBTFUL = 1e-4  # cost of a choice on which the coach remarks


def play(
    game: Game, against: str, seat: str | None, coach: str, seed: int | None, load: str | None
) -> None:
    """Play one game against a policy, and print its result."""
    if against == "human":
        raise UsageError(f"{game.name}: two people at one screen would see each other's dice")
    mine, answer = int(seat == "second"), find_answer(game, saved=load)
    opponent = answer.with_policies((against, against)) if against != "optimal" else answer
    seed = fresh_seed() if seed is None else check_seed(seed)
    walk, lost, last = Walk(answer, np.random.default_rng(seed)), 0.0, ""
    while not walk.is_over:
        indices, shown = list[int](), list[str]()
        last = answer.positions.text(walk.position)
        for player, side in walk.choosers():
            if player == mine:
                situation = walk.situation(player, side)
                index = _ask(answer, situation, coach)
                if index is None:
                    _end(game, against, seat, None, lost, seed)
                    return
                lost += _judged(situation, index, coach)
            else:
                memory = walk.memories[player]
                situation = opponent.at(memory, player, side, walk.position)
                index = drawn(situation, walk.random)
            indices.append(index)
            shown.append(f"{'you' if player == mine else against}: {situation.names[index]}")
        if len(shown) > 1:
            _say("; ".join(shown))
        walk.act(indices)
    _say(f"the last position, of its mover: {last}")
    _end(game, against, seat, walk.payoff * (1 - 2 * mine), lost, seed)


def _end(
    game: Game, against: str, seat: str | None, payoff: float | None, lost: float, seed: int
) -> None:
    """Print the result; a payoff of None for a game that was left."""
    facts = {"payoff": payoff, "lost": lost if np.isfinite(lost) else None, "seed": seed}
    render(HiddenPlayed.on(game, against=against, seat=seat or "first", **facts))


def _say(text: str) -> None:
    typer.echo(text, err=ASKED.json)


def _ask(answer: Answer, situation: Situation, coach: str) -> int | None:
    """The index of the action that a person types; None at the end of the input."""
    other = situation.seat == 1 and not answer.positions.is_hidden
    _say(f"\n{'you are the other player; the mover sees' if other else 'you see'} {situation.text}")
    words = answer.game.describe(answer.positions.states[situation.position])
    if type(answer.game).describe is not Game.describe:
        _say(f"  {words}")
    if coach == "always":
        _hint(answer, situation)
    named = ", ".join(f"{n} {name}" for n, name in enumerate(situation.names, 1))
    while True:
        _say(f"{named} (hint: the coach, q: leave)")
        try:
            text = input("> " if not ASKED.json else "").strip()
        except EOFError:
            return None
        if text == "q":
            return None
        if text == "hint" and coach != "off":
            _hint(answer, situation)
        elif text in situation.names:
            return situation.names.index(text)
        elif text.isdecimal() and 1 <= int(text) <= len(situation.names):
            return int(text) - 1
        else:
            _say(f"{text!r} is no action; type its name or its number")


def _hint(answer: Answer, situation: Situation) -> None:
    """Show the probabilities of the optimal strategy."""
    from rollwise.cli.printing import print_table, table_of

    rows: Rows = actions_table(situation_row(answer, situation).actions)
    if ASKED.json:
        return
    print_table(table_of(rows.heads, rows.cells, left=rows.left, indent=rows.indent))


def _judged(situation: Situation, index: int, coach: str) -> float:
    """The cost of an action against the optimal opponent, and the coach's remark."""
    values = np.array(situation.values)
    cost = float(np.nanmax(values) - values[index]) if np.isfinite(values).any() else 0.0
    if coach in ("always", "mistakes") and cost > DOUBTFUL:
        _say(f"  that costs {cost:.4f} against the optimal strategy")
    return cost
