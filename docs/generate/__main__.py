"""Write the generated parts of the documentation: ``python docs/generate``.

The cards of the games, the references of commands, of JSON and of the language, the page
of sources, the page to try, tables, pictures and screens (where a browser is installed), the
outputs on every page, and the tutorial as a notebook.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import balance
import blocks
import cards
import command_line
import json_page
import language
import lesson
import links
import many
import screens
import sources
import storm
import thumb
import tutorial_notebook

import rollwise
from rollwise.games import available
from rollwise.games.pig import Pig

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def main() -> None:
    os.environ["ROLLWISE_NO_CACHE"] = "1"  # every answer is found anew
    (DOCS / "games").mkdir(exist_ok=True)
    _write(DOCS / "command-line.md", command_line.page())
    _write(json_page.PAGE, json_page.page())
    example = (ROOT / "examples" / "hit_the_mark.py").read_text(encoding="utf-8")
    _write(DOCS / "language.md", language.page(example))
    (DOCS / "try").mkdir(exist_ok=True)
    rollwise.solve(Pig()).page(DOCS / "try" / "pig.html")
    _write(DOCS / "games" / "README.md", cards.index())
    for name in available():
        _write(DOCS / "games" / f"{name}.md", cards.card(name))
    for name in available(hidden=True):
        _write(DOCS / "games" / f"{name}.md", cards.hidden_card(name))
    _write(sources.PAGE, sources.page(sources.BIBLIOGRAPHY.read_text(encoding="utf-8")))
    _picture(DOCS / "images" / "dragon.png")
    for name, picture in screens.pictures():
        (DOCS / "images" / f"{name}.png").write_bytes(picture)
        print(f"docs/images/{name}.png")
    lesson.draw()
    thumb.write()
    balance.write()
    many.write()
    storm.write()
    for page in links.pages(ROOT):
        if any(block.shown for block in blocks.blocks_of(page.read_text(encoding="utf-8"))):
            with tempfile.TemporaryDirectory() as folder:
                blocks.refresh(page, Path(folder))
            print(page.relative_to(ROOT))
    _write(tutorial_notebook.NOTEBOOK, tutorial_notebook.notebook())


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    print(path.relative_to(ROOT))


def _picture(path: Path) -> None:
    """What `rollwise plot examples/dragon.py policy` draws."""
    import rollwise
    from rollwise.errors import UsageError
    from rollwise.games import find
    from rollwise.plot.pages import write_figure

    path.parent.mkdir(exist_ok=True)
    solution = rollwise.solve(find(str(ROOT / "examples" / "dragon.py"))())
    try:
        write_figure(solution.plot("policy"), path, "dragon", 900)
        print(path.relative_to(ROOT))
    except UsageError as error:
        print(f"{path.relative_to(ROOT)} is left as it was: {error}")


main()
