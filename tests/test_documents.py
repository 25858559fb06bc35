"""The documents: what they tell one to type works, what they show is printed, links lead somewhere.

The tools are those that make the documents (see ``docs/generate``).
"""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import blocks
import cards
import command_line
import json_page
import language
import links
import pytest
import tutorial_notebook
from cli_runner import output

import rollwise
from rollwise.cli.app import all_functions
from rollwise.games import available

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = links.pages(ROOT)
RUN_FAST = {"tutorial.md"}
# Games whose cards take many seconds: hundreds of thousands of states, solved several times.
LARGE = {
    *("bear-off", "einstein", "farkle", "farkle-turn", "hypergammon", "knucklebones"),
    *("pass-the-pigs", "pig", "two-dice-pig"),
}


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def pages_that_run():
    """Of the cards, which `cards` writes, those of small games."""
    for page in PAGES:
        if page.parent.name == "games" and page.stem not in ("craps", "piglet", "shut-the-box"):
            continue
        if any(block.runs for block in blocks.blocks_of(page.read_text())):
            marks = [] if page.name in RUN_FAST else [pytest.mark.slow]
            yield pytest.param(page, id=page_name(page), marks=[*marks, pytest.mark.needs_jit])


@pytest.mark.parametrize("page", list(pages_that_run()))
@pytest.mark.usefixtures("solved_once")
def test_what_a_page_tells_one_to_type_works_and_prints_what_it_shows(page, tmp_path):
    assert blocks.run_page(page, tmp_path)


def modules_with_examples() -> list[str]:
    code = ROOT / "src"
    paths = [path for path in sorted(code.glob("**/*.py")) if ">>> " in path.read_text()]
    return [".".join(path.relative_to(code).with_suffix("").parts) for path in paths]


@pytest.mark.parametrize("module", modules_with_examples())
def test_the_examples_of_a_docstring_give_what_they_show(module):
    tried = doctest.testmod(importlib.import_module(module))
    assert tried.attempted > 0
    assert tried.failed == 0


def test_every_block_of_commands_is_marked_as_one():
    """A block without a language, or in another shell's name, would never be run."""
    for page in PAGES:
        for block in blocks.blocks_of(page.read_text()):
            where = f"{page_name(page)}, line {block.line}"
            assert block.language in ("sh", "python", "text", "json"), where
            if block.language == "json":
                json.loads(block.code)
            if block.language == "text":
                assert not block.code.startswith(("$ ", "rollwise ")), where


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a 0.10 s\n", "a 12.34 s\n", True),
        ("a 0.10\n", "a 0.11\n", False),
        ("a 0.50000000000000 ± 1.0e-14\n", "a 0.499999999999999 ± 4.1e-15\n", True),
        ("a 0.50000000000000\n", "a 0.50000000100000\n", False),
        ("a ± 1.0e-03\n", "a ± 1.1e-03\n", False),
        ("one\n...\n", "one\ntwo\nthree\n", True),
        ("one\n", "one\ntwo\n", False),
    ],
)
def test_what_counts_as_the_same_output(shown, printed, same):
    assert blocks.matches(shown, printed) is same


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("```sh\nrollwise nonsense\n```\n", "ended with 2, not 0"),
        ("```sh\nfalse\ntrue\n```\n", "ended with 1, not 0"),
        ("<!-- exit: 2 -->\n```sh\nrollwise --version\n```\n", "ended with 0, not 2"),
        ("```sh\nrollwise --version\n```\n\n```text\nrollwise 9.9\n```\n", "shows another text"),
        ("<!-- not run:  -->\n```sh\nfalse\n```\n", "say why"),
    ],
)
def test_a_page_that_is_wrong_is_found(text, says, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(blocks.DocumentError, match=says):
        blocks.run_page(page, tmp_path)


def test_the_games_of_the_documents_are_those_in_examples(tmp_path):
    for page, name in (
        (ROOT / "README.md", "thieves"),
        (DOCS / "tutorial.md", "dragon"),
        (DOCS / "language.md", "hit_the_mark"),
    ):
        for block in blocks.blocks_of(page.read_text()):
            blocks.write_files(block, tmp_path)
        assert (tmp_path / f"{name}.py").read_text() == (
            ROOT / "examples" / f"{name}.py"
        ).read_text()


@pytest.mark.needs_jit
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.large] if name in LARGE else [])
        for name in available()
        if name not in cards.BY_LAYERS
    ],
)
def test_the_cards_are_up_to_date(name, monkeypatch):
    monkeypatch.setattr(rollwise, "solve", functools.cache(rollwise.solve))
    assert (DOCS / "games" / f"{name}.md").read_text() == cards.card(name), "run make docs"


