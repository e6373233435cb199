"""The page in a real Chromium: nothing is said on the console, nothing sticks out on a phone, the script refreshes, keys get everywhere.

Needs Playwright, and Chromium: its own (`playwright install chromium`), one on the path, or one that HSB_CHROMIUM names.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.long, pytest.mark.sized]  # make test-serve installs what it needs

HARNESS = Path(__file__).parents[2] / "support" / "serve" / "page_harness.py"
VIEWS = [
    "/",
    "/p/home/overview",
    "/p/home/arms",
    "/p/home/map",
    "/p/home/map?x=hour&y=age",
    "/p/home/rules",
    "/p/home/guarantee",
]
VIEWS += [f"/p/home/{name}" for name in ("feedback", "problems", "audit", "what-if", "candidates", "settings")] + [
    "/p/empty/overview"
]


PALE = """() => {
  const bright = (c) => { const v = c.slice(0, 3).map((x) => x / 255).map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const under = (e) => {
    for (; e; e = e.parentElement) {
      const c = parts(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("body *")].filter((e) => {
    if (e.closest("svg") || !e.getClientRects().length) return false;
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) return false;
    const a = bright(parts(getComputedStyle(e).color)), b = bright(under(e));
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
  }).map((e) => e.textContent.slice(0, 40)); }"""
"""Texts whose contrast to what is behind them is below WCAG AA's 4.5."""


@pytest.fixture(scope="module")
def address():
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(HARNESS), str(port), "600"])
    try:
        for _ in range(1500):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/static/page.js"):
                break
            assert process.poll() is None
            time.sleep(0.2)
        else:
            pytest.fail("the page was not there after five minutes")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        own = os.environ.get("HSB_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        try:
            result = driver.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no Chromium here: {str(error).splitlines()[0]}")
        yield result
        result.close()


@contextlib.contextmanager
def looking(browser, **settings):
    context = browser.new_context(**settings)
    page, messages = context.new_page(), []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    yield page, messages
    context.close()


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_quiet_and_fits(browser, address, width, scheme):
    with looking(browser, viewport={"width": width, "height": 900}, color_scheme=scheme) as (page, answer):
        for view in VIEWS:
            page.goto(address + view)
            assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, view
            assert page.locator("main h1").count() == 1
            assert page.evaluate(PALE) == [], view
        assert answer == []
        page.evaluate("document.querySelector('h1').style.color = '#777'")
        assert page.evaluate(PALE) == ["Overview"]  # the negative control: a grey that cannot be read
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('img'), {src: 'https://elsewhere.test/x.png'}))"
        )
        page.wait_for_timeout(300)
        assert any("Content Security Policy" in each for each in answer)  # and here: what is not ours is refused, and heard of


def test_without_a_script_it_says_the_same(browser, address):
    with looking(browser, java_script_enabled=False) as (page, _):
        page.goto(address + "/p/home/overview")
        assert page.locator("table").first.inner_text().count("uniform play") == 1
        assert not page.locator("#refresh").is_visible()


def test_the_script_refreshes_one_part(browser, address):
    with looking(browser) as (page, answer):
        page.goto(address + "/p/home/overview")
        page.evaluate(
            "document.querySelector('#live').dataset.mark = 'kept'; document.querySelector('#live .state').textContent = 'old'"
        )
        page.locator("details").first.evaluate("each => { each.open = true }")
        for _ in range(150):
            if page.locator("#live .state").inner_text() != "old":
                break
            page.wait_for_timeout(100)
        assert page.locator("#live .state").inner_text() != "old"
        assert page.evaluate("document.querySelector('#live').dataset.mark") == "kept"
        assert page.locator("details").first.evaluate("each => each.open")
        assert answer == []


def test_the_keyboard_gets_everywhere(browser, address):
    with looking(browser) as (page, _):
        page.goto(address + "/p/home/candidates")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.id || document.activeElement.value || ''"))
        assert {"which", "ramp", "baseline", "name", "kind", "settings", "promote", "drop", "add"} <= reached


def test_forms_work_in_a_browser(browser, address):
    with looking(browser) as (page, answer):
        page.goto(address + "/p/checkout/candidates")
        page.get_by_label("percent of traffic for the policy").fill("50")
        page.locator("#baseline").select_option("gift card")
        page.get_by_role("button", name="Change").click()
        assert "share of traffic is changed" in page.get_by_role("status").first.inner_text()
        assert "50 % of traffic" in page.locator("#live").inner_text()
        assert answer == []
