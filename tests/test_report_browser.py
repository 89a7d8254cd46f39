"""The report in a real browser: nothing is cut, overlaps or runs, at any width, light and dark."""

from __future__ import annotations

import re
import shutil

import pytest
from cases import SMALL, SPECS, small

import evosynth
from evosynth.cli import main
from evosynth.report import page as report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no browser is installed: apt-get install chromium"
)

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
LABEL = "<script>alert(1)</script>"
WORD = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerk"
CAPTION = "a caption copied from the paper with its notes and its source " * 5
LONG = f"""\
title: {WORD}
records: 300
variables:
  SEX: {{label: {WORD}, categories: {{1: {WORD}, 2: Other}}}}
  {WORD.upper()}: {{categories: {{{", ".join(f"{n}: {WORD[n:]}" for n in range(14))}}}}}
  INCOME: {{label: Income, integer: [0, 900000]}}
outputs:
  - kind: crosstab
    rows: SEX
    columns: {WORD.upper()}
    counts: {{1: {[10] * 14}, 2: {[10] * 13 + [30]}}}
  - kind: summary
    title: {WORD} {CAPTION}
    of: INCOME
    by: SEX
    mean: {{1: 123456.12, 2: 345.51}}
    sd: {{1: 12.51, 2: 300.25}}
  - kind: logit
    formula: SEX ~ INCOME + {WORD.upper()}
    coefficients: {{Intercept: 0.402, "{WORD.upper()}[2]": -0.2811, "{WORD.upper()}[3]": 10.28}}
    standard_errors: {{Intercept: 0.402123, INCOME: 0.013}}
"""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A run of the founding paper's, one with nasty labels, and one that misses figures."""
    root = tmp_path_factory.mktemp("browser")
    founding = evosynth.synthesize(evosynth.load(SPECS / "south-yorkshire-cars-2.yaml"))
    text = SMALL.replace("A small survey", f"'{LABEL}'").replace("Area", f"'{LABEL}'")
    text = text.replace("n: North", f"n: '{LABEL}'")
    nasty = evosynth.synthesize(small(root, text))
    missing = SMALL.replace("Intercept: -1.02", 'Intercept: -1.02, "AREA[s]": 0.3123').replace(
        "WORK ~ AGE + SEX", "WORK ~ AGE + SEX + AREA"
    )
    missed = evosynth.synthesize(small(root, missing), strategy="classic", generations=2)
    assert not missed.exact
    (root / "spec").mkdir()
    words = small(root / "spec", LONG)
    words = evosynth.synthesize(words, strategy="classic", generations=1)
    assert not words.exact
    made = {"founding": founding, "nasty": nasty, "missed": missed, "risk": nasty, "words": words}
    found = {name: result.save(root / name) for name, result in made.items()}
    people = ["--original", root / "missed" / "data.csv", "--holdout", root / "nasty" / "data.csv"]
    asked = ["--keys", "AREA,AGE", "--categorical", "AGE", "--target", "WORK", "--force"]
    words = ["risk", found["risk"] / "data.csv", *people, *asked, "-o", found["risk"]]
    assert main([str(word) for word in words]) == 0
    report.make(found["risk"])
    return found


