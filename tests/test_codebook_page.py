"""The codebook as a page: everything in it, a stranger's text harmless, pictures with words."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from cases import SMALL, small

import evosynth
from evosynth import codebook, codebook_page, notice

NASTY = "</title><script>alert(1)</script>\" onload='x' & <b>"


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    quoted = "'" + NASTY.replace("'", "''") + "'"
    text = SMALL.replace("A small survey", quoted).replace("label: Area", f"label: {quoted}")
    text = text.replace("n: North", f"n: {quoted}").replace("w: West", "w: غرب 🌊")
    return evosynth.synthesize(small(tmp_path_factory.mktemp("spec"), text), seed=1)


@pytest.fixture(scope="module")
def page(result):
    return codebook_page.page(result.spec, result.data, result.verification, ["a <note>"])


def test_the_page_is_well_formed_and_runs_nothing(page):
    body = page[page.index("<body>") : page.index("</html>")]
    tree = ET.fromstring(body.strip())
    tags = {node.tag for node in tree.iter()}
    assert not tags & {"script", "b", "img", "iframe"}
    assert not any(name.startswith("on") for node in tree.iter() for name in node.attrib)
    assert "default-src 'none'" in page
    assert "http" not in body


def test_every_variable_is_described_with_a_picture_and_words_for_it(result, page):
    tree = ET.fromstring(page[page.index("<body>") : page.index("</html>")].strip())
    sections = [s for s in tree.iter("section")]
    assert [s.find("h3").text for s in sections] == [v.name for v in result.spec.schema.variables]
    for section, variable in zip(sections, result.spec.schema.variables, strict=True):
        picture = section.find("svg")
        assert picture.get("role") == "img"
        assert picture.get("aria-label").startswith(f"Distribution of {variable.name}. ")
        told = [
            int(n.replace(",", ""))
            for n in re.findall(r": ([\d,]+)[;.]", picture.get("aria-label"))
        ]
        assert sum(told) == 400
        heights = [float(bar.get("height")) for bar in picture.iter("rect")]
        assert heights.index(max(heights)) == told.index(max(told))
    assert "غرب 🌊" in page
    assert '<td class="number">120</td><td class="number">30.00%</td>' in page


def test_the_statement_stands_in_both_codebooks(result, page):
    book = codebook.codebook(result.spec, result.data, result.verification)
    for text in (page, book):
        assert notice.NOTICE in text and notice.FORBIDDEN in text
        assert "11 of 11 published figures reproduced exactly as printed" in text
    assert "a &lt;note&gt;" in page


def test_bins_hold_every_valid_value_once(result):
    for described in codebook.describe(result.data, result.spec.schema):
        assert described.records == 400
        if not described.variable.categorical:
            low, high = described.edges[0], described.edges[-1]
            assert (
                low
                < described.variable.quantities.min()
                <= described.variable.quantities.max()
                < high
            )
