"""Installs Debian's Chromium for the tests that need a browser: ``python scripts/browser.py``.

`make test` runs it, and so does CI. It does nothing where a browser is installed, or where nobody
may install one: as root, with apt-get. What goes wrong is said and does no harm, because the tests
skip what they have no browser for, and say so. The variable ROLLWISE_NO_INSTALL turns it off.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from rollwise.errors import UsageError
from rollwise.plot.pages import find_browser

APT = ("apt-get", "-qq", "-y", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=15",
       "-o", "Acquire::https::Timeout=15", "-o", "DPkg::Lock::Timeout=20")  # fmt: skip
# Each step, and how many seconds it may take. What is only fetched can be stopped at any time.
STEPS = (
    (("update",), 60),
    (("install", "--no-install-recommends", "--download-only", "chromium"), 120),
    (("install", "--no-install-recommends", "chromium"), 120),
)


def main() -> None:
    """Install a browser, or say why there is none."""
    if has_browser():
        return
    why_not = refusal() or failure()
    if why_not:
        print(f"No browser is installed ({why_not}): tests that need one are skipped.")
    else:
        print("Chromium was installed for the tests.")


def has_browser() -> bool:
    """Whether the tests find a browser."""
    try:
        find_browser()
    except UsageError:
        return False
    return True


def refusal() -> str:
    """Why none may be installed here; empty where one may."""
    if os.environ.get("ROLLWISE_NO_INSTALL"):
        return "ROLLWISE_NO_INSTALL is set"
    if os.environ.get("ROLLWISE_BROWSER"):
        return "what ROLLWISE_BROWSER names can't be run"
    if shutil.which("apt-get") is None:
        return "there is no apt-get here"
    if os.geteuid() != 0:
        return "only root may install one; `apt-get install chromium` does"
    return ""


def failure() -> str:
    """Install Chromium; what went wrong, or nothing."""
    for step, seconds in STEPS:
        command = [*APT, *step]
        try:
            done = subprocess.run(
                command,
                env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return f"apt-get {step[0]} took more than {seconds} seconds"
        except OSError as error:
            return f"apt-get {step[0]}: {error.strerror}"
        if done.returncode and step[0] != "update":  # an old list may do
            said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            return f"apt-get {step[0]}: {said}"
    return "" if has_browser() else "apt-get has installed something else"


if __name__ == "__main__":
    main()