@pytest.fixture
def opened(browser, folders):
    """Open a report; whatever it asks for, runs or complains about is noted."""
    contexts = []

    def open_(name, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        found = context.new_page()
        found.noted = []
        found.on("request", lambda request: found.noted.append(request.url))
        found.on("dialog", lambda dialog: (found.noted.append("dialog"), dialog.dismiss()))
        found.on("console", lambda message: found.noted.append(message.text))
        address = (folders[name] / "report.html").as_uri()
        found.goto(address)
        assert found.noted == [address]
        return found

    yield open_
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["founding", "nasty", "missed", "risk", "words"])
def test_nothing_is_cut_or_overlaps(name, width, scheme, opened):
    page = opened(name, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(
        """() => [...document.querySelectorAll('body *:not(.skip)')].filter(e => {
            const box = e.getBoundingClientRect();
            return box.width && (box.left < -1 || box.right > innerWidth + 1)
                && !e.closest('.scroll, pre, svg');
        }).map(e => e.outerHTML.slice(0, 80))"""
    )
    assert outside == []
    overlapping = page.evaluate(
        """() => {
            const parts = [...document.querySelectorAll(
                'h1, h2, h3, h4, p, dl, table, figure, nav li, summary, .card')]
                .filter(e => e.getBoundingClientRect().height && e.checkVisibility({
                    contentVisibilityAuto: true}) && !e.closest('.scroll table *'));
            const found = [];
            for (const a of parts) for (const b of parts) {
                if (a === b || a.contains(b) || b.contains(a)) continue;
                const [x, y] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
                if (Math.min(x.right, y.right) - Math.max(x.left, y.left) > 1
                    && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 1)
                    found.push([a.outerHTML.slice(0, 60), b.outerHTML.slice(0, 60)]);
            }
            return found;
        }"""
    )
    assert overlapping == []
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[scheme]


@pytest.mark.parametrize("name", ["founding", "missed", "risk", "words"])
def test_phones_show_tables_and_pictures_whole(name, opened):
    page = opened(name, 390)
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.scroll')]
            .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText.slice(0, 80))"""
    )
    assert wide == []
    # Where a row is no line, each value bears the name of its column.
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('.many td')]
            .filter(e => getComputedStyle(e, '::before').content.length < 4)
            .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    assert page.locator(".many td").count() > 20


@pytest.mark.parametrize("name", ["founding", "missed"])
def test_numbers_line_up_on_the_decimal_point(name, opened):
    page = opened(name)
    points = page.evaluate(
        """() => [...document.querySelectorAll('table.figures')].map(table => {
            const columns = {};
            for (const row of table.tBodies[0].rows)
                [...row.cells].reverse().forEach((cell, k) => {
                    if (row.cells.length && cell.tagName === 'TD')
                        for (const f of cell.querySelectorAll('.f'))
                            (columns[k] ||= []).push(f.getBoundingClientRect().left);
                });
            return Object.values(columns);
        }).flat().filter(lefts => lefts.length > 1)"""
    )
    assert len(points) > 5
    assert max(max(lefts) - min(lefts) for lefts in points) < 0.6


def test_a_label_stays_text(opened):
    page = opened("nasty")
    assert page.locator("h1").inner_text() == LABEL
    assert page.locator("main script").count() == 0
    assert page.locator(f"main th:has-text('{LABEL}')").count() >= 1
    assert page.title() == f"Report: {LABEL}"


def test_everything_is_reached_by_keyboard(opened):
    page = opened("missed", 390)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    reached = []
    for _ in range(400):
        page.keyboard.press("Tab")
        mark = page.evaluate(
            """() => { const e = document.activeElement; if (e === document.body) return null;
                e.dataset.reached = 1; return [e.tagName, getComputedStyle(e).outlineStyle]; }"""
        )
        if mark is None:
            break
        reached.append(mark)
    left = page.evaluate(
        """() => [...document.querySelectorAll('a, summary, [tabindex="0"]')]
            .filter(e => e.checkVisibility() && e.getBoundingClientRect().width)
            .filter(e => !e.matches('.skip, [data-reached], details:not([open]) > :not(summary)'))
            .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert left == []
    assert all(outline != "none" for _, outline in reached)
    # What is folded opens by keyboard, and what is too wide can be scrolled.
    page.locator("#spec ~ details summary").focus()
    page.keyboard.press("Enter")
    assert "kind: crosstab" in page.locator("#spec ~ details pre").inner_text()
    scrolled = page.evaluate(
        """() => [...document.querySelectorAll('.scroll')]
            .filter(e => e.scrollWidth > e.clientWidth + 1 && e.tabIndex !== 0).length"""
    )
    assert scrolled == 0


