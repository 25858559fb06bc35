"""Links in the repository's Markdown files: every relative one leads somewhere.

    python docs/generate/links.py [FOLDER]

prints what is broken and ends with 1 if anything is. Nothing is fetched: of links to
other places only the form is looked at.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = {"node_modules", "build", "dist"}  # and whatever begins with a dot
MARKDOWN = MarkdownIt("commonmark").enable("table")
HTML_LINK = re.compile(r"""<(?:a|img)\b[^>]*?\b(?:href|src)=["']([^"']*)["']""")
HTML_ANCHOR = re.compile(r"""<\w+\b[^>]*?\b(?:id|name)=["']([^"']+)["']""")
UNDEFINED = re.compile(r"\]\[[^\]]*\]")  # what is left of [text][name] where there is no such name


def pages(folder: Path) -> list[Path]:
    """All Markdown files below a folder, but for those of hidden folders and builds."""
    found = []
    for path in sorted(folder.rglob("*.md")):
        parts = path.relative_to(folder).parts
        if not any(part.startswith(".") or part in SKIPPED for part in parts):
            found.append(path)
    return found


def broken_links(folder: Path) -> list[str]:
    """What is wrong with the links of a repository: a line each, with file and line."""
    return [
        f"{page.relative_to(folder)}:{line}: {fault}"
        for page in pages(folder)
        for line, target in links(page.read_text(encoding="utf-8"))
        if (fault := _fault(target, page, folder)) is not None
    ]


def links(text: str) -> Iterator[tuple[int, str]]:
    """The targets of all links and images of a page, with their lines."""
    for line, token in _tokens(MARKDOWN.parse(text), 1):
        if token.type == "link_open":
            yield line, str(token.attrs["href"])
        elif token.type == "image":
            yield line, str(token.attrs["src"])
        elif token.type in ("html_inline", "html_block"):
            for target in HTML_LINK.findall(token.content):
                yield line, target
        elif token.type == "text":
            for rest in UNDEFINED.findall(token.content):
                yield line, rest


def anchors(text: str) -> set[str]:
    """What a link to a part of a page may name: its headings, as GitHub writes them."""
    found: set[str] = set()
    times: dict[str, int] = {}
    tokens = MARKDOWN.parse(text)
    for token, after in pairwise(tokens):
        if token.type == "heading_open":
            inside = after.children or []
            words = "".join(t.content for t in inside if t.type in ("text", "code_inline"))
            name = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
            again = times.get(name, 0)
            times[name] = again + 1
            found.add(f"{name}-{again}" if again else name)
    for _, token in _tokens(tokens, 1):
        if token.type in ("html_inline", "html_block"):
            found.update(HTML_ANCHOR.findall(token.content))
    return found


def _tokens(tokens: list[Token], line: int) -> Iterator[tuple[int, Token]]:
    for token in tokens:
        line = token.map[0] + 1 if token.map else line
        yield line, token
        yield from _tokens(token.children or [], line)


def _fault(target: str, page: Path, folder: Path) -> str | None:
    if target.startswith("]["):
        return f"[...{target} has no definition"
    try:
        parts = urlsplit(target)
    except ValueError as error:
        return f"{target} is no address: {error}"
    if parts.scheme in ("http", "https"):
        good = re.fullmatch(r"[\w-]+(\.[\w-]+)+(:\d+)?", parts.netloc) and " " not in target
        return None if good else f"{target} is no address"
    if parts.scheme:
        return None if parts.scheme == "mailto" else f"{target}: what is {parts.scheme}?"
    if target.startswith("/"):
        return f"{target} begins at the root of who knows what; write a relative path"
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
    if not file.is_relative_to(folder.resolve()):
        return f"{target} leads out of the repository"
    if not file.exists():
        return f"there is no {target}"
    if (
        parts.fragment
        and file.suffix == ".md"
        and parts.fragment not in anchors(file.read_text(encoding="utf-8"))
    ):
        return f"{target}: no heading there is #{parts.fragment}"
    return None


if __name__ == "__main__":
    faults = broken_links(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    print("\n".join(faults) or "all links lead somewhere")
    sys.exit(1 if faults else 0)
