"""Which pages the site has (a hook of MkDocs): the repository's own, and a reference of the API.

Pages keep their places, so links that lead somewhere in the repository lead somewhere in the site.
Files that pages link to come along. The reference is made of the docstrings of public names.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import json_page
import links
import sources
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "rollwise",
    "dice",
    "bits",
    "boards",
    "games",
    "graph",
    "methods",
    "simulate",
    "learn",
    "environments",
    "coach",
    "plot",
    "report",
    "export",
    "errors",
)
SOURCES = "src/rollwise/games"  # a folder that pages link to


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Every page of the repository, what pages link to, and the reference."""
    paths = set(links.pages(ROOT))
    for page in tuple(paths):
        for _, target in links.links(page.read_text(encoding="utf-8")):
            path = (page.parent / unquote(target.partition("#")[0])).resolve()
            if path.is_file() and path.is_relative_to(ROOT):
                paths.add(path)
    theme = [file for file in files if file.src_dir != config.docs_dir]
    own = [
        File(str(path.relative_to(ROOT)), str(ROOT), config.site_dir, config.use_directory_urls)
        for path in sorted(paths)
    ]
    made = [File.generated(config, f"api/{room}.md", content=reference(room)) for room in ROOMS]
    papers = sources.papers(sources.BIBLIOGRAPHY.read_text(encoding="utf-8"))
    for name, text in (("json", json_page.keys()), ("bibliography", papers)):
        made.append(File.generated(config, f"api/{name}.md", content=text))
    return Files([*theme, *own, *made])


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The folder of rule sheets is a page of the reference here."""
    place = Path(page.file.src_uri).parent
    up = "../" * len(place.parts)
    for link in (f"]({up}{SOURCES})", f"]({SOURCES})"):
        markdown = markdown.replace(link, f"]({up}api/games.md)")
    return markdown


def reference(room: str) -> str:
    """The page on a room: what its head says, and its public names with their docstrings."""
    name = "rollwise" if room == "rollwise" else f"rollwise.{room}"
    module = importlib.import_module(name)
    parts = [f"# {name}", (module.__doc__ or "").strip()]
    plain = []
    for public in public_names(module):
        found = getattr(module, public)
        where = getattr(found, "__module__", None)
        if where is None or not where.startswith("rollwise") or not hasattr(found, "__qualname__"):
            plain.append(f"- `{public}`")
        else:
            parts.append(f"::: {where}.{found.__qualname__}\n    options:\n      heading: {public}")
    return "\n\n".join([*parts[:2], "\n".join(plain), *parts[2:]]) + "\n"


def public_names(module: ModuleType) -> list[str]:
    """What a module offers: what it says itself, or else what it defines."""
    said: Any = getattr(module, "__all__", None)
    if said is not None:
        return [name for name in said if not isinstance(getattr(module, name), ModuleType)]
    return [
        name
        for name, found in vars(module).items()
        if not name.startswith("_") and getattr(found, "__module__", None) == module.__name__
    ]