@pytest.mark.needs_jit
@pytest.mark.parametrize("name", cards.BY_LAYERS)
def test_the_cards_of_large_games_are_up_to_date(name, monkeypatch):
    """With few boxes, but for what only the whole game tells."""
    small = available()[name](**cards.BY_LAYERS[name])
    monkeypatch.setattr(cards.kept, "solve_by_layers", lambda game: rollwise.solve_by_layers(small))
    made = cards.card(name).splitlines()
    known = (DOCS / "games" / f"{name}.md").read_text().splitlines()
    whole = ("The largest expected score", "(")
    differ = [(one, other) for one, other in zip(made, known, strict=True) if one != other]
    assert len(differ) == 2, "run make docs"
    assert all(one.startswith(whole) and other.startswith(whole) for one, other in differ)
    answer = rollwise.solve(small)
    assert f"**{cards.digits(answer.value, answer.error_bound)}**" in differ[0][0]
    assert f"({len(answer):,} positions, each with a turn of 1,176 states; " in differ[1][0]


@pytest.mark.parametrize("name", available(hidden=True))
def test_the_cards_of_hidden_games_are_up_to_date(name):
    assert (DOCS / "games" / f"{name}.md").read_text() == cards.hidden_card(name), "run make docs"


def test_no_card_is_left_over():
    names = {*available(), *available(hidden=True)}
    assert set(cards.TEACHES) == names, "see docs/generate/teaches.toml"
    assert {page.stem for page in (DOCS / "games").glob("*.md")} == {*names, "README"}
    assert (DOCS / "games" / "README.md").read_text() == cards.index(), "run make docs"


def test_the_page_on_the_language_is_up_to_date():
    """It has every hook of a game, and every helper."""
    example = (ROOT / "examples" / "hit_the_mark.py").read_text()
    assert (DOCS / "language.md").read_text() == language.page(example), "run make docs"


def test_the_calls_of_the_language_are_python():
    page = (DOCS / "language.md").read_text()
    calls = re.findall(r"^- `((?:\w+\.)?\w+)\((.*?)\)`: ", page, re.M)
    assert len(calls) > 50
    for name, arguments in calls:
        ast.parse(f"def {name.rpartition('.')[2]}({re.sub(r'[][]', '', arguments)}): ...")


def test_the_page_on_the_command_line_is_up_to_date():
    page = (DOCS / "command-line.md").read_text()
    assert page == command_line.page(), "run make docs"
    # it holds what the program itself says
    assert set(re.findall(r"^### ([\w-]+)$", page, re.M)) == set(all_functions())
    flags = set(re.findall(r"--[a-z][\w-]+", output("solve", "--help"))) - {"--help"}
    common = page.partition("\n### ")[0]  # options of every command
    section = common + page.partition("### solve\n")[2].partition("\n### ")[0]
    assert set(re.findall(r"`(--[\w-]+)", section)) >= flags


def test_the_page_on_json_is_up_to_date():
    assert json_page.PAGE.read_text() == json_page.page(), "run python docs/generate/json_page.py"
    keys = json_page.keys()  # of all commands, on the site
    assert set(re.findall(r"^`rollwise/([\w-]+)/", keys, re.M)) >= {"solve", "advise", "serve"}


@pytest.mark.slow
def test_all_links_lead_somewhere():
    assert links.broken_links(ROOT) == []


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "picture.png").write_bytes(b"")
    (tmp_path / "docs" / "there.md").write_text(
        "# A heading, with `code`\n\n## Twice\n\n## Twice\n\n`[no link](nowhere.md)`\n"
    )
    good = """\
[a](docs/there.md) [b](docs/there.md#a-heading-with-code) [c](docs/there.md#twice-1) [d](#here)
![p](docs/picture.png) [e](https://example.org/page#x) [f](docs) [h][]

# Here

[h]: docs/there.md
"""
    page = tmp_path / "README.md"
    page.write_text(good)
    assert links.broken_links(tmp_path) == []
    bad = [
        "[a](docs/nowhere.md)",
        "[a](docs/there.md#twice-2)",
        "[a](htp://example.org)",
        "[a](../elsewhere.md)",
        "[a][nowhere]",
        '<img src="docs/nowhere.png">',
    ]
    for link in bad:
        page.write_text(f"first line\n\n{link}\n")
        assert [fault.partition(" ")[0] for fault in links.broken_links(tmp_path)] == [
            "README.md:3:"
        ], link