def test_pictures_have_words_and_regions_have_names(opened):
    page = opened("founding")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('svg, img, [role=region], [role=img]')]
            .filter(e => !e.closest('[aria-hidden=true]') && !e.parentElement.closest('svg'))
            .filter(e => !(e.getAttribute('aria-label') || e.getAttribute('alt')))
            .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    assert page.locator("[role=img]").count() >= 2


def test_misses_are_loud_and_exact_figures_quiet(opened):
    page = opened("missed")
    assert "published figures reproduced exactly" in page.locator(".verdict").inner_text()
    loud = page.locator("td.miss").first
    weight, back = loud.evaluate(
        "e => [getComputedStyle(e).fontWeight, getComputedStyle(e).backgroundColor]"
    )
    assert int(weight) >= 700 and back != "rgba(0, 0, 0, 0)"
    listed = page.locator("#misses ~ .scroll")
    assert "Half-units off" in listed.locator("th").all_inner_texts()
    assert re.fullmatch(r"[+−][\d.,]+", listed.locator("td.miss").first.inner_text())
    listed = opened("missed", 390).locator("#misses ~ .scroll tbody th").first
    assert len(listed.inner_text().splitlines()) == 2  # a phone has no column for the output
    quiet = opened("founding").locator("td.exact").first
    assert int(quiet.evaluate("e => getComputedStyle(e).fontWeight")) == 400


PAPER = 673
"""Pixels between the margins of A4."""


@pytest.mark.parametrize("name", ["founding", "missed", "risk", "words"])
def test_nothing_is_beside_the_paper(name, opened):
    page = opened(name, PAPER)
    page.emulate_media(media="print")
    outside = page.evaluate(
        """() => [...document.querySelectorAll('td, th, caption, p, pre, h1, h2, h3, h4, li')]
            .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('svg'))
            .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert outside == []


def test_long_titles_are_cut_where_they_only_point(opened):
    page = opened("words")
    title = f"{WORD} {CAPTION}".strip()
    assert page.locator("h3", has_text=CAPTION.strip()).count() == 1
    cut = page.locator("#misses ~ .scroll td.wide", has_text="…").first.inner_text()
    assert cut == title[:80].rstrip() + "…"
    heads = page.locator(".matrix thead span")
    assert heads.count() == 2
    assert all(box["height"] <= 161 for box in (h.bounding_box() for h in heads.all()))


def test_it_prints(opened, tmp_path):
    page = opened("founding")
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator("h1").is_visible()
    # What is folded on the screen is on paper, too: nobody can unfold it there.
    assert page.locator("#spec ~ details pre").bounding_box()["height"] > 1000
    document = page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert document.startswith(b"%PDF") and document.count(b"/Type /Page\n") < 20


def test_the_page_made_anew_is_the_same(folders):
    before = (folders["founding"] / "report.html").read_bytes()
    assert report.make(folders["founding"]).read_bytes() == before
    assert len(before) < 3_000_000


@pytest.mark.parametrize("name", ["founding", "missed", "risk"])
def test_short_words_stay_whole_on_paper(name, opened):
    page = opened(name, PAPER)
    page.emulate_media(media="print")
    broken = page.evaluate(
        """() => [...document.querySelectorAll('table:not(.words, .matrix) thead th')].filter(e => {
            const lines = new Set(), range = document.createRange();
            const text = e.firstChild;
            if (!text || text.nodeType !== 3 || /\\s|-/.test(text.data.trim())) return false;
            for (let i = 0; i < text.data.length; i++) {
                range.setStart(text, i); range.setEnd(text, i + 1);
                lines.add(Math.round(range.getBoundingClientRect().top));
            }
            return lines.size > 1;
        }).map(e => e.textContent)"""
    )
    assert broken == []
    assert page.locator("table:not(.words, .matrix) thead th").count() > 5
