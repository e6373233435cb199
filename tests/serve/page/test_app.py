"""The page, asked without a browser: every view, its twin, its forms; what is hostile stays inert; colours can be read."""

import html.parser
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("jinja2")

from support.serve import page_harness as harness

from hsb.plotting.style import look
from hsb.serve.core import AddCandidate, Create, Decide, Now, Reward
from hsb.serve.local import clock
from hsb.serve.page import colours
from hsb.serve.page.app import SECTIONS

PAGE = Path(colours.__file__).parent
HOSTILE = [
    "<script>alert(1)</script>",
    "\u202egnp.exe",
    "$(touch x)",
    "{{ 7*7 }}",
    "a" * 256,
    "'\"><img src=x onerror=alert(1)>",
]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    server = harness.Harness(tmp_path_factory.mktemp("page") / "hsb.db")
    harness.fill(server.local, "home", 400, hours=2.0, floor=0.1, baseline="spring sale")
    server.local.ask(Create(1, {"name": "empty", "arms": ["a", "b"]}, b"e" * 32))
    hostile(server.local)
    yield server
    server.close()


def hostile(local):
    local.ask(Create(1, {"name": "hostile", "arms": HOSTILE, "baseline": HOSTILE[0], "floor": 0.5}, b"h" * 32))
    for k in range(60):
        context = {HOSTILE[k % 6]: 3.5 + k, "<b>country</b>": HOSTILE[k % 4], "long": "x" * 65_536 if k == 59 else "y"}
        local.ask(Decide(2, "hostile", f"hostile-{k}", context))
        local.ask(Reward(3, f"hostile-{k}", float(k % 2)))
    local.ask(AddCandidate(4, "hostile", "beside", {"kind": "Exp3", "learning_rate": 0.01}))


@pytest.fixture
def client(service):
    return service.client()


