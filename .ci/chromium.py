"""Fetch a Chromium for the tests of the page, where there is none and it can be fetched; else one line says so."""

import os
import shutil
import subprocess
import sys

SECONDS = 300


def found() -> bool:
    """Does a browser start?"""
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


def fetched() -> bool:
    """Did Playwright's own arrive?"""
    try:
        line = [sys.executable, "-m", "playwright", "install", "chromium"]
        return subprocess.run(line, capture_output=True, timeout=SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


if not found() and not (fetched() and found()):
    print(
        "test-serve: no Chromium starts here and none can be fetched (HSB_CHROMIUM names one); the page is not driven in a browser"
    )
