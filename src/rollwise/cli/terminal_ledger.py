"""The books of a game in a terminal: luck and skill, mistakes, and the game told again."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from rollwise.cli.figures import Figures
from rollwise.coach.session import Session
from rollwise.documents.played import ledger_document


def show_ledger(console: Console, session: Session, seat: int) -> None:
    """All there is to say when a game is over, in the eyes of a seat."""
    figures = Figures(session.table.solution)
    document = ledger_document(session, seat)
    console.print()
    show_balance(console, session, seat)
    _show_mistakes(console, figures, document["mistakes"])
    _retell(console, figures, document["moves"])


def show_balance(console: Console, session: Session, seat: int) -> None:
    """Luck and skill so far, in the eyes of a seat."""
    figures = Figures(session.table.solution)
    document = ledger_document(session, seat)
    you = document["player"]
    change = f"{figures.points} more or less{figures.wanted}"
    head = f"Luck and skill of {you}: {figures.unit}, and {change}"
    console.print(Text(head, style="bold"))
    grid = Grid(box=None, padding=(0, 2, 0, 2), show_header=False)
    grid.add_column("")
    grid.add_column("", justify="right")
    grid.add_row("at the start", figures.level(document["start"]))
    luck, skill = document["luck_by_mover"], document["skill_by_mover"]
    grid.add_row(Text(f"dice of {you}"), figures.change(luck["own"]))
    grid.add_row(Text(f"choices of {you}"), figures.change(skill["own"]))
    if session.table.graph.players == 2:
        other = session.names[1 - seat]
        grid.add_row(Text(f"dice of {other}"), figures.change(luck["other"]))
        grid.add_row(Text(f"choices of {other}"), figures.change(skill["other"]))
    grid.add_row("result" if document["over"] else "now", figures.level(document["result"]))
    console.print(grid)
    total = f"luck {figures.change(document['luck'])}, skill {figures.change(document['skill'])}"
    console.print(Text(f"  {total} {figures.points}", style="bold"))
    console.print(Text(f"  {_decisions(document, figures)}"))


def _decisions(document: dict[str, Any], figures: Figures) -> str:
    n = document["decisions"]
    graded = [f"{times} {name}" for name, times in document["grades"].items() if times]
    text = f"{n} decision{'' if n == 1 else 's'}: {', '.join(graded) or 'none doubtful or worse'}"
    return f"{text}; {figures.cost_text(document['cost_per_decision'])} a decision" if n else text


def _show_mistakes(console: Console, figures: Figures, mistakes: list[dict[str, Any]]) -> None:
    if not mistakes:
        console.print("No mistakes.")
        return
    console.print("Mistakes, the worst first:")
    for move in mistakes:
        text = f"  move {move['move']}, {move['player']} at {move['position']}: "
        grade = f" ({move['grade']})" if move["grade"] else ""
        cost = f"{move['action']} cost {figures.cost_text(move['cost'])}{grade}"
        console.print(Text.assemble(text, (f"{cost}; better: {move['best']}", "red")))


def _retell(console: Console, figures: Figures, moves: list[dict[str, Any]]) -> None:
    console.print("The game again:")
    grid = Grid(box=None, padding=(0, 2, 0, 2))
    for head in ("move", "player", "did", "what came", "skill", "luck"):
        grid.add_column(head, justify="right" if head in ("move", "skill", "luck") else "left")
    for move in moves:
        dice = " ".join(str(face) for face in move["dice"])
        grid.add_row(
            str(move["move"]),
            Text(move["player"]),
            Text(f"{move['action']} {dice}".strip()),
            Text(move["outcome"]),
            figures.change(move["skill"]),
            figures.change(move["luck"]),
        )
    console.print(grid)
