"""Fetch a Chromium for the tests of the page if there is no browser; print one line if that fails."""

import os
import shutil
import subprocess
import sys

SECONDS = 300


def browser_starts() -> bool:
    """Return whether a browser starts."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return False
    own = os.environ.get("HSB_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        try:
            driver.chromium.launch(executable_path=own, args=["--no-sandbox"]).close()
        except Error:
            return False
    return True


def fetch_browser() -> bool:
    """Fetch Playwright's Chromium; return whether it arrived."""
    try:
        line = [sys.executable, "-m", "playwright", "install", "chromium"]
        return subprocess.run(line, capture_output=True, timeout=SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


if not browser_starts() and not (fetch_browser() and browser_starts()):
    print(
        "test-serve: found no Chromium and cannot fetch one. The browser tests of the page are skipped; set HSB_CHROMIUM to a browser."
    )
