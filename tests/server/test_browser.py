"""The explorer in a real browser. Debian's Chromium is used where it is; nothing is downloaded."""

import json
import os
import shutil
from contextlib import contextmanager
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.server.calls import EN, ZH
from tests.server.running import TwoJudges, explorer

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (or named in CHROMIUM)"),
    # playwright's own loop and pipes, when it is stopped
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
SCRIPT = "<img src=x onerror=window.hit=1><script>window.hit=1</script>'><b>"


COLOURS = [
    "ink on paper", "soft on paper", "soft on card", "soft on sunk", "accent on card", "on-accent on accent",
    "bad on bad-back", "warn on warn-back",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as started:
        yield started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.fixture(scope="module")
def address(planner):
    with explorer(planner) as (url, _):
        yield url


@pytest.fixture(scope="module")
def judged(planner):
    with explorer(TwoJudges(env=planner.env)) as (url, _):
        yield url


@pytest.fixture
def opened(browser):
    """A page at an address; nothing but that address may have been asked, and nothing may have been complained of."""

    @contextmanager
    def at(url, **options):
        context = browser.new_context(**{"locale": "en-US", **options})
        page, asked, complaints = context.new_page(), [], []
        page.set_default_timeout(15_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(url)
        yield page
        home = urlsplit(url).netloc
        assert {urlsplit(one).netloc for one in asked if not one.startswith("data:")} == {home}
        assert complaints == []
        context.close()

    return at


def plan(page, question):
    page.fill("#question", question)
    page.press("#question", "Enter")
    page.wait_for_selector("#result:not([aria-busy=true]) .picks")


def names(page, side="heuristic"):
    return page.eval_on_selector_all(
        f"[data-side={side}] ol.picks .name", "found => found.map(one => one.firstChild.textContent)"
    )


@pytest.mark.rule("EXP-2.1", "EXP-1.1")
def test_a_question_is_planned_and_drawn(opened, address, planner):
    made = planner.select(ZH, judge="heuristic")
    with opened(address) as page:
        plan(page, ZH)
        assert names(page) == [pick.channel for pick in made.channels]
        assert page.locator(".next .why-out").count() == len(made.runners_up)
        assert page.locator("#changes h2").count() == 1
        assert "10 searches" in page.inner_text("#sources")
        assert page.locator(".chain li").count() == 5
        widths = page.eval_on_selector_all(
            "[data-side] ol.picks li:first-child .track > i:not(.minus)",
            "all => all.map(one => parseFloat(one.style.width))",
        )
    assert sum(widths) * 0.95 / 100 == pytest.approx(made.channels[0].score, abs=0.001)


@pytest.mark.rule("EXP-2.1")
def test_factors_are_multiplied_out_and_a_pick_can_be_left_out(opened, address):
    with opened(address) as page:
        plan(page, EN)
        first = names(page)[0]
        page.locator("ol.picks summary").first.click()
        assert "× 0.25" in page.inner_text("ol.picks .factors")
        page.locator("ol.picks").get_by_role("button", name="Leave out").first.click()
        page.wait_for_function(
            "name => !document.querySelector('ol.picks .name').textContent.startsWith(name)", arg=first
        )
        assert first not in names(page)
        assert "channel_skip" in page.url


@pytest.mark.rule("EXP-2.2")
def test_with_a_model_both_plans_stand_side_by_side(opened, judged):
    with opened(judged, viewport={"width": 1200, "height": 900}) as page:
        plan(page, EN)
        page.wait_for_selector("[data-side=model]")
        only = set(names(page)) - set(names(page, "model"))
        marked = page.locator("[data-side=heuristic] .tag.only").count()
        left, right = (page.locator(f"[data-side={side}]").bounding_box() for side in ("heuristic", "model"))
        assert "scripted/judge" in page.inner_text("[data-side=model] h2")
    assert marked == len(only) == 1
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]


@pytest.mark.rule("EXP-2.3")
def test_a_link_shows_the_plan_and_asks_no_model(opened, judged):
    with opened(f"{judged}/#q={quote(EN)}&mode=deep&max_channels=4&languages=en_only") as page:
        asked = []
        page.on("request", lambda request: asked.append(request.post_data or ""))
        page.reload()
        page.wait_for_selector(".picks")
        page.wait_for_load_state("networkidle")
        assert len(names(page)) == 4
        assert page.input_value("[name=languages]") == "en_only"
        assert page.is_checked("[value=deep]")
        assert not [body for body in asked if "standard" in body]
        page.get_by_role("button", name="Ask the model too").click()
        page.wait_for_selector("[data-side=model]")


@pytest.mark.rule("EXP-2.3", "EXP-2.4")
def test_link_and_json_can_be_copied_and_back_goes_back(opened, address):
    with opened(address, permissions=["clipboard-read", "clipboard-write"]) as page:
        plan(page, EN)
        plan(page, ZH)
        page.click("#copyJson")
        copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
        page.click("#copyLink")
        link = page.evaluate("navigator.clipboard.readText()")
        page.go_back()
        page.wait_for_function("text => document.getElementById('question').value === text", arg=EN)
    assert copied["channels"]["channels"][0]["channel"] == "xiaohongshu"
    assert parse_qs(urlsplit(link).fragment)["q"] == [ZH]


@pytest.mark.rule("EXP-2.5")
def test_language_and_theme_follow_the_browser_and_choices_are_kept(opened, address):
    with opened(address, locale="zh-CN", color_scheme="dark") as page:
        assert page.get_attribute("html", "lang") == "zh-CN"
        assert "想弄清楚什么" in page.inner_text("form")
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.click("#theme")
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.click("#language")
        page.reload()
        assert page.get_attribute("html", "lang") == "en"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light != dark


@pytest.mark.rule("EXP-2.5")
def test_both_languages_have_every_word(opened, address):
    with opened(address) as page:
        keys = page.evaluate(
            "Object.fromEntries(Object.entries(WORDS).map(([name, words]) => [name, Object.keys(words)]))"
        )
        used = page.eval_on_selector_all("[data-t]", "all => all.map(one => one.dataset.t)")
    assert {key for key in keys["en"] if not key.endswith("1")} == set(keys["zh"])
    assert set(used) <= set(keys["en"])


@pytest.mark.rule("EXP-2.6")
def test_everything_can_be_done_by_keyboard(opened, address):
    with opened(address) as page:
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("/")
        page.keyboard.type(EN)
        page.keyboard.press("Enter")
        page.wait_for_selector(".picks")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('.pick')"):
                break
        page.keyboard.press("Enter")
        assert page.locator("ol.picks details[open]").count() == 1
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.rule("EXP-2.6")
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_everything_has_a_name_that_is_read_out(opened, address, locale):
    with opened(address, locale=locale) as page:
        plan(page, ZH)
        page.click("#more summary")
        controls = page.locator("button:visible, input:visible, select:visible, textarea:visible, summary:visible")
        for at in range(controls.count()):
            control = controls.nth(at)
            name = control.evaluate(
                "one => (one.getAttribute('aria-label') || one.labels?.[0]?.textContent || one.textContent).trim()"
            )
            assert name, control.evaluate("one => one.outerHTML")
        tree = page.locator("body").aria_snapshot()
        assert page.locator("#status").inner_text() != ""
        assert page.locator(".track[role=img]:not([aria-label])").count() == 0
    assert "heading" in tree


@pytest.mark.rule("EXP-2.6")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(opened, address, scheme):
    with opened(address, color_scheme=scheme) as page:
        plan(page, ZH)
        pairs = page.evaluate(
            "pairs => pairs.map(pair => pair.split(' on ').map(name => "
            "getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()))",
            arg=COLOURS,
        )
    for front, back in pairs:
        assert contrast(front, back) >= 4.5, (front, back)


def contrast(front, back):
    light, dark = sorted((luminance(front), luminance(back)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    digits = colour.lstrip("#")
    digits = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.rule("EXP-2.7")
@pytest.mark.parametrize("where", ["typed", "linked"])
def test_markup_in_a_question_stays_text(opened, address, where):
    with opened(f"{address}/#q={quote(SCRIPT)}" if where == "linked" else address) as page:
        if where == "typed":
            plan(page, SCRIPT)
        page.wait_for_selector(".picks")
        page.wait_for_timeout(200)
        assert page.evaluate("window.hit") is None
        assert page.locator("#result img, #result script, #result b").count() == 0
        assert "<img" in page.inner_text("#sources")


@pytest.mark.rule("EXP-2.7")
def test_markup_in_a_refused_value_stays_text(opened, address):
    with opened(f"{address}/#q=x&channel_skip={quote(SCRIPT)}&mode={quote(SCRIPT)}&recency={quote(SCRIPT)}") as page:
        page.wait_for_selector(".picks")
        assert page.evaluate("window.hit") is None
        assert page.input_value("[name=recency]") == "any"


@pytest.mark.rule("EXP-2.8")
def test_bad_input_is_said_beside_the_question(opened, address):
    with opened(address) as page:
        page.click("#go")
        assert "first" in page.inner_text("[role=alert]")
        page.click("#more summary")
        page.fill("[name=max_channels]", "0")
        page.fill("#question", EN)
        page.click("#go")
        page.wait_for_selector("[name=max_channels][aria-invalid=true]")
        assert "max_channels" in page.inner_text("[role=alert]")
        assert page.input_value("#question") == EN
        page.fill("[name=max_channels]", "2")
        page.click("#go")
        page.wait_for_selector(".picks")
        assert page.inner_text("[role=alert]") == ""


@pytest.mark.rule("EXP-2.8")
def test_a_dead_server_is_said_and_the_question_is_kept(opened, planner):
    with explorer(planner) as (url, stop), opened(url) as page:
        page.wait_for_load_state("networkidle")
        stop()
        page.fill("#question", EN)
        page.click("#go")
        page.wait_for_selector("[role=alert] button")
        assert "not answering" in page.inner_text("[role=alert]")
        assert page.input_value("#question") == EN


@pytest.mark.rule("EXP-2.9")
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_nothing_is_cut_off_on_a_phone(opened, judged, locale):
    with opened(judged, locale=locale, viewport={"width": 360, "height": 740}) as page:
        plan(page, ZH)
        page.wait_for_selector("[data-side=model]")
        page.click("#more summary")
        for summary in page.locator("#result summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        small = page.eval_on_selector_all(
            "button, select, .options label, summary",
            "all => all.filter(one => one.offsetParent && one.getBoundingClientRect().height < 24)"
            ".map(one => one.outerHTML)",
        )
    assert small == []
