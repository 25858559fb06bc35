"""The books of a game in a terminal: luck and skill, mistakes, and the game told again."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from rollwise.cli.printing import print_table, table_of
from rollwise.coach.session import Session
from rollwise.coach.tally import Tally, counted, policy_losses, score_bins
from rollwise.documents.played import Figures, GameLedger, MoveAccount, ledger_document

BAR = 30  # characters of the longest bar


def show_ledger(console: Console, session: Session, seat: int) -> None:
    """All there is to say when a game is over, in the eyes of a seat."""
    figures = Figures.of(session.table.solution)
    document = ledger_document(session, seat)
    console.print()
    show_balance(console, session, seat)
    _show_mistakes(console, figures, document.mistakes)
    _retell(console, figures, document.moves)


def show_balance(console: Console, session: Session, seat: int) -> None:
    """Luck and skill so far, in the eyes of a seat."""
    figures = Figures.of(session.table.solution)
    document = ledger_document(session, seat)
    you = document.player
    change = f"{figures.points} more or less{figures.wanted}"
    head = f"Luck and skill of {you}: {figures.unit}, and {change}"
    console.print(Text(head, style="bold"))
    players, sides = session.table.graph.players, {"own": you}
    if players > 1:
        sides["other"] = session.names[1 - seat] if players == 2 else "the others"
    kinds = {"dice": document.luck_by_mover, "choices": document.skill_by_mover}
    _show_pairs(
        console,
        [
            ("at the start", figures.level(document.start)),
            *(
                (f"{kind} of {who}", figures.change(getattr(found, side)))
                for side, who in sides.items()
                for kind, found in kinds.items()
            ),
            ("result" if document.over else "now", figures.level(document.result)),
        ],
    )
    total = f"luck {figures.gain(document.luck)}, skill {figures.gain(document.skill)}"
    console.print(Text(f"  {total} {figures.points}", style="bold"))
    console.print(Text(f"  {_decisions(document, figures)}"))


def _show_pairs(console: Console, pairs: Iterable[tuple[str, str]]) -> None:
    """Names and figures, one below the other."""
    table = Grid(box=None, padding=(0, 2, 0, 2), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, figure in pairs:
        table.add_row(Text(name), figure)
    console.print(table)


def _decisions(document: GameLedger, figures: Figures) -> str:
    n = document.decisions
    graded = [f"{times} {name}" for name, times in document.grades.items() if times]
    text = f"{n} decision{'' if n == 1 else 's'}: {', '.join(graded) or 'none doubtful or worse'}"
    return f"{text}; {figures.cost_text(document.cost_per_decision)} a decision" if n else text


def _show_mistakes(console: Console, figures: Figures, mistakes: list[MoveAccount]) -> None:
    if not mistakes:
        console.print("No mistakes.")
        return
    console.print("Mistakes, the worst first:")
    for move in mistakes:
        text = f"  move {move.move}, {move.player} at {move.position}: "
        grade = f" ({move.grade})" if move.grade else ""
        cost = f"{move.action} cost {figures.cost_text(move.cost)}{grade}"
        console.print(Text.assemble(text, (f"{cost}; better: {move.best}", "red")))


def _retell(console: Console, figures: Figures, moves: list[MoveAccount]) -> None:
    console.print("The game again:")
    rows = (
        (
            str(move.move),
            Text(move.player),
            Text(" ".join(map(str, [move.action, *move.dice]))),
            Text(move.outcome),
            figures.gain(move.skill),
            figures.gain(move.luck),
        )
        for move in moves
    )
    words = ("player", "did", "result")
    heads = ("move", *words, "skill", "luck")
    print_table(table_of(heads, rows, left=words, fold=words, indent=2), console)


def standing(found: Tally, figures: Figures) -> str:
    """How a series goes for a player, in a few words."""
    rate = found.win_rate
    if rate is not None and rate.wins is not None:
        lost = found.games - rate.wins - rate.draws
        return f"{found.player} won {rate.wins}, drew {rate.draws}, lost {lost}"
    did = "gained" if figures.has_stakes else "scored"
    return f"{found.player} {did} {figures.level(found.score.mean)} a game" if found.score else ""


def show_tally(console: Console, session: Session, found: Tally) -> None:
    """A series of games, added up for a player."""
    figures = Figures.of(session.table.solution)
    console.print()
    games = f"{found.games} game{'' if found.games == 1 else 's'}"
    console.print(Text(f"{games}: {standing(found, figures)}", style="bold"))
    pairs = [(f"with best play ({figures.unit})", figures.level(found.start))]
    if found.win_rate is not None:
        rate = found.win_rate
        spread, (low, high) = f"{100 * rate.standard_error:.2f}", rate.interval
        pairs += [
            ("wins, a draw half a win", _around(f"{100 * rate.mean:.2f} %", spread)),
            ("  95 % confidence interval", f"{100 * low:.2f} to {100 * high:.2f} %"),
        ]
    if found.score is not None:
        spread = f"{found.score.standard_error:.3f}"
        pairs.append(("points a game", _around(f"{found.score.mean:.3f}", spread)))
    loss = found.loss
    lost = _around(figures.cost(loss.mean), figures.spread(loss.standard_error))
    beside = policy_losses(session.table.solution) if session.table.is_whole else {}
    pairs += [
        (f"lost by choice a game ({figures.points})", lost),
        *((f"  {name} loses, against optimal play", figures.cost(x)) for name, x in beside.items()),
        (f"luck a game ({figures.points})", figures.gain(found.luck)),
    ]
    if math.isfinite(found.games_to_tell):
        games = f"{max(1, math.ceil(found.games_to_tell)):,}"
        pairs.append(("games until the results alone tell that (95 %)", games))
    _show_pairs(console, pairs)
    _show_scores(console, session, found)
    if found.games > 1:
        means = [one for one in (found.win_rate, found.score, loss) if one is not None]
        alike = [math.isnan(one.standard_error) for one in means]
        if not all(alike):
            console.print(Text("  ± one standard error over the games (estimated)", style="dim"))
        if any(alike):
            text = "  no ±: the same in every game, so that their spread is unknown"
            console.print(Text(text, style="dim"))


def _around(mean: str, spread: str) -> str:
    """A mean and its standard error, undefined for identical results."""
    return mean if spread == "nan" else f"{mean} ± {spread}"


def _show_scores(console: Console, session: Session, found: Tally) -> None:
    """A player's scores over the exact distribution of optimal play, as bars."""
    bins = score_bins(session.table.solution) if session.table.is_whole else []
    if not bins or not found.scores:
        return
    made = counted(bins, found.scores)
    most = max(*(one.chance for one in bins), *(n / found.games for n in made))
    rows = []
    for one, n in zip(bins, made, strict=True):
        mine, best = (round(BAR * share / most) for share in (n / found.games, one.chance))
        bar = "".join("|" if k == best else "█" if k < mine else " " for k in range(BAR + 1))
        shares = [f"{100 * share:.1f} %" for share in (n / found.games, one.chance)]
        rows.append([one.text, str(n), *shares, bar.rstrip()])
    console.print(Text(f"Scores of {found.player}, and where best play has them (|):"))
    heads = ("points", "games", "share", "best play", "")
    print_table(table_of(heads, rows, left=("",), indent=2), console)
