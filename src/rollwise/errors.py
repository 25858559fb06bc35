"""The errors that rollwise raises: one tree, each with the exit code of its kind.

A mistake in what the user gave (a game, a parameter, a state, a file) ends the
command line with 2; a run that was right to ask for and failed ends it with 1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_on_command_line = False


def spelled(*, python: str, command_line: str) -> str:
    """What a message tells the user to write, in the words of where the user is."""
    return command_line if _on_command_line else python


@contextlib.contextmanager
def words_of_the_command_line() -> Iterator[None]:
    """Within this, messages speak of options; elsewhere of arguments."""
    global _on_command_line
    before, _on_command_line = _on_command_line, True
    try:
        yield
    finally:
        _on_command_line = before


def on_command_line() -> bool:
    """Whether messages speak of options."""
    return _on_command_line


class RollwiseError(Exception):
    """Anything that rollwise reports instead of an answer."""

    exit_code = 2


class UsageError(RollwiseError):
    """A request that can't be carried out as it was put."""


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
    """No game goes by this name, or its file can't be read as rules."""


class ParameterError(UsageError):
    """A game has no such parameter, or the value doesn't fit it."""


class UnknownState(UsageError):
    """A state that can't be reached in this game, or isn't written as one."""


class ExpressionError(UsageError):
    """A filter that can't be understood."""


class SolutionFileError(UsageError):
    """A saved solution that is damaged, or that was made for other rules."""


class RefusedFile(SolutionFileError):
    """A saved solution that was to be verified, and can't even be read."""

    exit_code = 1


class OutputError(UsageError):
    """A file that can't be written. Where the disk is full, that is a run that failed."""


class LearnerFileError(UsageError):
    """A saved learner that is damaged, or that was made for other rules."""


class RulesError(RollwiseError):
    """The rules of a game break the contract of the game language."""


class RulesDiffer(RollwiseError):
    """Compiled rules do something else than the same rules in Python."""

    exit_code = 1


class EndlessPlay(RulesError):
    """The players can go round for ever, so the game has no certain value."""


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
    """A solver ended without the answer that it was asked for."""

    exit_code = 1


class TooLargeForFractions(RollwiseError):
    """A game whose exact values would be too long to write down."""

    exit_code = 1


class TooLittleMemory(RollwiseError, MemoryError):
    """The process may not take the memory that it needs."""

    exit_code = 1


class NotServed(RollwiseError):
    """A server that can't listen where it should."""

    exit_code = 1


class ClusterError(RollwiseError):
    """Workers that can't be reached, or that are gone."""

    exit_code = 1


class PolicyError(UsageError):
    """A policy that there isn't, or that doesn't fit the game."""


class MissingExtra(UsageError):
    """An optional part of rollwise that isn't installed; the message says how to."""
