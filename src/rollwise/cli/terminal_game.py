"""A game at the terminal: asked, shown, kept in a file after every move, and added up.

The books show luck and skill, mistakes, and the game told again.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from rollwise.cli.common import file_stem
from rollwise.cli.printing import show_table
from rollwise.coach.game_record import written
from rollwise.coach.json_lines import History, json_line
from rollwise.coach.ledger import Account
from rollwise.coach.session import Choice, Coach, Remark, Session
from rollwise.coach.tally import Tally, counted, policy_losses, score_bins
from rollwise.documents.model import Rows
from rollwise.documents.played import Figures, GameLedger, MoveAccount, ledger_document
from rollwise.errors import OutputError, UsageError
from rollwise.game import Game
from rollwise.graph.naming import faces_thrown
from rollwise.machine.atomic_files import check_place, write_text
from rollwise.words.narration import YOU

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
    head = f"{_of('luck and skill', you)}: {figures.unit}, and {change}"
    console.print(Text(head[0].upper() + head[1:], style="bold"))
    players, sides = session.table.graph.players, {"own": you}
    if players > 1:
        sides["other"] = session.names[1 - seat] if players == 2 else "the others"
    kinds = {"dice": document.luck_by_mover, "choices": document.skill_by_mover}
    _show_pairs(
        console,
        [
            ("at the start", figures.level(document.start)),
            *(
                (_of(kind, who), figures.change(getattr(found, side)))
                for side, who in sides.items()
                for kind, found in kinds.items()
            ),
            ("result" if document.over else "now", figures.level(document.result)),
        ],
    )
    total = f"luck {figures.gain(document.luck)}, skill {figures.gain(document.skill)}"
    console.print(Text(f"  {total} {figures.points}", style="bold"))
    console.print(Text(f"  {_decisions(document, figures)}"))


def _of(thing: str, name: str) -> str:
    """Something of a player: "your dice", "dice of Ann"."""
    return f"your {thing}" if name == YOU else f"{thing} of {name}"


def _show_pairs(console: Console, pairs: Iterable[tuple[str, str]]) -> None:
    """Names and figures, one below the other."""
    show_table(Rows(("", " "), pairs, left=("",), indent=2), console)


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
            move.player,
            " ".join(map(str, [move.action, *faces_thrown(move.dice)])),
            move.outcome,
            figures.gain(move.skill),
            figures.gain(move.luck),
        )
        for move in moves
    )
    words = ("player", "did", "result")
    heads = ("move", *words, "skill", "luck")
    show_table(Rows(heads, rows, left=words, fold=words, indent=2), console)


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
    show_table(Rows(heads, rows, left=("",), indent=2), console)


FORMS = {".game": written, ".jsonl": json_line}  # of files, by the ends of their names


class KeptGame:
    """Writes sessions to a file and a history, one game after the other, after every move.

    Parameters
    ----------
    session : Session
        The game under way.
    headers : mapping
        Headers of the file beyond those of the session.
    place : Path, optional
        A file of JSON lines, if its name ends in ``.jsonl``, or else of game notation.
    history : History, optional
        Gets each game after its first move.
    """

    def __init__(
        self,
        session: Session,
        headers: Mapping[str, str],
        place: Path | None = None,
        history: History | None = None,
    ) -> None:
        self.session = session
        self.headers = headers
        self.place = place
        self.history = history
        self._number: int | None = None  # in the history
        self._failed = ""
        self._told = ""
        self._finished = dict.fromkeys(FORMS, "")

    def begin(self, session: Session) -> None:
        """Keep another game, behind those before it."""
        for form, write in FORMS.items():
            between = "" if form == ".jsonl" else "\n"
            self._finished[form] += write(self.session, self.headers) + between
        self.session = session
        self._number = None

    def keep(self) -> str:
        """Write the game to its file. Return a new message about it, or an empty text."""
        before, self._told = self._told, ""
        if self.place is not None:
            try:
                write_text(self.place, self._text)
                self._failed = ""
            except OutputError as error:
                self._failed = self._told = str(error)
        if self.history is not None and self.session.accounts:
            try:
                line = json_line(self.session, self.headers)
                self._number = self.history.keep(line, self._number)
            except OutputError as error:
                self._told = self._told or str(error)
        return self._told if self._told != before else ""

    def move_to(self, place: Path) -> None:
        """Keep the game in this file from now on.

        Raises
        ------
        UsageError
            There is such a file, or it can't be written.
        """
        if place != self.place:
            require_new(place)
        write_text(place, self._text)
        self.place = place

    def keep_somewhere(self) -> Path | None:
        """Write the game to its place, or to a new file; to stderr if neither can be done."""
        if self.place is None:
            self.place = _free_name(self.session.table.game)
        self.keep()
        if self._failed:
            print(f"rollwise: {self._failed}; this is the game:", file=sys.stderr)
            print(self._text, end="", file=sys.stderr)
            return None
        return self.place

    @property
    def _text(self) -> str:
        form = ".jsonl" if self.place is not None and self.place.suffix == ".jsonl" else ".game"
        return self._finished[form] + FORMS[form](self.session, self.headers)


def require_new(place: Path) -> None:
    """Raise unless the file can be written and is empty or absent.

    Raises
    ------
    UsageError
        The file isn't writable, or isn't empty.
    """
    if place.is_file() and place.stat().st_size:
        raise UsageError(
            f"{place} is there already; --resume {place} goes on with a game, another name keeps "
            "both"
        )
    check_place(place)


def _free_name(game: Game) -> Path:
    """An unused file name for a game."""
    stem, number = file_stem(game), 1
    while True:
        path = Path(f"{stem}{'' if number == 1 else f'-{number}'}.game")
        if not path.exists():
            return path
        number += 1


MOST_FALLS = 30
MOST_HINTS = 10
LONG_MENU = 12
MOST_UNASKED = 100  # moves of the player without a choice
COMMANDS = {
    "hint": "the value of each choice",
    "undo": "takes your last choice back",
    "stats": "luck and skill so far",
    "save": "keeps the game in a file from now on: save FILE",
    "help": "the rules of the game, and this",
    "quit": "stops and keeps the game",
}
SHORT = {"?": "help", "q": "quit"}


class Stopped(Exception):
    """The player has had enough for now."""


class TakenBack(Exception):
    """The player has taken a choice back."""


class TerminalGame:
    """Plays a session with the person at the terminal.

    Parameters
    ----------
    session : Session
    console : Console
    coach : Coach
    kept : KeptGame
    by_hand : bool
        The dice lie on a real table: ask for their faces.
    """

    def __init__(
        self,
        session: Session,
        console: Console,
        coach: Coach,
        kept: KeptGame,
        *,
        by_hand: bool = False,
    ) -> None:
        self.session = session
        self.table = session.table
        self.console = console
        self.coach = coach
        self.kept = kept
        self.by_hand = by_hand
        self.figures = Figures.of(session.table.solution)
        self._unasked = 0
        self.people = [i for i, policy in enumerate(session.policies) if policy is None]

    def greet(self) -> None:
        """Print the game, the kind of its values, and the input syntax."""
        self.tell((self.table.graph.title, "bold"), (f"  (seed {self.session.seed})", ""))
        self.tell((f"Values are {self.figures.certainty}.", "dim"))
        self.tell((self._how_to_type, "dim"))
        self.tell((f"You can also type {', '.join(COMMANDS)}.", "dim"))

    def play(self) -> None:
        """Play to the end.

        Raises
        ------
        Stopped
            The player asked to stop, or the input has ended.
        """
        self._keep()
        shown = -1
        while not self.session.is_over:
            if self._unasked >= MOST_UNASKED:  # perhaps for ever
                self._ask("Enter goes on> ", may_be_empty=True)
            self._unasked += 1
            if self.session.seat != shown:
                self.tell()
                shown = self.session.seat
            try:
                self._move()
            except TakenBack:
                self.tell(("Taken back.", "dim"))
            self._keep()

    def tell(self, *parts: tuple[str, str]) -> None:
        """Print a line of words with their styles, without markup."""
        self.console.print(Text.assemble(*parts), highlight=False)

    @property
    def _seat(self) -> int:
        return self.people[0] if self.people else 0

    @property
    def _how_to_type(self) -> str:
        if self.table.graph.vocabulary.menus_are_numbered:
            return "Type a choice, the beginning of its name, or its number in the menu."
        return "Type a choice as the menu shows it, or the beginning of its name."

    def _keep(self) -> None:
        fault = self.kept.keep()
        if fault:
            self.tell((f"{fault}; the game goes on", "yellow"))

    # ---- a move

    def _move(self) -> None:
        session = self.session
        mover, actions = session.mover, self.table.actions(session.state)
        forced = len(actions) == 1
        thrown = self.table.graph.view[session.state].throw
        if not forced or (self.by_hand and not thrown):
            board = self._board()
            if board and not (self.by_hand and thrown):  # it was shown before the throw
                self.tell((board, ""))
            self.tell(
                (mover, "bold cyan"), (f": {self.table.narrator.position(session.state)}", "")
            )
        if forced:
            session.choose(actions[0])
        elif session.is_machine:
            session.choose(session.machine_choice())
        else:
            self._show_menu()
            self._choose()
        entry = self._let_fall()
        told = session.told(entry)
        self.tell(("→ ", "green"), (mover, "bold cyan"), (told.removeprefix(mover), ""))
        verdict = self.coach.verdict()
        if verdict is not None:
            self._say(verdict)

    def _board(self) -> str:
        """The board with the players' names; one of two people against a machine keeps the side."""
        session = self.session
        names = [*session.names[session.seat :], *session.names[: session.seat]]
        as_opponent = len(names) == 2 and self.people == [1 - session.seat]
        return self.table.narrator.board(session.state, names, as_opponent=as_opponent)

    def _show_menu(self) -> None:
        choices = self.session.choices
        numbered = self.table.graph.vocabulary.menus_are_numbered
        if self.coach.shows_values:
            self._show_values(choices, numbered)
        elif numbered and len(choices) <= LONG_MENU:
            for number, choice in enumerate(choices, start=1):
                self.tell((f"  {number:>2}  {self.table.called(choice.name)}", ""))
        else:
            marks = [f"{n}  " if numbered else "" for n in range(1, len(choices) + 1)]
            names = [self.table.called(choice.name) for choice in choices]
            texts = [mark + name for mark, name in zip(marks, names, strict=True)]
            self.console.print(Padding(Columns(map(Text, texts), padding=(0, 3)), (0, 0, 0, 2)))

    def _show_values(self, choices: Sequence[Choice], numbered: bool) -> None:
        grid = Grid(box=None, padding=(0, 2, 0, 2))
        grid.add_column("", justify="right")
        grid.add_column("choice")
        grid.add_column(self.figures.unit, justify="right")
        grid.add_column(f"costs {self.figures.points}", justify="right")
        for number, choice in enumerate(choices, start=1):
            grid.add_row(
                str(number) if numbered else "",
                Text(self.table.called(choice.name)),
                self.figures.level(choice.value),
                "" if choice.is_best else self.figures.cost(choice.cost),
                style="bold" if choice.is_best else None,
            )
        self.console.print(grid)

    def _choose(self) -> None:
        """Ask until the player confirms an action."""
        session = self.session
        text = self._ask(f"{session.mover}> ", choosing=True)
        while True:
            try:
                action = self.table.action_at(session.state, text, in_menu=True)
            except UsageError as error:
                self.tell((f"{error}; or {', '.join(COMMANDS)}", "yellow"))
                text = self._ask(f"{session.mover}> ", choosing=True)
                continue
            again = session.pending == action
            if session.pending is not None and not again:
                session.undo()
            if not again:
                session.choose(action)
            warning = None if again else self.coach.warning()
            if warning is None:
                return
            self._say(warning)
            prompt = "  Enter lets it stand, undo takes it back> "
            text = self._ask(prompt, choosing=True, may_be_empty=True)
            if not text:
                return

    def _say(self, remark: Remark) -> None:
        if not remark.is_mistake:
            self.tell(("    coach: ", "magenta"), ("no action is better", ""))
            return
        cost = self.figures.cost_text(remark.cost)
        grade = f"a {remark.grade} choice: " if remark.grade else ""
        self.tell(("    coach: ", "magenta"), (f"{grade}it costs {cost}; ", ""),
                  (f"better: {self.table.called(remark.best)}", "bold"))  # fmt: skip

    # ---- typed input

    def _ask(self, prompt: str, *, choosing: bool = False, may_be_empty: bool = False) -> str:
        """A line of input other than a command."""
        while True:
            try:
                self.console.print(prompt, end="", markup=False, highlight=False)
                text = input().strip()
            except EOFError:
                self.console.print()
                raise Stopped from None
            except UnicodeDecodeError:
                self.tell(("That isn't text.", "yellow"))
                continue
            self._unasked = 0
            command = self._command(text, choosing)
            if command is not None:
                self._obey(*command)
            elif text or may_be_empty:
                return text

    def _command(self, text: str, choosing: bool) -> tuple[str, str] | None:
        """A command and its argument. A choice of that name comes first, unless after a colon."""
        word, _, rest = text.removeprefix(":").strip().partition(" ")
        command = SHORT.get(word, word.casefold())
        if text.startswith(":"):
            return command, rest.strip()
        if command not in COMMANDS or (rest and command != "save"):
            return None
        names = [choice.name.casefold() for choice in self.session.choices] if choosing else []
        return None if text.casefold() in names else (command, rest.strip())

    def _obey(self, command: str, rest: str) -> None:
        acts: dict[str, Callable[[], None]] = {
            "hint": self._hint,
            "undo": self._undo,
            "stats": lambda: show_balance(self.console, self.session, self._seat),
            "save": lambda: self._save(rest),
            "help": self._help,
            "quit": self._quit,
        }
        try:
            if command not in acts:
                raise UsageError(f"there is no command {command!r}; type {', '.join(COMMANDS)}")
            acts[command]()
        except UsageError as error:
            self.tell((str(error), "yellow"))

    def _hint(self) -> None:
        choices = self.coach.hint()
        if self.session.is_machine or len(choices) == 1:
            raise UsageError("there is no choice now")
        self._show_values(choices[:MOST_HINTS], numbered=False)
        if len(choices) > MOST_HINTS:
            self.tell((f"  and {len(choices) - MOST_HINTS} no better", "dim"))

    def _undo(self) -> None:
        self.session.undo()
        raise TakenBack

    def _save(self, name: str) -> None:
        if not name and self.kept.place is None:
            raise UsageError("where? Type save and the name of a file, as in save evening.game")
        self.kept.move_to(Path(name) if name else self.kept.place)  # type: ignore[arg-type]
        self.tell((f"kept in {self.kept.place}, after every move", "dim"))

    def _help(self) -> None:
        if described := self.table.game.description:
            self.console.print(described, markup=False)
        self.tell((self._how_to_type, "dim"))
        for name, about in COMMANDS.items():
            self.tell((f"  {name:<6}{about}", "dim"))
        self.tell(("Where a choice has the name of a command, type the command as :undo.", "dim"))

    def _quit(self) -> None:
        raise Stopped

    # ---- the dice

    def _let_fall(self) -> Account:
        session = self.session
        pending = session.pending
        assert pending is not None
        if not self.by_hand or len(session.falls) == 1:
            return session.roll()
        sides = self.table.narrator.dice(pending)
        name = self.table.graph.view.action(pending).name
        typed = bool(sides) or self.table.narrator.is_throw(pending)
        if sides:
            dice = "the die shows" if len(sides) == 1 else f"the {len(sides)} dice show"
        elif typed:
            dice = "what was thrown"
        else:
            dice = "the number of the outcome"
            self._show_falls()
        faces = {
            self.table.narrator.face_name(face).lower(): str(face)
            for face in range(1, max(sides, default=0) + 1)
        }
        named = "" if all(map(str.isdecimal, faces)) else f", or {' or '.join(faces)}"
        while True:
            text = self._ask(f"  {name}: {dice}> ")
            words = [faces.get(word, word) for word in text.lower().replace(",", " ").split()]
            try:
                if not all(re.fullmatch("-?[0-9]{1,9}", word) for word in words):
                    raise UsageError(f"{text!r} isn't a face of a die; type numbers{named}")
                numbers = [int(word) for word in words]
                if typed:
                    return session.throw(numbers)
                if len(numbers) != 1:
                    raise UsageError("type one number")
                return session.fall(numbers[0] - 1)
            except UsageError as error:
                self.tell((str(error), "yellow"))

    def _show_falls(self) -> None:
        falls = self.session.falls
        for fall in falls[:MOST_FALLS]:
            ways = f"{fall.ways:,.12g} of {fall.of:,.12g} ways"
            self.console.print(f"  {fall.number + 1:>4}  {fall.text}  ({ways})", markup=False)
        if len(falls) > MOST_FALLS:
            self.tell((f"        and so on, to {len(falls)}", "dim"))
