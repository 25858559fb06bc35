"""What installs a browser for the tests: whatever happens, it says it in a line and goes on."""

from __future__ import annotations

import importlib.util
import stat
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "browser.py"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, of somebody who is root and has no programs but those of a folder."""
    spec = importlib.util.spec_from_file_location("browser_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    monkeypatch.delenv("ROLLWISE_BROWSER", raising=False)
    monkeypatch.delenv("ROLLWISE_NO_INSTALL", raising=False)
    monkeypatch.setattr("rollwise.plot.pages.PLACES", ())
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    return found


def program(place: Path, text: str) -> None:
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)


def said_by(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> str:
    script.main()
    return capsys.readouterr().out


def test_nothing_is_done_where_there_is_a_browser(script, tmp_path, capsys):
    program(tmp_path / "chromium", "exit 0")
    program(tmp_path / "apt-get", "exit 1")
    assert said_by(script, capsys) == ""


def test_chromium_is_installed(script, tmp_path, capsys):
    chromium = tmp_path / "chromium"
    program(tmp_path / "apt-get", f"echo '#!/bin/sh' > {chromium}; /bin/chmod +x {chromium}")
    assert said_by(script, capsys) == "Chromium was installed for the tests.\n"


@pytest.mark.parametrize(
    ("apt", "said"),
    [
        ("echo 'E: no such package' >&2; exit 100", "apt-get install: E: no such package"),
        ("exec /bin/sleep 60", "apt-get update took more than 0.3 seconds"),
        ("exit 0", "apt-get has installed something else"),
    ],
)
def test_what_goes_wrong_is_only_said(script, tmp_path, capsys, monkeypatch, apt, said):
    program(tmp_path / "apt-get", apt)
    monkeypatch.setattr(
        script, "STEPS", tuple((step, 0.3 if "sleep" in apt else 20) for step, _ in script.STEPS)
    )
    assert said in said_by(script, capsys)


def test_who_may_not_install_one(script, tmp_path, capsys, monkeypatch):
    assert "no apt-get here" in said_by(script, capsys)
    program(tmp_path / "apt-get", "exit 0")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "only root" in said_by(script, capsys)
    monkeypatch.setenv("ROLLWISE_BROWSER", "nothing")
    assert "ROLLWISE_BROWSER" in said_by(script, capsys)
    monkeypatch.setenv("ROLLWISE_NO_INSTALL", "1")
    assert "tests that need one are skipped" in said_by(script, capsys)
