"""The report is one page that needs nothing else, the files beside it are whole, and equal runs give equal bytes."""

import json
import os
import re
import shutil
from html import escape, unescape
from html.parser import HTMLParser

import pytest
from support import toy_experiments as toy
from support.claim_cases import FAILS, READ, REPEAT, TIES, WEIGHED

import hsb
from hsb.experiments.base import Options
from hsb.experiments.report import as_dict, verdict
from hsb.experiments.study import conduct

FILES = ["claims.json", "report.html", "results.jsonl"]
FIGURES = [f"toy-{name}.{end}" for name in ("again", "growth") for end in ("pdf", "png", "svg")]
STARTS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF-"}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return conduct([toy.Toy()], Options(seed=3), tmp_path_factory.mktemp("out"), jobs=1, title="Squares & Co")


@pytest.fixture(scope="module")
def page(done):
    return done.report.read_text()


class Tags(HTMLParser):
    """Every tag, its ids and what it refers to; complains where tags do not close in turn."""

    VOID = ("meta", "br", "path", "use", "rect", "stop")

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.refers = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href", "src"):
                self.refers.append(value)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_all_files_are_there_and_nothing_else(done):
    out = done.report.parent
    assert sorted(path.name for path in out.iterdir()) == ["cache", "claims.json", "figures", "report.html", "results.jsonl"]
    assert sorted(path.name for path in (out / "figures").iterdir()) == FIGURES
    for name in FIGURES:
        assert (out / "figures" / name).read_bytes().startswith(STARTS[name.rpartition(".")[2]])


def test_the_page_is_whole_and_needs_nothing_else(page):
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert len(tags.ids) == len(set(tags.ids))
    assert all(value.startswith("#") and value[1:] in tags.ids for value in tags.refers)
    assert all(used in tags.ids for used in re.findall(r"url\(#([^)]+)\)", page))
    assert "<script" not in page and "@import" not in page
    assert page.count("<svg") == 2


def test_the_page_says_what_was_found_and_what_was_run(page):
    for answer in (
        "Squares &amp; Co",
        "Squares &lt;of&gt; numbers",
        "✓ holds",
        "✗ does not hold",
        "≈ tie",
        "Claims: ✓ 1 holds, ≈ 1 tie, ✗ 1 does not",
        "they &lt;grow&gt;",
        "The paper&#x27;s: 1 of 2 claims holds, 0 do not, 1 is a tie. Our own: 0 of 1 claims hold, 1 does not, 0 are ties.",
        "After Holm&#x27;s correction for 2 of the paper&#x27;s comparisons: 1 of 2 claims holds, 0 do not, 1 is a tie. No verdict changes.",
        "<dt>mean</dt><dd>0.5 (0.25 to 0.75)</dd>",
        "unbounded",
        "Synthetic data.",
        "Squares &amp; numbers",
        "A note.",
        f"hsb {hsb.__version__}",
        "numpy",
        "&quot;seed&quot;: 3",
        "<td>60</td>",
        "prefers-color-scheme: dark",
    ):
        assert answer in page, answer


def test_what_was_found_comes_first_and_figures_before_claims(page):
    summary, figure, claims, table = (page.index(text) for text in ("claims holds", "<figure", "<details", "<table"))
    assert (
        page.index("<h1") < summary < page.index('class="card"') < figure < claims < table < page.index("Settings of this run")
    )
    assert "<details open" not in page and page.index("squares are nice") > claims  # folded
    assert (
        summary < page.index("does not hold: squares shrink") < page.index('class="card"')
    )  # what does not hold, and why, is not
    assert page.count("<figure") == 2 < page.count("<article") == 3
    assert '<td data-name="x²">' in page  # a cell says what it is where its row is a card


def test_a_quick_run_says_on_top_that_it_is_reduced(done, page, tmp_path):
    assert "Reduced size" not in page
    quick = conduct([toy.Toy()], Options(quick=True), tmp_path, jobs=1).report.read_text()
    assert quick.index("<h1") < quick.index("Reduced size") < quick.index("claims holds")


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_screen(done, width, scheme):
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        own = os.environ.get("HSB_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        try:
            browser = driver.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no Chromium here: {str(error).splitlines()[0]}")
        seen = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        seen.goto(done.report.as_uri())
        assert seen.locator("figure").first.bounding_box()["y"] < 1500  # 7,000 px down once
        seen.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert seen.evaluate("document.documentElement.scrollWidth") <= width
        card = seen.locator("table.rows thead").first.is_visible()
        assert card is (width == 1200)  # on a phone rows are cards
        browser.close()


class Weighed(toy.Toy):
    """Has the claims of `support/claim_cases.py`."""

    def analyse(self, options, results):
        return super().analyse(options, results)._replace(claims=list(WEIGHED.values()))


def text_of(page):
    return unescape(re.sub(r"<[^>]*>", "", page))


def test_the_summary_says_what_does_not_hold_and_why_and_what_decides_a_tie(monkeypatch, tmp_path):
    monkeypatch.setattr("hsb.experiments.study.corrected", lambda claims: claims)
    report = conduct([Weighed()], Options(), tmp_path, jobs=1).report
    page = report.read_text()
    summary, read = page.index('class="card"'), page.index("id='claims'")
    assert page.index(escape(FAILS)) < summary < read < page.index(escape(TIES)) < page.index(escape(READ))
    cards = [text_of(card) for card in page.split('<article class="claim">')[1:]]
    held, tie, corrected, fails, *_ = cards
    assert f"Few rounds. {REPEAT}" in tie and REPEAT in corrected and "corrected: tie" in corrected
    assert REPEAT not in held and REPEAT not in fails
    claims = {claim["claim"]: claim for claim in json.loads((report.parent / "claims.json").read_text())}
    assert claims["a beats e"]["because"] == "e is told <more>" and claims["a beats c"]["decided_by"] == REPEAT


def test_claims_and_results_are_json(done):
    out = done.report.parent
    claims = json.loads((out / "claims.json").read_text(), parse_constant=pytest.fail)
    assert [claim["holds"] for claim in claims] == [True, False, None]
    assert claims[0] == as_dict(done.studies[0].analysis.claims[0])
    assert {"claim", "holds", "difference", "low", "high", "numbers", "p"} <= set(claims[0])
    assert [claim["origin"] for claim in claims] == ["paper", "own", "paper"]
    assert [claim["verdict corrected"] for claim in claims] == ["holds", "does not hold", "tie"]
    assert claims[0]["numbers"]["last"] == 4 and claims[2]["low"] is None
    assert [verdict(claim) for claim in done.studies[0].analysis.claims] == ["holds", "does not hold", "tie"]
    rows = [json.loads(line, parse_constant=pytest.fail) for line in (out / "results.jsonl").read_text().splitlines()]
    assert [row["part"] for row in rows] == ["number 0", "number 1", "number 2"]
    assert rows[2]["result"] == {"x": 2, "square": 4, "pair": [2, 2]} and rows[2]["experiment"] == "toy"


def test_equal_runs_give_equal_files_but_for_times(done, tmp_path):
    again = conduct([toy.Toy()], Options(seed=3), tmp_path, jobs=2, title="Squares & Co").report.parent
    first = done.report.parent
    for name in FIGURES:
        assert (again / "figures" / name).read_bytes() == (first / "figures" / name).read_bytes(), name
    for name in FILES:
        bare = [re.sub(r'\d+\.\d+ s\b|"seconds": [\d.e-]+', "", (folder / name).read_text()) for folder in (again, first)]
        assert bare[0] == bare[1], name
