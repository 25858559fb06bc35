"""The page of sources: it is the bibliography's, and whoever is named anywhere is on it."""

import re

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
    plain = [name.translate(str.maketrans("äåö", "aao")) for name in rest]
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