class Seen(html.parser.HTMLParser):
    """What a page consists of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.labels, self.fields, self.ids, self.open = [], set(), [], [], []
        self.levels, self.tables, self.captions, self.said = [], 0, 0, ""
        self.feed(text)

    def handle_starttag(self, tag, given):
        given = dict(given)
        self.tags.append((tag, given))
        self.ids += [given["id"]] if "id" in given else []
        self.open.append(tag)
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if tag == "label" and "for" in given:
            self.labels.add(given["for"])
        if tag in ("input", "select", "textarea") and "label" not in self.open:
            self.fields.append(given.get("id"))
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag in ("meta", "link", "input", "br", "img"):
            self.open.pop()

    def handle_data(self, data):
        self.said += data

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass


def views(name):
    return [f"/p/{name}/{section}" for section in SECTIONS]


@pytest.mark.parametrize(
    "path", ["/", *views("home"), *views("empty"), *views("hostile"), "/p/home/map?x=age&y=hour", "/p/hostile/map?y=long"]
)
def test_every_view_is_whole_and_accessible(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    seen = Seen(answer.text)
    names = [tag for tag, _ in seen.tags]
    assert names.count("main") == names.count("h1") == names.count("header") == names.count("footer") == 1
    assert all(later <= before + 1 for before, later in zip(seen.levels, seen.levels[1:], strict=False)), seen.levels
    assert seen.tables == seen.captions
    assert all(field in seen.labels for field in seen.fields), (seen.fields, seen.labels)
    plain = [
        each for each in seen.ids if not re.fullmatch("[a-z][0-9]+", each)
    ]  # patterns of arms are the same wherever they are
    assert len(plain) == len(set(plain))
    inert(seen)


def inert(seen):
    """No script but ours, no handler, no style, nothing from elsewhere."""
    for tag, given in seen.tags:
        assert tag not in ("img", "iframe", "object", "style", "b")
        assert tag != "script" or given == {"src": "/static/page.js", "defer": None}
        for name, value in given.items():
            assert not name.startswith("on") and name != "style"
            if name in ("src", "href", "action"):
                assert value.startswith(("/", "#"))


def test_hostile_names_are_shown_and_do_nothing(client):
    for path in views("hostile"):
        text = client.get(path).text
        assert "<script>alert" not in text and "<img" not in text and "\u202e" not in Seen(text).said
        assert len(text) < 400_000
    text = client.get("/p/hostile/arms").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text and "$(touch x)" in text and "{{ 7*7 }}" in text
    # the negative control: what autoescape keeps us from
    from hsb.serve.page.render import ENVIRONMENT

    assert "<script>" in ENVIRONMENT.overlay(autoescape=False).from_string("{{ x }}").render(x=HOSTILE[0])


@pytest.mark.parametrize("section", SECTIONS)
def test_every_view_has_a_twin_in_json(client, section):
    for name in ("home", "empty", "hostile"):
        answer = client.get(f"/p/{name}/{section}.json")
        assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
        result = json.loads(answer.text, parse_constant=lambda what: pytest.fail(what))
        assert (result["section"], result["policy"], result["synthetic"]) == (section, name, True)
    assert [each["name"] for each in client.get("/policies.json").json()["policies"]] == ["home", "empty", "hostile"]


def test_figures_are_those_of_the_journal(client, service):
    response = client.get("/p/home/overview.json").json()
    assert response["updates"] == service.core.policies["home"].updates == 392
    assert response["waiting"]["count"] == 8
    arms = client.get("/p/home/arms.json").json()["arms"]
    assert sum(each["played"] for each in arms) == 392 and sum(each["share"] for each in arms) == pytest.approx(1.0)
    delays = client.get("/p/home/feedback.json").json()
    assert sum(each["count"] for each in delays["delays"]) == 392 and delays["pending"]["count"] == 8
    point = client.get("/p/home/map.json", params={"point": '{"country": "DE", "hour": 9}'}).json()["point"]["rows"]
    assert sum(each["own"] for each in point) == pytest.approx(1.0) == pytest.approx(sum(each["played"] for each in point))
    assert min(each["played"] for each in point) >= 0.1 / 5
    audit = client.get("/p/home/audit.json").json()
    assert audit["digest"] == service.core.policies["home"].live.policy.digest() and audit["actions"][-1]["what"] == "created"


def test_what_cannot_be_found_or_tried_is_said(client):
    assert (
        client.get("/p/nobody/arms").status_code
        == client.get("/p/nobody/arms.json").status_code
        == client.get("/p/nobody").status_code
        == 404
    )
    assert client.get("/static/app.py").status_code == 404
    for wrong in ("{", "[" * 10_000, "x" * 20_000, "[1, 2]", "7"):
        answer = client.get("/p/home/map", params={"point": wrong})
        assert answer.status_code == 200 and 'role="alert"' in answer.text, wrong[:10]
    assert 'role="alert"' not in client.get("/p/home/map", params={"point": '{"age": 30}'}).text


def test_empty_states_teach(tmp_path):
    server = harness.Harness(tmp_path / "hsb.db")
    try:
        text = server.client().get("/").text
        assert text.count("curl -X POST http://testserver/v1/") == 3 and "/reward" in text
        server.local.ask(Create(1, {"name": "new", "arms": ["a"]}, b"n" * 32))
        assert server.client().get("/p/new/overview").text.count("/v1/policies/new/decisions") == 1
    finally:
        server.close()


def test_the_part_that_refreshes_is_a_part(client):
    whole, part = client.get("/p/home/feedback").text, client.get("/p/home/feedback?fragment=1").text
    assert part.strip() in whole and "<html" not in part and "<h1" not in part and len(part) > 1000


def test_answers_are_safe_to_show(client):
    for path in ("/", "/p/home/arms", "/p/home/arms.json", "/static/page.css", "/p/nobody/arms"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"] and "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_forms_do_what_they_say(tmp_path):
    server = harness.Harness(tmp_path / "hsb.db")
    harness.fill(server.local, "home", 60, hours=1.0)
    client, served = server.client(), server.core.policies["home"]

    def send(section, **form):
        return client.post(f"/p/home/{section}", form)

    try:
        done = send("candidates", do="ramp", ramp="25", baseline="gift card")
        assert done.status_code == 303 and done.headers["location"] == "/p/home/candidates?done=ramp"
        assert "share of traffic is changed" in client.get(done.headers["location"]).text
        assert (served.settings.ramp, served.settings.baseline) == (0.25, "gift card")
        assert send("candidates", do="add", name="other", kind="Exp3", settings='{"learning_rate": 0.1}').status_code == 303
        first = served.live.id
        assert send("candidates", do="promote", name="other").status_code == 303 and served.live.id != first
        (back,) = served.candidates
        assert send("candidates", do="promote", name=back).status_code == 303 and served.live.id == first
        assert (
            send(
                "settings", do="change", floor="5", wait="PT1H", default_reward="0", aggregate="first", learn="at_deadline"
            ).status_code
            == 303
        )
        assert served.settings.floor == 0.05 and served.settings.wait == 3600.0 and served.settings.default_reward == 0.0
        assert send("settings", do="add-arm", arm="<i>new</i>").status_code == 303 and served.active_arms[-1] == "<i>new</i>"
        assert send("settings", do="remove-arm", arm="<i>new</i>").status_code == 303 and "<i>new</i>" not in served.active_arms
        assert send("settings", do="snapshot").status_code == 303
        assert client.get("/p/home/audit.json").json()["snapshots"][0]["same"] is True
        assert send("what-if", uniform="on", arm="gift card").status_code == 303
        assert "always gift card" in client.get("/p/home/what-if").text
        did = [each["what"] for each in server.audit_entries]
        assert (did[0], did[-1], len(did)) == ("Evaluate", "Change", 9)

        for section, form, reply in (
            ("candidates", {"do": "ramp", "ramp": "250"}, "ramp must be a number in [0, 1]"),
            ("candidates", {"do": "ramp", "ramp": "<b>"}, "must be a number"),
            ("candidates", {"do": "add", "name": "x", "kind": "HSB", "settings": "{"}, "Settings must be JSON"),
            ("candidates", {"do": "explode"}, "not one of the page"),
            ("settings", {"do": "remove-arm", "arm": "nobody"}, "nobody"),
            ("settings", {"do": "archive", "name": "hom"}, "To archive the policy"),
            ("what-if", {}, "selects nothing"),
            ("settings", {"do": "x" * 70_000}, "65,536"),
        ):
            answer = send(section, **form)
            assert answer.status_code == 422 and reply in answer.text and 'role="alert"' in answer.text, form
        assert not served.archived and send("settings", do="archive", name="home").status_code == 303 and served.archived
        assert client.get("/p/home/settings").text.count("<form") == 0
    finally:
        server.close()


@pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero):RuntimeWarning")
@pytest.mark.parametrize("reward", [1e308, 1e17, 1e-14, 5e-324])
def test_rewards_too_large_and_too_small_for_sums(tmp_path, reward):
    """One policy with such rewards must not take the others' front page away."""
    server = harness.Harness(tmp_path / "hsb.db")
    spec = {"name": "far", "arms": ["a", "b"], "policy": {"kind": "Exp3", "reward_range": "auto"}}
    began = clock()
    server.local.ask(Create(1, spec, b"f" * 32))
    server.local.ask(AddCandidate(1, "far", "beside", {"kind": "Exp3"}))
    for k in range(130):
        then = Now(began.wall + k * 10**8, began.mono + k * 10**8)
        server.local.ask(Decide(2, "far", f"far-{k}", 0), then)
        server.local.ask(Reward(3, f"far-{k}", reward if k % 50 or reward > 1e300 else -reward), then)
    client = server.client()
    for path in ("/", "/policies.json", *(f"{each}{end}" for each in views("far") for end in ("", ".json"))):
        assert client.get(path).status_code == 200, path
    server.close()


