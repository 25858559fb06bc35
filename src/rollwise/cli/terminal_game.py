"""A session in a terminal: asks, shows, and never loses a game."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from rollwise.cli.figures import Figures
from rollwise.errors import UsageError
from rollwise.play.ledger import Account
from rollwise.play.report import ledger_document
from rollwise.play.session import Session

MOST_FALLS = 30
HELP = (
    "Type a choice, the beginning of it, or its number. "
    "? explains the game, q stops and keeps the game."
)


class Stopped(Exception):
    """The player has had enough for now."""


class TerminalGame:
    """Plays a session with whoever sits at the terminal.

    Parameters
    ----------
    session : Session
    console : Console
    coach : bool
        Say what each choice is worth, and what each move cost.
    by_hand : bool
        The dice lie on a real table: ask what they show.
    after_move : callable
        Called after every move, to keep the game.
    """

    def __init__(
        self,
        session: Session,
        console: Console,
        *,
        coach: bool = False,
        by_hand: bool = False,
        after_move: Callable[[], None] = lambda: None,
    ) -> None:
        self.session = session
        self.table = session.table
        self.console = console
        self.coach = coach
        self.by_hand = by_hand
        self.after_move = after_move
        self.figures = Figures(session.table.solution)
        self.people = [i for i, policy in enumerate(session.policies) if policy is None]

    def play(self) -> None:
        """Play to the end.

        Raises
        ------
        Stopped
            The player asked to stop, or the input has ended.
        """
        self.say(f"[bold]{self.table.graph.title}[/bold]  (seed {self.session.seed})")
        self.say(HELP, style="dim")
        shown = -1
        while not self.session.is_over:
            if self.session.seat != shown:
                self.say("")
                shown = self.session.seat
            self._move()
            self.after_move()

    def say(self, text: str, style: str | None = None) -> None:
        """Print a line."""
        self.console.print(text, style=style, highlight=False)

    def tell(self, *parts: tuple[str, str]) -> None:
        """Print a line of words with their styles; nothing in them is markup."""
        self.console.print(Text.assemble(*parts), highlight=False)

    def _move(self) -> None:
        session = self.session
        choices = session.choices
        position = self.table.position(session.state)
        self.tell((session.mover, "bold cyan"), (f": {position}", ""))
        forced = len(choices) == 1
        if session.is_machine:
            action = session.machine_choice()
        elif forced:
            action = choices[0].action
        else:
            self._show_choices()
            action = self._ask_choice()
        session.choose(action)
        entry = self._let_fall()
        name = self.table.graph.action_text(action)
        dice = f" {' '.join(map(str, entry.faces))}" if entry.faces else ""
        came = self.table.outcome_text(entry.action, entry.outcome)
        self.tell(("  → ", "green"), (name, "bold"), (dice, "bold yellow"), (f": {came}", ""))
        if self.coach and not forced and session.policies[entry.seat] is None:
            self._comment(entry)

    def _show_choices(self) -> None:
        grid = Grid(box=None, padding=(0, 2, 0, 2), show_header=self.coach)
        grid.add_column("", justify="right")
        grid.add_column("choice")
        if self.coach:
            grid.add_column(self.figures.unit, justify="right")
        numbered = self.table.graph.vocabulary.menus_are_numbered
        for number, choice in enumerate(self.session.choices, start=1):
            row = [str(number) if numbered else "", choice.name]
            if self.coach:
                row.append(self.figures.level(choice.value))
            grid.add_row(*row, style="bold" if self.coach and choice.is_best else None)
        self.console.print(grid)

    def _comment(self, entry: Account) -> None:
        best = self.table.graph.action_text(entry.best)
        if entry.is_mistake:
            cost = self.figures.cost(entry.cost)
            self.tell(("    coach: ", "magenta"), (f"that cost {cost}; better: {best}", ""))
        else:
            self.tell(("    coach: ", "magenta"), ("nothing is better", ""))

    def _ask(self, prompt: str) -> str:
        """A line that isn't a command."""
        while True:
            try:
                self.console.print(prompt, end="", markup=False, highlight=False)
                text = input().strip()
            except EOFError:
                self.console.print()
                raise Stopped from None
            except UnicodeDecodeError:
                self.say("That isn't text.", style="yellow")
                continue
            if text.lower() in ("q", "quit"):
                raise Stopped
            if text.lower() in ("?", "help"):
                self.console.print(self.table.game.description, markup=False)
                self.say(HELP, style="dim")
            elif text:
                return text

    def _ask_choice(self) -> int:
        while True:
            text = self._ask(f"{self.session.mover}> ")
            try:
                return self.table.action_at(self.session.state, text, in_menu=True)
            except UsageError as error:
                self.tell((str(error), "yellow"))

    def _let_fall(self) -> Account:
        session = self.session
        pending = session.pending
        assert pending is not None
        if not self.by_hand or len(session.falls) == 1:
            return session.roll()
        sides = self.table.dice(pending)
        name = self.table.graph.action_text(pending)
        if not sides:
            self._show_falls()
        while True:
            if sides:
                dice = "the die shows" if len(sides) == 1 else f"the {len(sides)} dice show"
                text = self._ask(f"  {name}: {dice}> ")
            else:
                text = self._ask(f"  {name}: what came of it (its number)> ")
            words = text.replace(",", " ").split()
            if not all(word.isdigit() for word in words):
                self.tell((f"{text!r} isn't what dice show; type numbers", "yellow"))
                continue
            try:
                numbers = [int(word) for word in words]
                if sides:
                    return session.throw(numbers)
                if len(numbers) != 1:
                    raise UsageError("type one number")
                return session.fall(numbers[0] - 1)
            except UsageError as error:
                self.tell((str(error), "yellow"))

    def _show_falls(self) -> None:
        falls = self.session.falls
        for fall in falls[:MOST_FALLS]:
            ways = f"{fall.ways:g} of {fall.of:g} ways"
            self.console.print(f"  {fall.number + 1:>4}  {fall.text}  ({ways})", markup=False)
        if len(falls) > MOST_FALLS:
            self.say(f"        and so on, to {len(falls)}", style="dim")

    def show_ledger(self) -> None:
        """Luck and skill, the mistakes, and the game told again."""
        seat = self.people[0] if self.people else 0
        document = ledger_document(self.session, seat)
        figures = self.figures
        you = document["player"]
        self.say("")
        self.tell((f"Luck and skill of {you} ({figures.unit})", "bold"))
        grid = Grid(box=None, padding=(0, 2, 0, 2), show_header=False)
        grid.add_column("")
        grid.add_column("", justify="right")
        grid.add_row("at the start", figures.level(document["start"]))
        luck, skill = document["luck_by_mover"], document["skill_by_mover"]
        grid.add_row(f"dice of {you}", figures.change(luck["own"]))
        grid.add_row(f"choices of {you}", figures.change(skill["own"]))
        if self.table.graph.players == 2:
            other = self.session.names[1 - seat]
            grid.add_row(f"dice of {other}", figures.change(luck["other"]))
            grid.add_row(f"choices of {other}", figures.change(skill["other"]))
        grid.add_row("result" if document["over"] else "now", figures.level(document["result"]))
        self.console.print(grid)
        total = (
            f"luck {figures.change(document['luck'])}, skill {figures.change(document['skill'])}"
        )
        self.tell((f"  {total}", "bold"))
        self._show_mistakes(document["mistakes"])
        self._retell(document["moves"])

    def _show_mistakes(self, mistakes: list[dict[str, object]]) -> None:
        if not mistakes:
            self.say("No mistakes.")
            return
        self.say("Mistakes, the worst first:")
        for move in mistakes:
            cost = self.figures.cost(float(str(move["cost"])))
            text = f"  move {move['move']}, {move['player']} at {move['position']}: "
            self.tell((text, ""), (f"{move['action']} cost {cost}; better: {move['best']}", "red"))

    def _retell(self, moves: list[dict[str, object]]) -> None:
        self.say("The game again:")
        grid = Grid(box=None, padding=(0, 2, 0, 2))
        for head in ("move", "player", "did", "what came", "skill", "luck"):
            grid.add_column(head, justify="right" if head in ("move", "skill", "luck") else "left")
        for move in moves:
            dice = " ".join(str(face) for face in move["dice"])  # type: ignore[attr-defined]
            grid.add_row(
                str(move["move"]),
                Text(str(move["player"])),
                Text(f"{move['action']} {dice}".strip()),
                Text(str(move["outcome"])),
                self.figures.change(float(str(move["skill"]))),
                self.figures.change(float(str(move["luck"]))),
            )
        self.console.print(grid)
