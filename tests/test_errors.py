from __future__ import annotations

from pathlib import Path

import pytest

from evosynth import cli, load, synthesize
from evosynth.errors import are, have, many

COUNTS = {
    (0, "record"): "0 records",
    (1, "record"): "1 record",
    (4027, "record"): "4,027 records",
    ("2 to 3", "member"): "2 to 3 members",
    ("1", "half-unit"): "1 half-unit",
    (1, "category"): "1 category",
    (2, "copy"): "2 copies",
}


@pytest.mark.parametrize(("counted", "expected"), COUNTS.items())
def test_a_number_with_its_noun(counted: tuple[float | str, str], expected: str) -> None:
    assert many(*counted) == expected


def test_verbs_go_with_numbers() -> None:
    assert [f"{are(n)} {have(n)}" for n in (0, 1, 2)] == ["are have", "is has", "are have"]


ONE = """\
records: 1
variables: {AGE: {integer: [7, 7]}, SEX: {categories: {1: Male}}}
outputs: [{kind: summary, of: AGE, mean: 7}]
"""


def test_one_of_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.yaml").write_text(ONE)
    assert cli.main(["check", "one.yaml"]) == 0
    told = capsys.readouterr().out
    assert "1 record, 2 variables, 1 output, 1 figure\n" in told
    assert "1 category" in told
    assert cli.main(["run", "one.yaml", "-o", "out"]) == 0
    assert "1 of 1 published figure reproduced exactly as printed." in capsys.readouterr().out
    for name in ("report.html", "codebook.md"):
        page = Path("out", name).read_text()
        assert "1 published figure reproduced" in page
        for wrong in ("1 records", "1 figures", "1 published figures", "1 variables", "1 outputs"):
            assert wrong not in page
    short = synthesize(load("one.yaml"))._repr_html_()
    assert "1 record, 2 variables" in short


def test_clashes_of_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.yaml").write_text(ONE.replace("mean: 7", "n: 2"))
    assert cli.main(["check", str(tmp_path / "one.yaml")]) == 2
    assert "2 is more than all 1 record\n" in capsys.readouterr().err
