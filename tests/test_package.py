"""What people expect of a package: one version, old names listed as such, extras that fit."""

from __future__ import annotations

import contextlib
import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import backend
import links
import pytest
import release
from packaging.requirements import Requirement

import rollwise

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_is_the_same_everywhere():
    assert set(release.versions(ROOT).values()) == {rollwise.__version__}
    assert PROJECT["dynamic"] == ["version"]


def test_the_architecture_names_every_dependency():
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    names = {Requirement(line).name for lines in lists for line in lines} - {"rollwise"}
    table = (ROOT / "ARCHITECTURE.md").read_text().partition("## Why each dependency is there")[2]
    known = set(re.findall(r"\w+", table.lower()))
    missing = {name for name in names if not set(name.replace("_", "").split("-")) <= known}
    assert not missing


def test_what_is_unfinished_is_not_released(tmp_path):
    (tmp_path / "src" / "rollwise").mkdir(parents=True)
    for name in release.SOURCES:
        (tmp_path / name).write_text((ROOT / name).read_text())
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text("# Changes\n\n## 9.9.9 (unreleased)\n")
    assert [fault.partition(":")[0] for fault in release.faults(tmp_path)] == [
        "versions differ",
        "CHANGELOG.md says '## 9.9.9 (unreleased)'",
    ]
    changes.write_text(f"# Changes\n\n## {rollwise.__version__} (2026-01-31)\n")
    assert release.faults(tmp_path) == []


def test_a_wheel_has_kernels_where_they_can_be_compiled(tmp_path, monkeypatch, capsys):
    built = []

    def build(folder, *_):
        built.append(tmp_path / "plain.whl")
        built[-1].touch()
        return built[-1].name

    monkeypatch.setattr(backend.build_meta, "build_wheel", build)
    monkeypatch.setattr(backend, "with_kernels", lambda wheel, commands: "compiled.whl")
    assert backend.build_wheel(str(tmp_path)) == "compiled.whl"
    assert not built[-1].exists()
    assert backend.build_wheel(str(tmp_path), {"kernels": "none"}) == "plain.whl"
    monkeypatch.undo()
    monkeypatch.setattr(backend.build_meta, "build_wheel", build)
    monkeypatch.setattr(
        backend, "run", lambda *words, **more: backend.subprocess.run(["false"], check=True)
    )
    assert backend.build_wheel(str(tmp_path)) == "plain.whl"  # the fault is no fault of the wheel
    assert built[-1].exists()
    assert "the wheel has no compiled kernels" in capsys.readouterr().err
    with pytest.raises(ValueError, match="kernels is 'many'; it is one of none, first, all"):
        backend.build_wheel(str(tmp_path), {"kernels": "many"})


def test_kernels_need_what_the_commands_need():
    assert not backend.get_requires_for_build_wheel({"kernels": "none"})
    assert set(PROJECT["dependencies"]) < set(backend.get_requires_for_build_wheel())
    assert backend.tags_of_numba()[::2] == ["--python-tag", "--abi-tag", "--platform-tag"]


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


def test_the_lock_fits_what_is_declared():
    """`make lock` was run after the last change, and no registry is named."""
    extras = PROJECT["optional-dependencies"]
    users = [name for name in extras if name not in ("all", "dev", "peers")]
    whole = [one for one in extras["dev"] if not one.startswith("rollwise")]
    whole += [one for name in users for one in extras[name]]
    for name, declared in (("main", PROJECT["dependencies"]), ("dev", whole)):
        lock = (ROOT / "requirements" / f"{name}.txt").read_text()
        assert "://" not in lock
        pins: dict[str, list[str]] = {}
        for package, pin in re.findall(r"^([\w-]+)==(\S+)", lock, re.M):
            pins.setdefault(package, []).append(pin)
        assert lock.count("--hash=sha256:") >= len(pins)
        for requirement in map(Requirement, declared):
            pinned = pins[requirement.name.replace("_", "-")]
            assert all(requirement.specifier.contains(one) for one in pinned), requirement


def test_private_interfaces_have_an_upper_bound():
    """Numba's compiler and Typer's commands, which change from one version to the next."""
    bounded = {one.name for one in map(Requirement, PROJECT["dependencies"]) if "<" in str(one)}
    sources = [path.read_text() for path in (ROOT / "src").rglob("*.py")]
    for private in ("numba.core", "llvmlite", "typer.core"):
        assert any(f"from {private}" in text or f"import {private}" in text for text in sources)
        assert private.partition(".")[0] in bounded


def test_every_page_is_in_the_site():
    entered = set(re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    pages = {str(page.relative_to(ROOT)) for page in links.pages(ROOT)}
    assert {page for page in entered if not page.startswith("api/")} == pages


def test_kernels_of_an_earlier_install_are_gone_before_new_ones_are_compiled(tmp_path, monkeypatch):
    """A command would read them, and leave nothing to copy."""
    folder = tmp_path / backend.FOLDER
    (folder / "engine").mkdir(parents=True)

    def run(*words, env, **more):
        assert not folder.exists()
        room = Path(env.get("NUMBA_CACHE_DIR", tmp_path / "none"), "engine_0123")
        room.mkdir(parents=True)
        (room / "kernel.nbi").touch()
        return "a platform\na processor\nfeatures"

    monkeypatch.setattr(backend, "run", run)
    backend.compile_kernels(tmp_path, ["solve pig"])
    assert [file.name for file in folder.rglob("*.nbi")] == ["kernel.nbi"]