def test_every_page_can_be_come_to_from_the_readme():
    seen: set[Path] = set()
    ahead = [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in seen:
            continue
        seen.add(page)
        for _, target in links.links(page.read_text()):
            file = (page.parent / target.partition("#")[0]).resolve()
            if file.suffix == ".md" and file.is_file():
                ahead.append(file)
    assert {page_name(page) for page in DOCS.rglob("*.md")} <= {page_name(page) for page in seen}


@pytest.mark.needs_jit
def test_the_python_of_the_readme_gives_what_its_comments_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    every = blocks.blocks_of((ROOT / "README.md").read_text())
    *_, block = [b for b in every if b.runs and b.language == "python"]
    code = block.code.partition("solution.plot")[0]
    scope: dict[str, object] = {}
    exec(code, scope)
    said = re.search(r"win_probability +# (0\.\d+)\.\.\.", code)
    assert said is not None
    assert f"{scope['solution'].win_probability:.12f}".startswith(said[1])


@pytest.mark.slow
def test_the_page_on_learners_is_what_was_measured(tmp_path):
    """`train.py`, which wrote the runs down, needs PyTorch and isn't run."""
    pytest.importorskip("plotly")
    pytest.importorskip("gymnasium")
    folder = DOCS / "learners"
    done = subprocess.run(
        [sys.executable, folder / "learners.py", "--figures", "html", "--out", tmp_path],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr

    def words(page: Path) -> str:
        return re.sub(
            r"!?\[(?:Figure: )?([^]]+)\]\(([^)]+)\.(?:svg|html)\)", r"\1 \2", page.read_text()
        )

    assert words(folder / "learners.md") == words(tmp_path / "learners.md"), "run make docs"
    figures = sorted(path.stem for path in folder.glob("*.svg"))
    assert figures == sorted(path.stem for path in tmp_path.glob("*.html"))


def test_the_tutorial_is_a_notebook_that_was_executed():
    """Its cells are the tutorial's, and each that runs has what the page says that it prints."""
    kept = json.loads(tutorial_notebook.NOTEBOOK.read_text(encoding="utf-8"))
    assert ["".join(cell["source"]) for cell in kept["cells"]] == tutorial_notebook.sources()
    codes = [cell for cell in kept["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in codes] == list(range(1, len(codes) + 1))
    printed = [
        "".join(output["text"])
        for cell in codes
        for output in cell["outputs"]
        if output["output_type"] == "stream"
    ]
    shown = [
        block
        for block in blocks.blocks_of((DOCS / "tutorial.md").read_text(encoding="utf-8"))
        if block.shown and "typed" not in block.notes
    ]
    for block in shown:
        assert any(blocks.matches(block.shown.code, text) for text in printed), block.code
    pages = ["".join(cell["outputs"][0]["data"]["text/html"]) for cell in codes[-2:]]
    assert all(page.startswith("<iframe") for page in pages)
    assert len({cell["id"] for cell in kept["cells"]}) == len(kept["cells"])


# ---- no figure of three decimals or more is typed into a sentence of the documents


DOCS_PROSE = Path(__file__).resolve().parent.parent / "docs"
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
GENERATED = re.compile(r"<!-- from .*?<!-- end -->", re.S)
FIGURE = re.compile(r"(?<![\w./])\d+\.\d{3,}\b")
GIVEN = {  # of a million games, of Storm and of a long run, measured once
    "learning.md": {"0.061", "0.0008"}
}


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS_PROSE.glob("*.md")))
def test_no_exact_figure_is_typed_by_hand(page):
    prose = GENERATED.sub("", FENCED.sub("", (DOCS_PROSE / page).read_text()))
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)", "", prose)
    assert set(FIGURE.findall(prose)) <= GIVEN.get(page, set())