# -- how it looks -------------------------------------------------------------------------------------------------------

TEXT = ("ink", "soft", "link", "good", "bad", "even")
STROKES = ("policy", "uniform", "baseline", "best")


def css(scheme):
    text = (PAGE / "static" / "page.css").read_text()
    light, dark = text.split("@media screen and (prefers-color-scheme: dark)", 1)
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", light if scheme == "light" else dark.split("* {", 1)[0]))


@pytest.mark.parametrize(("scheme", "known"), [("light", colours.LIGHT), ("dark", colours.DARK)])
def test_colours_can_be_read(scheme, known):
    assert css(scheme) == known
    for paper in ("paper", "panel"):
        for name in TEXT:
            assert colours.contrast(known[name], known[paper]) >= 4.5, (scheme, name, paper)
        for name in STROKES:
            assert colours.contrast(known[name], known[paper]) >= 3.0, (scheme, name, paper)
    assert colours.contrast("#999999", known["paper" if scheme == "light" else "ink"]) < 4.5  # a grey that would not do


def test_lines_and_arms_have_the_colours_of_other_pictures():
    for name, policy in (("policy", "HSB"), ("uniform", "uniform"), ("best", "best fixed arm")):
        assert colours.LIGHT[name] == look(policy).colour
    matplotlib = pytest.importorskip("matplotlib")
    for arms in (2, 3, 5, 12):
        for index in range(arms):
            theirs = matplotlib.colormaps["viridis"](0.15 + 0.8 * index / (arms - 1))
            ours = [channel / 255 for channel in colours.channels(colours.arm_colour(index, arms))]
            assert ours == pytest.approx(theirs[:3], abs=0.02)


def test_the_script_is_small_and_everything_is_here():
    script = (PAGE / "static" / "page.js").read_text()
    assert len(script.splitlines()) <= 300 and "eval(" not in script
    for path in [*PAGE.glob("templates/*"), *PAGE.glob("static/*")]:
        assert not re.search(r"(?:src|href|url\()\s*=?\s*[\"']?https?:", path.read_text()), path
        assert "| safe" not in path.read_text() and "|safe" not in path.read_text()
