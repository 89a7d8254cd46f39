"""The report: from the files alone, every figure in its place, a stranger's text harmless."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from cases import SMALL, SPECS, small

import evosynth
from evosynth import cli, notice
from evosynth.errors import FolderError
from evosynth.report import facts, figures, folder, layout, page, tidy

NASTY = "</title><script>alert(1)</script>\" onload='x' & <b>"


class Parsed(HTMLParser):
    """Tags, attributes and text of a page; tags that are not closed in order are an error."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.headings, self.open = [], [], [], []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in {"meta", "img", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in {"style", "script"}:
            self.text += data
        if self.open and re.fullmatch("h[1-6]", self.open[-1]):
            self.headings.append((int(self.open[-1][1]), data))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of a small spec with nasty labels, and its folder."""
    quoted = "'" + NASTY.replace("'", "''") + "'"
    text = SMALL.replace("A small survey", quoted).replace("label: Area", f"label: {quoted}")
    text = text.replace("n: North", f"n: {quoted}").replace("w: West", "w: غرب 🌊")
    root = tmp_path_factory.mktemp("report")
    result = evosynth.synthesize(small(root, text), seed=1)
    return result, result.save(root / "out")


def missed(made, tmp_path):
    """A copy of the folder in which two figures are missed, one of them not estimable."""
    place = tmp_path / "missed"
    shutil.copytree(made[1], place)
    table = pd.read_csv(place / "verification.csv", dtype=str, keep_default_na=False)
    at = table.index[table["figure"] == "AGE"][0]
    table.loc[at, ["reproduced", "exact", "value", "half_units"]] = [
        "0.058",
        "False",
        "0.058",
        "14",
    ]
    table.loc[0, ["reproduced", "exact", "value", "half_units"]] = [
        "not estimable",
        "False",
        "",
        "",
    ]
    table.to_csv(place / "verification.csv", index=False)
    return place


def test_the_page_is_whole_and_nothing_in_it_runs_or_is_fetched(made):
    text = (made[1] / "report.html").read_text("utf-8")
    found = Parsed(text)
    assert not set(found.tags) & {"script", "b", "img", "iframe", "link", "object"}
    assert not any(name.startswith("on") for name, _ in found.attributes)
    assert "default-src 'none'" in text
    addresses = [value for name, value in found.attributes if name in {"href", "src"}]
    assert addresses and all(value.startswith("#") for value in addresses)
    assert "url(" not in text and "@import" not in text
    assert NASTY in found.text and "غرب 🌊" in found.text


def test_a_text_that_turns_the_direction_of_writing_turns_no_other(made):
    found = folder.read(made[1])
    turned = {"title": "\u202eA title", "source": "\u202eA source"}
    text = page.page(folder.Folder(found.run, found.facts | turned, found.found))
    for sentence in (
        "<bdi>\u202eA title</bdi>. Synthetic teaching data made with",
        "from the figures of: <bdi>\u202eA source</bdi>.",
        "Source of the figures: <bdi>\u202eA source</bdi></p>",
    ):
        assert sentence in text


def test_links_within_the_page_lead_somewhere(made):
    found = Parsed((made[1] / "report.html").read_text("utf-8"))
    ids = [value for name, value in found.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    assert {value[1:] for name, value in found.attributes if name == "href"} <= set(ids)


def test_headings_go_down_one_step_at_a_time(made):
    levels = [level for level, _ in Parsed((made[1] / "report.html").read_text("utf-8")).headings]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))


def test_the_top_says_what_matters(made):
    found = Parsed((made[1] / "report.html").read_text("utf-8"))
    for text in ("11 of 11 published figures reproduced exactly as printed", notice.NOTICE, "400"):
        assert text in found.text
    assert "evosynth run spec.yaml -o out --seed 1" in found.text
    assert "What is missed" not in found.text
    assert SMALL[SMALL.index("outputs:") :] in found.text  # the spec itself


def test_the_report_is_made_anew_from_the_files_alone(made, tmp_path, capsys):
    before = (made[1] / "report.html").read_bytes()
    place = tmp_path / "moved"
    place.mkdir()
    for name in ("run.json", "report.json", "verification.csv"):
        shutil.copy(made[1] / name, place)
    assert cli.main(["report", str(place)]) == 0
    assert (place / "report.html").read_bytes() == before
    assert capsys.readouterr().out == f"Written to {place / 'report.html'}\n"


@pytest.mark.parametrize("stopped", ["every figure is exact", "time limit"])
def test_a_run_that_the_clock_ended_does_not_promise_the_same_data(stopped, made, tmp_path):
    place = shutil.copytree(made[1], tmp_path / "ended")
    run = json.loads((place / "run.json").read_text(encoding="utf-8"))
    (place / "run.json").write_text(json.dumps(run | {"stopped": stopped}), encoding="utf-8")
    text = Parsed(page.page(folder.read(place))).text
    assert ("its data may be others" in text) == (stopped == "time limit")


@pytest.mark.parametrize("gone", ["run.json", "report.json", "verification.csv"])
def test_a_folder_that_lacks_a_file_is_refused_with_its_name(gone, made, tmp_path, capsys):
    place = tmp_path / "less"
    shutil.copytree(made[1], place)
    (place / gone).unlink()
    assert cli.main(["report", str(place)]) == 2
    assert gone in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.json", "{"),
        ("report.json", '{"title": 1}'),
        ("verification.csv", "a,b\n1,2\n"),
        ("weights.json", "{"),
    ],
)
def test_a_damaged_file_is_an_error_and_the_page_stays(name, text, made, tmp_path):
    place = tmp_path / "damaged"
    shutil.copytree(made[1], place)
    before = (place / "report.html").read_bytes()
    (place / name).write_text(text)
    with pytest.raises(FolderError):
        page.make(place)
    assert (place / "report.html").read_bytes() == before


def test_misses_are_loud_with_their_distance(made, tmp_path):
    place = missed(made, tmp_path)
    text = page.make(place).read_text("utf-8")
    found = Parsed(text)
    assert "9 of 11 published figures reproduced exactly as printed" in found.text
    assert "+14 half-units" in found.text and "not estimable" in found.text
    exact = (made[1] / "report.html").read_text("utf-8")
    assert 'class="number miss"' not in exact and 'reproduced miss"' not in exact
    assert text.count('reproduced miss"') == 1  # AGE, beside its published figure
    assert text.count('"number miss"') >= 3  # the cross-tabulation, and the list twice


def test_a_heat_map_shows_differences_unless_all_are_none(made, tmp_path):
    assert "Every difference is 0." in (made[1] / "report.html").read_text("utf-8")
    place = missed(made, tmp_path)
    assert "<details open>" in page.make(place).read_text("utf-8")
    assert figures.heat(0.0, True) == ("same", "0")
    assert figures.heat(-0.3, True) == ("near", "−0.3")
    assert figures.heat(2.0, False) == ("up1", "+2.0")
    assert figures.heat(-1234.0, False) == ("down3", "−1,234")
    assert figures.heat(None, False)[0] == "up3"


@pytest.mark.parametrize("path", sorted(SPECS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_figure_of_every_spec_has_a_place(path):
    spec = evosynth.load(path, anyway=True)
    for output, published in zip(spec.outputs, spec.figures, strict=True):
        schema = spec.schema_of(output)
        tables = layout.tables(output.analysis(schema), published, schema)
        cells = [cell for table in tables for row in table["rows"] for cell in row["cells"]]
        assert sorted(c for c in cells if c is not None) == list(range(len(published)))
        for table in tables:
            widths = {len(row["labels"]) for row in table["rows"]}
            assert widths == {len(table["heads"])}


def test_a_crosstab_stands_as_in_print(made):
    result, _ = made
    output = result.spec.outputs[0]
    analysis = output.analysis(result.spec.schema)
    (table,) = layout.tables(analysis, result.spec.figures[0], result.spec.schema)
    assert table["columns"] == ["No", "Yes"]
    labels = [row["labels"][0] for row in table["rows"]]
    assert labels == [NASTY, "South", "غرب 🌊"]
    texts = [f.printed.text for f in result.spec.figures[0]]
    found = [[texts[cell] for cell in row["cells"]] for row in table["rows"]]
    assert found == [["50", "70"], ["60", "90"], ["55", "75"]]


def test_equations_and_cut_points_bear_the_labels_of_the_outcome():
    spec = evosynth.load(SPECS / "copenhagen-housing.yaml", anyway=True)
    shown = []
    for output, published in zip(spec.outputs[:2], spec.figures, strict=False):
        schema = spec.schema_of(output)
        shown.append(layout.tables(output.analysis(schema), published, schema))
    ordered, multinomial = shown
    labels = [row["labels"][0] for row in ordered[0]["rows"]]
    assert labels[-2:] == ["Low | Medium", "Medium | High"]
    captions = [table["caption"] for table in multinomial[:2]]
    assert captions == ["Satisfaction with housing: Medium", "Satisfaction with housing: High"]


@pytest.mark.parametrize(
    ("name", "kind", "counted"),
    [
        ("household-survey", "frequencies", {"Households", "Records"}),
        ("weighted-health-survey", "crosstab", set()),
    ],
)
def test_tables_say_what_they_count_and_by_what_it_is_weighted(name, kind, counted):
    spec = evosynth.load(SPECS / f"{name}.yaml")
    abouts = [
        facts._output(spec, i, True, {}) for i, o in enumerate(spec.outputs) if o.kind == kind
    ]
    columns = {c for about in abouts for t in about["tables"] for c in t["columns"]}
    assert counted <= columns
    weighted = [o.weighted for o in spec.outputs if o.kind == kind]
    assert [about["weight"] for about in abouts] == ["WEIGHT" if w else "" for w in weighted]


def test_values_that_share_a_label_lose_no_figure(tmp_path):
    spec = small(tmp_path, SMALL.replace("s: South, w: West", "s: North, w: North"))
    (table,) = layout.tables(spec.outputs[0].analysis(spec.schema), spec.figures[0], spec.schema)
    cells = sorted(cell for row in table["rows"] for cell in row["cells"])
    assert cells == list(range(6))


def test_a_huge_output_lists_its_misses_alone(made, monkeypatch):
    result, _ = made
    monkeypatch.setattr(facts, "MOST_FIGURES", 3)
    described = evosynth.codebook.describe(result.data, result.spec.schema)
    about = facts.gather(result.spec, result.data, described, ["evosynth"])
    assert [output["tables"] is None for output in about["outputs"]] == [True, False, False]
    found = folder.read(made[1])
    text = page.page(folder.Folder(found.run, json.loads(json.dumps(about)), found.found))
    assert "verification.csv has them all" in text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("-0.0650", ("−0", ".0650")),
        ("1024", ("1024", "")),
        ("<0.001", ("<0", ".001")),
        ("***", ("***", "")),
        ("not estimable", ("not estimable", "")),
        ("suppressed.", ("suppressed.", "")),
    ],
)
def test_numbers_are_split_at_the_decimal_point(text, parts):
    assert figures.number(text) == parts


def test_copies_show_overlap_and_the_farthest_miss(tmp_path):
    small(tmp_path)
    out = tmp_path / "out"
    assert cli.main(["run", str(tmp_path / "spec.yaml"), "-o", str(out), "--copies", "3"]) == 0
    found = Parsed((out / "report.html").read_text("utf-8"))
    assert "reproduced exactly as printed in all 3 copies" in found.text
    assert "Two copies have" in found.text and "copy-03" in found.text
    assert "--copies 3" in found.text
    table = pd.read_csv(out / "verification.csv", dtype=str)
    for copy, half in (("1", "3.5"), ("3", "-6.5")):
        at = table.index[(table["figure"] == "AGE") & (table["copy"] == copy)][0]
        table.loc[at, ["exact", "half_units"]] = ["False", half]
    table.to_csv(out / "verification.csv", index=False)
    text = Parsed(page.make(out).read_text("utf-8")).text
    assert "10 of 11" in text and "−6.5 half-units" in text and "copy 1, 3" in text


def test_sections_of_other_commands_are_shown_whatever_they_hold(made, tmp_path):
    place = tmp_path / "sections"
    shutil.copytree(made[1], place)
    other = {
        "method": "raking",
        "design_effect": 1.25,
        "bounds": None,
        "ratios": {"min": 0.5, "histogram": {"edges": [0.5, 1, 2], "counts": [3, 4]}},
        "margins": [
            {"margin": "SEX", "cell": NASTY, "total": 210000, "relative_error": -1.5e-9},
            {"margin": "SEX", "cell": "2", "total": 225000.5, "relative_error": 0.0},
        ],
    }
    risk = {"verdict": "no <b>difference", "pictures": ["ru.svg", "../up.svg"], "empty": []}
    risk |= other
    (place / "risk.json").write_text(json.dumps(risk))
    (place / "ru.svg").write_text("<svg onload='alert(1)'/>")
    (tmp_path / "up.svg").write_text("<svg/>")
    text = page.make(place).read_text("utf-8")
    found = Parsed(text)
    assert found.tags.count("img") == 1 and "script" not in found.tags and "b" not in found.tags
    for told in ("Design effect", "1.25", "undefined", "−1.5e-09", "225,000", NASTY):
        assert told in found.text
    assert "Distribution of Histogram. 0.5 to 1: 3; 1 to 2: 4." in text
    assert "no <b>difference" in found.text


WEIGHTED = """\
title: Weighted
records: 90
variables:
  SEX: {label: Sex, categories: {1: "<b>Men", 2: Women}}
  AGE: {label: Age, integer: [20, 60]}
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 40, 2: 50}}
weights:
  method: linear
  bounds: [0.2, 4]
  label: A weight
  totals: {SEX: {1: 3000, 2: 2500}, AGE: 220000}
