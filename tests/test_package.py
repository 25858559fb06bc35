"""What people expect of a package: one version, old names listed as such, extras that fit."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import links

import rollwise

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_is_the_same_everywhere():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    newest = re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert cited is not None
    assert newest is not None
    assert cited[1] == newest[1] == rollwise.__version__
    assert PROJECT["dynamic"] == ["version"]


def test_the_extra_all_is_every_extra_for_users():
    """Each of which the smoke test tries alone."""
    extras = PROJECT["optional-dependencies"]
    (whole,) = extras["all"]
    names = set(whole.removeprefix("rollwise[").removesuffix("]").split(","))
    assert names == set(extras) - {"all", "test", "dev", "readers", "peers", "site"}
    smoke = (ROOT / "scripts" / "smoke.py").read_text()
    tried = re.findall(r'Extra\(\s*"(\w+)"', smoke)
    assert set(tried) == names


def test_every_page_is_in_the_site():
    entered = set(re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    pages = {str(page.relative_to(ROOT)) for page in links.pages(ROOT)}
    assert {page for page in entered if not page.startswith("api/")} == pages
