"""What people expect of a package: one version, old names listed as such, extras that fit."""

from __future__ import annotations

import contextlib
import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import links
from packaging.requirements import Requirement

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


def test_what_is_declared_fits_what_is_installed():
    """Each requirement has a lowest version, which `make lowest` tests, and allows the one here."""
    every = [*PROJECT["dependencies"]]
    for extra, named in PROJECT["optional-dependencies"].items():
        every += named if extra not in ("all", "dev", "peers", "readers", "site") else []
    for requirement in map(Requirement, every):
        assert any(one.operator == ">=" for one in requirement.specifier), requirement
        with contextlib.suppress(PackageNotFoundError):
            assert requirement.specifier.contains(version(requirement.name)), requirement


def test_private_interfaces_have_an_upper_bound():
    """Numba's compiler and Typer's commands, which change from one version to the next."""
    bounded = {one.name for one in map(Requirement, PROJECT["dependencies"]) if "<" in str(one)}
    sources = [path.read_text() for path in (ROOT / "src").rglob("*.py")]
    for name, private in (("numba", "numba.core"), ("typer", "typer.core")):
        assert any(private in source for source in sources)
        assert name in bounded


def test_every_page_is_in_the_site():
    entered = set(re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    pages = {str(page.relative_to(ROOT)) for page in links.pages(ROOT)}
    assert {page for page in entered if not page.startswith("api/")} == pages
