"""Parameters of games: their types and ranges, and the errors that name them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rollwise import errors, parameter
from rollwise.errors import ParameterError, RollwiseError
from rollwise.games.pig import Pig


@dataclass(frozen=True)
class Tuned(Pig):
    whole: int = parameter(3, at_least=1, at_most=9)
    real: float = parameter(0.5, at_least=0)
    flag: bool = False


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"whole": 0}, "tuned: whole must be from 1 to 9, not 0"),
        ({"whole": 10}, "tuned: whole must be from 1 to 9, not 10"),
        ({"whole": 2.0}, "tuned: whole must be a whole number, not 2.0"),
        ({"whole": True}, "tuned: whole must be a whole number, not True"),
        ({"whole": "3"}, "tuned: whole must be a whole number, not '3'"),
        ({"real": -0.1}, "tuned: real must be at least 0, not -0.1"),
        ({"real": float("nan")}, "tuned: real must be a finite number, not nan"),
        ({"real": None}, "tuned: real must be a number, not None"),
        ({"flag": 1}, "tuned: flag must be true or false, not 1"),
        ({"target": 0}, "tuned: target must be from 1 to 30000, not 0"),
    ],
    ids=str,
)
def test_parameters_are_checked(values, said):
    with pytest.raises(ParameterError) as caught:
        Tuned(**values)
    assert str(caught.value) == said


def test_every_error_is_in_the_tree_and_has_an_exit_code():
    ours = [
        kind for kind in vars(errors).values() if getattr(kind, "__module__", "") == errors.__name__
    ]
    kinds = [kind for kind in ours if isinstance(kind, type)]
    assert all(issubclass(kind, RollwiseError) for kind in kinds)
    assert {kind.exit_code for kind in kinds} == {1, 2}