"""


def test_weights_are_told_in_words(tmp_path):
    spec = tmp_path / "w.yaml"
    spec.write_text(WEIGHTED.replace("linear", "truncated linear"))
    out = evosynth.synthesize(evosynth.load(spec), seed=1).save(tmp_path / "out")
    found = Parsed((out / "report.html").read_text("utf-8"))
    assert "b" not in found.tags
    for told in (
        "WEIGHT: A weight",
        "Published figures are unweighted",
        "truncated linear",
        "between 0.2 and 4 times the design weights",
        "sum 5,500 (the population)",
        "3; the largest relative error is",
        "of 90 records",
        "<b>Men",
        "220,000",
    ):
        assert told in found.text
    about = json.loads((out / "weights.json").read_text())
    assert f"{about['design_effect']:.3f}" in found.text
    del about["ratios"]
    (out / "weights.json").write_text(json.dumps(about))
    with pytest.raises(FolderError, match="cannot be understood"):
        page.make(out)


def test_bounds_without_an_upper_one_are_told_as_such(tmp_path):
    spec = tmp_path / "w.yaml"
    spec.write_text(WEIGHTED.replace("[0.2, 4]", "[0.2, .inf]"))
    out = evosynth.synthesize(evosynth.load(spec), seed=1).save(tmp_path / "out")
    told = Parsed((out / "report.html").read_text("utf-8")).text
    assert "weights at least 0.2 times the design weights" in told


def test_tidy_numbers_stay_readable():
    assert tidy.text(1234567.8) == "1,234,568"
    assert tidy.text(float("nan")) == "undefined"
    assert tidy.text(True) == "yes"
    assert tidy.text([1, None]) == "1, undefined"
    assert tidy.name("effective_n") == "Effective n"
    assert tidy.name("baseCAPd") == "baseCAPd" and tidy.name("iS") == "iS"
    columns = tidy.blocks({"table": {"a": [1, 2], "b": ["x", "y"]}})[0]["table"]
    assert columns["rows"] == [["1", "x"], ["2", "y"]]


def test_numbers_line_up_beside_those_that_are_withheld():
    rows = [{"a": -9.07, "b": "no"}, {"a": "suppressed", "b": "suppressed"}, {"a": 12, "b": "no"}]
    table = tidy.blocks({"rows": rows})[0]["table"]
    assert table["numeric"] == [True, False]


STYLE = Path(page.__file__).parent / "templates" / "style.css"


def colours(dark):
    text = STYLE.read_text("utf-8")
    parts = re.findall(r":root \{([^}]*)\}", text)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", parts[0]))
    return found | dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", parts[1])) if dark else found


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, two):
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


TEXT = [
    *[("ink", back) for back in ("back", "tint", "warn", "up1", "up2", "down1", "down2")],
    *[("ink", f"a{n}") for n in (1, 2, 3, 4)],
    *[("soft", back) for back in ("back", "tint")],
    *[("link", back) for back in ("back", "tint")],
    *[("up3-ink", "up3"), ("down3-ink", "down3"), ("a5-ink", "a5")],
    *[("good", "good-back"), ("miss", "miss-back"), ("link", "miss-back")],
]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(dark):
    found = colours(dark)
    low = {
        (ink, back): round(contrast(found[ink], found[back]), 2)
        for ink, back in TEXT
        if contrast(found[ink], found[back]) < 4.5
    }
    assert low == {}
    # Marks of pictures: 3 to 1 is asked for.
    assert all(contrast(found[mark], found["back"]) >= 3 for mark in ("bar", "gap", "miss"))
