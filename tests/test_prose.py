"""No figure of three decimals or more is typed into a sentence of the documents.

Blocks show printed output, which `test_documents.py` compares. Generated tables are left out.
"""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
GENERATED = re.compile(r"<!-- from .*?<!-- end -->", re.S)
FIGURE = re.compile(r"(?<![\w./])\d+\.\d{3,}\b")
GIVEN = {  # of a million games, of Storm and of a long run, measured once
    "learning.md": {"0.061", "0.0008"},
}


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_no_exact_figure_is_typed_by_hand(page):
    prose = GENERATED.sub("", FENCED.sub("", (DOCS / page).read_text()))
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)", "", prose)
    assert set(FIGURE.findall(prose)) <= GIVEN.get(page, set())
