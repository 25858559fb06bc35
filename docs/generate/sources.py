"""The pages of sources, made from docs/sources.bib; and which papers a text names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIBLIOGRAPHY = ROOT / "docs" / "sources.bib"
PAGE = ROOT / "docs" / "sources.md"
STUDIES = {
    "super_six_value_iteration": "Super Six by value iteration",
    "dice_blackjack": "Dice blackjack by self-play",
    "pig": "Pig: from hold-at-20 to optimal",
    "super_six_programming": "Super Six by mathematical programming",
    "threes": "Threes",
}
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")  # fmt: skip

ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}", re.M | re.S)
FIELD = re.compile(r"^  (\w+) = \{+(.*?)\}+,$", re.M)
# A name and a year: "Condon (1992", "Howard's method (1960", "Baier et al. 2017", "Student (1908)".
NAMED = re.compile(
    r"([A-ZÅÉ][\w'’é-]*[a-zé])(?:['’]s(?: [a-z]+)?)?(?: et al\.| and others)?,? "
    r"\(?((?:1[89]|20)\d\d)\b(?![-,.]?\d)"
)
NO_NAMES = {"CAV", "Python", "GammOnLine"}  # what stands before a year and is no author

Entry = dict[str, str]


def entries(text: str) -> dict[str, Entry]:
    """The entries of a bibliography by their keys: a dictionary of fields each."""
    found = {}
    for kind, key, inside in ENTRY.findall(text):
        fields = {name: value.replace("\\_", "_") for name, value in FIELD.findall(inside)}
        found[key] = {"type": kind, **fields}
    return found


def surnames(entry: Entry) -> list[str]:
    """Of the authors who are listed."""
    people = entry.get("author", "").split(" and ")
    return [person.split(",")[0] for person in people if person not in ("", "others")]


def named(text: str) -> Iterator[tuple[str, str]]:
    """Which names and years a page or a module gives."""
    joined = re.sub(r"\s*\n[ \t]*(?:#+|\*|-|>)?[ \t]*", " ", text)
    for name, year in NAMED.findall(joined):
        if name not in NO_NAMES:
            yield re.split(r"['’]s$", name)[0], year


def page(text: str) -> str:
    """The page of a bibliography."""
    known = entries(text)
    five = [entry for entry in known.values() if "study" in entry]
    rows = [
        f"| {_people(e) or 'not named'} | {_title(e)} | {e['howpublished']}{_when(e)} | "
        f"{e['license']} | [{STUDIES[e['study']]}](case-studies/{e['study']}.md) |"
        for e in five
    ]
    notes = [f"- *{e['title']}*: {e['note']}" for e in five if "note" in e]
    return "\n".join(
        [
            "<!-- Written by docs/generate from sources.bib: change that, not this. -->",
            "",
            "# Which work is rollwise built on?",
            "",
            "rollwise grew from five documents. The [case studies](case-studies/README.md) take",
            "facts and numbers from them, neither sentences nor code.",
            "",
            "| author | title | what it is | licence | case study |",
            "|---|---|---|---|---|",
            *rows,
            "",
            *notes,
            "",
            "Pages, docstrings and comments name papers by author and year. [sources.bib]"
            "(sources.bib) has all",
            "of them as BibTeX, and the site (`make site`) as a list.",
            "",
        ]
    )


def papers(text: str) -> str:
    """The other works of a bibliography, for the site."""
    rest = [entry for entry in entries(text).values() if "study" not in entry]
    head = "Pages, docstrings and comments name these papers, books and programs."
    return "\n".join(["# Bibliography", "", head, "", *(f"- {_reference(e)}" for e in rest)]) + "\n"


def _people(entry: Entry) -> str:
    found = []
    for person in entry.get("author", "").split(" and "):
        last, _, first = person.partition(", ")
        found.append(f"{first} {last}".strip())
    text = ", ".join(found)
    return re.sub(r", others$", " and others", text)


def _title(entry: Entry) -> str:
    title = f"*{entry['title']}*"
    return f"[{title}]({entry['url']})" if "url" in entry else title


def _when(entry: Entry) -> str:
    if "year" not in entry:
        return ""
    month = f"{MONTHS[int(entry['month']) - 1]} " if "month" in entry else ""
    return f", {month}{entry['year']}"


def _reference(entry: Entry) -> str:
    """A line with the authors, the year, the title and the journal."""
    text = _people(entry)
    if "year" in entry:
        text += f" ({entry['year']})"
    if "title" in entry:
        text += f". {_title(entry)}"
    place = entry.get("journal", "")
    if "volume" in entry:
        place += f" {entry['volume']}"
        place += f"({entry['number']})" if "number" in entry else ""
    where = [entry.get("booktitle", ""), place, entry.get("pages", "").replace("--", "–")]
    where += [entry.get("publisher", "")]
    where += [f"{entry['edition']} edition" if "edition" in entry else ""]
    where += [re.sub(r"^arXiv .*", "arXiv", entry.get("howpublished", ""))]
    where += [f"PhD thesis, {entry['school']}" if "school" in entry else ""]
    said = ", ".join(part for part in where if part)
    text += f". {said}" if said else ""
    if "doi" in entry:
        text += f", [doi](https://doi.org/{entry['doi'].replace('(', '%28').replace(')', '%29')})"
    return f"{text}. {entry['note']}" if "note" in entry else f"{text}."
