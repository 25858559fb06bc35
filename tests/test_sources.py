"""The page of sources: it is the bibliography's, and whoever is named anywhere is on it."""

import re

import pytest
import sources
from sources import ROOT

KNOWN = sources.entries(sources.BIBLIOGRAPHY.read_text())
PLACES = ("*.md", "docs/**/*.md", "docs/**/*.py", "src/**/*.py", "benchmarks/**/*.py")
FILES = sorted(
    path
    for pattern in (*PLACES, "examples/*.py", "tests/answers.toml")
    for path in ROOT.glob(pattern)
    if path != sources.PAGE and path.name != "sources.py"
)


def test_the_page_is_made_from_the_bibliography():
    assert sources.PAGE.read_text() == sources.page(sources.BIBLIOGRAPHY.read_text()), (
        "run make docs"
    )


def test_the_bibliography_is_well_formed():
    """Every entry is read whole, has what its kind needs, and stands in its place."""
    text = sources.BIBLIOGRAPHY.read_text()
    assert len(KNOWN) == text.count("\n@") == len(set(re.findall(r"^@\w+\{(\w+),", text, re.M)))
    lines = [line for line in text.splitlines() if line and not line.startswith("%")]
    inside = [line for line in lines if not line.startswith("@") and line != "}"]
    assert all(sources.FIELD.fullmatch(line) for line in inside)
    assert sum(len(entry) - 1 for entry in KNOWN.values()) == len(inside)
    for key, entry in KNOWN.items():
        needed = {"article": {"author", "title", "journal", "year"}, "book": {"author", "title"}}
        assert set(entry) >= needed.get(entry["type"], set()), key
        if "study" in entry:
            assert {"title", "howpublished", "license"} <= set(entry), key
            assert (ROOT / "docs" / "case-studies" / f"{entry['study']}.md").exists()
    rest = [
        sources.surnames(entry)[0].lower() for e, entry in KNOWN.items() if "study" not in entry
    ]
    plain = [name.replace("ä", "a") for name in rest]
    assert [n for n in plain if " " not in n] == sorted(n for n in plain if " " not in n)


def test_whoever_is_named_is_on_the_page():
    missing = []
    known = {(name, entry.get("year")) for entry in KNOWN.values()
             for name in sources.surnames(entry)}  # fmt: skip
    # "de Alfaro 1997" is found as "Alfaro 1997"
    known |= {(name.split()[-1].split("'")[-1], year) for name, year in known}
    named = 0
    for path in FILES:
        for name, year in sources.named(path.read_text()):
            named += 1
            if (name, year) not in known:
                missing.append(f"{path.relative_to(ROOT)}: {name} {year}")
    assert not missing, f"enter these in docs/sources.bib and run make docs: {missing}"
    assert named > 100


def test_every_entry_is_named_somewhere():
    """By the surname of an author and the year, or, without a year, by the title."""
    texts = " ".join(" ".join(path.read_text().split()) for path in FILES)
    for key, entry in KNOWN.items():
        words = [entry.get("title", "")]
        if "year" in entry:
            words = [name for name in sources.surnames(entry) if name in texts]
            assert entry["year"] in texts, key
        elif "author" in entry:
            words += sources.surnames(entry)
        assert any(word and word in texts for word in words), key


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("as Condon (1992) showed", [("Condon", "1992")]),
        ("that is Howard's method (1960), whose", [("Howard", "1960")]),
        ("(Saad and\n    Schultz 1986)", [("Schultz", "1986")]),
        ("Baier et al. 2017; d'Epenoux 1963", [("Baier", "2017"), ("Epenoux", "1963")]),
        ("Puterman, 1994, section 7", [("Puterman", "1994")]),
        ("Bolusani and others 2024", [("Bolusani", "2024")]),
        ("version 2024, CAV 2020, Pig 1,234 and Pig 1994.5", []),
    ],
)
def test_what_counts_as_a_name(text, found):
    assert list(sources.named(text)) == found
