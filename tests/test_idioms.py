"""Rules as newcomers write them compile, and give what Python gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.idioms import COMPILED, HELPERS, SHEET, sheet_of

from rollwise import build
from rollwise.builders import CompileWarning
from rollwise.games import find

pytestmark = pytest.mark.needs_jit


GROUP = 15  # idioms that are compiled at a time


def assert_compiles(folder, sheet):
    (folder / "helpers.py").write_text(HELPERS)
    (folder / "own.py").write_text(sheet)
    game = find(f"{folder / 'own.py'}:Own")()
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        compiled = build(game, mode="compiled")
    plain = build(game, mode="interpreted")
    assert np.array_equal(compiled.states, plain.states)
    assert np.array_equal(compiled.outcome_state, plain.outcome_state)


@pytest.mark.parametrize("first", range(0, len(COMPILED), GROUP))
def test_idioms_in_methods_compile(tmp_path, first):
    assert_compiles(tmp_path, sheet_of(COMPILED[first : first + GROUP]))


@pytest.mark.slow
@pytest.mark.parametrize("idiom", COMPILED[::8])
def test_an_idiom_in_outcomes_compiles(tmp_path, idiom):
    assert_compiles(tmp_path, SHEET.replace("@@", idiom.replace("\n", "\n        ")))
