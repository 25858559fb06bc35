"""Rules as newcomers write them compile, and give what Python gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.idioms import COMPILED, HELPERS, SHEET

from rollwise import build
from rollwise.builders import CompileWarning
from rollwise.games import find

pytestmark = pytest.mark.needs_jit


@pytest.mark.slow
@pytest.mark.parametrize("idiom", COMPILED)
def test_an_idiom_compiles(tmp_path, idiom):
    (tmp_path / "helpers.py").write_text(HELPERS)
    place = tmp_path / "own.py"
    place.write_text(SHEET.replace("@@", idiom.replace("\n", "\n        ")))
    game = find(f"{place}:Own")()
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        compiled = build(game, mode="compiled")
    plain = build(game, mode="interpreted")
    assert np.array_equal(compiled.states, plain.states)
    assert np.array_equal(compiled.outcome_state, plain.outcome_state)
