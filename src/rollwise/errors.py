"""The errors of rollwise: one tree, each with the exit code of its kind.

An error in the input of the user (a game, a parameter, a state, a file) ends the command line
with 2. A valid request whose run failed ends it with 1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

Entry = TypeVar("Entry")

_on_command_line = False


def spelled(*, python: str, command_line: str) -> str:
    """The part of a message with an instruction, in the words of Python or of the command line."""
    return command_line if _on_command_line else python


def argument(name: str) -> str:
    """The name of an argument, or on the command line of its option."""
    is_option = _on_command_line and name.isidentifier()
    return f"--{name.replace('_', '-')}" if is_option else name


@contextlib.contextmanager
def words_of_the_command_line() -> Iterator[None]:
    """Within this context, messages name options; elsewhere they name arguments."""
    global _on_command_line
    before, _on_command_line = _on_command_line, True
    try:
        yield
    finally:
        _on_command_line = before


def on_command_line() -> bool:
    """Whether messages name options."""
    return _on_command_line


class RollwiseError(Exception):
    """Any error that rollwise reports instead of an answer."""

    exit_code = 2


class UsageError(RollwiseError):
    """A request that can't be carried out in this form."""


def no_opponent(game: str) -> UsageError:
    """The refusal of an opponent in a game for one."""
    return UsageError(f"{game} is a game for one: there is no opponent; leave it out")


def another_kind(wanted: str, given: object) -> UsageError:
    """The refusal of an argument of another kind, as in "a graph is wanted, such as ..."."""
    return UsageError(f"{wanted}, not a value of the type {type(given).__name__}")


class ForMorePlayers(UsageError):
    """A game of three or more players, where one for one or two was expected.

    Attributes
    ----------
    game : Game
    """

    def __init__(self, message: str, game: Any) -> None:
        super().__init__(message)
        self.game = game

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.game)  # from another process


class UnknownGame(UsageError):
    """No game has this name, or its file can't be read as rules."""


class ChanceWarning(UserWarning):
    """The chances of an action don't add up to 1; they are divided by their sum."""


class ParameterError(UsageError):
    """A game has no such parameter, or the value doesn't fit it."""


class ModelFileError(UsageError):
    """A model of another tool that is damaged, or of a kind without a solution here."""


class UnknownState(UsageError):
    """A state that can't be reached in this game, or text in another form than a state."""


class ExpressionError(UsageError):
    """A filter that can't be parsed."""


class SolutionFileError(UsageError):
    """A saved solution that is damaged, or belongs to other rules."""


class RefusedFile(SolutionFileError):
    """An unreadable file given as a saved solution to verify."""

    exit_code = 1


class OutputError(UsageError):
    """A file that can't be written. A full disk counts as a failed run."""


class LearnerFileError(UsageError):
    """A saved learner that is damaged, or belongs to other rules."""


class RulesError(RollwiseError):
    """The rules of a game break the contract of the game language."""


class RoundedNumbers(UsageError):
    """A number that may be rounded, where fractions are asked for."""


class RulesDiffer(RollwiseError):
    """Compiled rules give other results than the same rules in Python."""

    exit_code = 1


class EndlessPlay(RulesError):
    """The players can go round for ever, and the game has no certain value."""


class TooManyStates(RulesError):
    """The game has more states than the limit allows.

    Attributes
    ----------
    fault : str
        The message without its remedies.
    """

    def __init__(self, fault: str, remedies: str = "") -> None:
        super().__init__(f"{fault}{remedies}")
        self.fault = fault


class NotConverged(RollwiseError):
    """A solver ended without the requested answer."""

    exit_code = 1


class TooLargeForFractions(RollwiseError):
    """A game whose exact values are too long to write down."""

    exit_code = 1


class TooLittleMemory(RollwiseError, MemoryError):
    """The memory limit of the process is below its need."""

    exit_code = 1


class NotServed(RollwiseError):
    """A server that can't listen at its address."""

    exit_code = 1


class ClusterError(RollwiseError):
    """Workers that are unreachable or gone."""

    exit_code = 1


class PolicyError(UsageError):
    """An unknown policy, or one unfit for the game."""


class MissingExtra(UsageError):
    """An optional part of rollwise is missing. The message gives the command to install it."""


def suggestion(word: object, names: Iterable[str], before: str = "") -> str:
    """The end of a message about an unknown word: "; did you mean pig?", or empty.

    Parameters
    ----------
    before : str
        Stands before the suggested name, as ``as=``.
    """
    import difflib

    close = difflib.get_close_matches(str(word), map(str, names), 1)
    return f"; did you mean {before}{close[0]}?" if close else ""


def entry(kind: str, name: object, table: Mapping[str, Entry]) -> Entry:
    """The entry of a table by its name.

    Raises
    ------
    UsageError
        No entry has this name; the message lists all names.
    """
    if not isinstance(name, str) or name not in table:
        raise UsageError(no_such(kind, name, table))
    return table[name]


def no_such(kind: str, word: object, names: Iterable[str]) -> str:
    """The message about an unknown word: "there is no method 'x' (there are a, b)"."""
    known = list(names)
    return f"there is no {kind} {word!r}{suggestion(word, known)} (there are {', '.join(known)})"
