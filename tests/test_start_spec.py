"""Specs to start from: they pass the check, and hold what a codebook says."""

from __future__ import annotations

import pytest

import evosynth
from evosynth import cli, start_spec
from evosynth.errors import DataError

CODEBOOK = """\ufeffvariable,label,code,value label,count
AREA,"Région ""où"" 🌍",n,Nörd,"1,100"
,,s,جنوب: yes,100
SEX,Sex,1,Male,500
,,2,Female,690
,,-9,Refused,10
AGE,Age in years,,,
"""


def test_the_example_passes_the_check_and_can_be_run(tmp_path, capsys):
    path = tmp_path / "mine.yaml"
    assert cli.main(["new", str(path)]) == 0
    assert "evosynth check" in capsys.readouterr().out
    spec = evosynth.load(path)
    assert spec.schema.records == 400
    assert evosynth.synthesize(spec, seed=1, time=20).exact
    assert cli.main(["new", str(path)]) == 2
    assert "is there already; choose another name, or add --force" in capsys.readouterr().err
    assert cli.main(["new", str(path), "--force"]) == 0


def test_a_codebook_fills_in_variables_and_frequencies(tmp_path):
    (tmp_path / "codebook.csv").write_text(CODEBOOK, encoding="utf-8")
    path = tmp_path / "mine.yaml"
    assert cli.main(["new", str(path), "--from", str(tmp_path / "codebook.csv")]) == 0
    spec = evosynth.load(path)
    area, sex, age = spec.schema.variables
    assert spec.schema.records == 1200
    assert (area.label, area.labels) == ('Région "où" 🌍', ("Nörd", "جنوب: yes"))
    assert (sex.texts, sex.missing, sex.labels[-1]) == (("1", "2", "-9"), 1, "Refused")
    assert age.labels is None
    assert [f.printed.text for f in spec.figures[1]] == ["500", "690", "10"]
    assert len(spec.outputs) == 2


def test_a_codebook_without_counts_makes_a_spec_too(tmp_path):
    (tmp_path / "c.csv").write_text("Variable;Label;Code;Value_Label\nA;a;x;X\n;;y;Y\n")
    text = start_spec.from_codebook(tmp_path / "c.csv")
    (tmp_path / "s.yaml").write_text(text)
    assert evosynth.load(tmp_path / "s.yaml").schema["A"].labels == ("X", "Y")
    assert "TODO" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("variable,cod\n", r"c.csv:1 unknown column 'cod' \(did you mean 'code'\?\)"),
        ("label,code\n", "c.csv:1 no column 'variable'"),
        ("variable,code\n1x,1\n", "c.csv:2 variable '1x': a name starts with a letter"),
        ("variable,code\nA,1\nA,1\n", "c.csv:3 A has the code '1' twice"),
        ("variable,code,count\nA,1,many\n", "c.csv:2 count 'many' is not a whole number"),
        ("variable,code,value label\nA,,kg\n", "c.csv:2 a value label needs a code"),
        ("variable,code,count\nA,,5\nA,.,5\nA,.,5\n", "c.csv:4 A has two lines without a code"),
        ("variable,code,count\nA,1,5\nA,Total,5\n", "c.csv:3 A: 'Total' is no code; leave the"),
        (
            "variable,code,value label\nA,1,Yes\nA,-9,Refused\nA,.,Missing\n",
            "c.csv: A has blanks beside codes of missing values; give the blanks a code",
        ),
        ("variable\n", "c.csv: there is no variable"),
    ],
)
def test_faults_of_a_codebook_name_the_line(text, message, tmp_path):
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        start_spec.from_codebook(tmp_path / "c.csv")


def test_all_faults_of_a_codebook_are_told_at_once_by_the_lines_where_they_begin(tmp_path):
    rows = 'variable,label,code,count\nA,"one\nlabel\u2028of three",1,5\n,,2,x\n1B,b,,\n,,3,y\n'
    (tmp_path / "c.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(DataError) as told:
        start_spec.from_codebook(tmp_path / "c.csv")
    found = [line.removeprefix(f"{tmp_path}/") for line in str(told.value).splitlines()]
    assert [line.partition(" ")[0] for line in found] == ["c.csv:4", "c.csv:5", "c.csv:6"]
    assert found[0].endswith(
        "count 'x' is not a whole number; write it in digits alone, or leave it out"
    )
    (tmp_path / "c.csv").write_text(rows.replace(",x", ",6").split("1B")[0], encoding="utf-8")
    assert 'label: "one label of three"' in start_spec.from_codebook(tmp_path / "c.csv")


BLANKS = """variable,label,code,value label,count
SEX,Sex,1,Male,"1 000"
SEX,,2,Female,190.0
SEX,,NA,Missing,10
AREA,,n,North,1100
,,,Not known,100
WORK,In work,,,40
WORK,,1,Yes,1160
PAY,Pay,,,1170
PAY,,-8,Not applicable,30
KG,Weight,.,,15
"""


def test_lines_without_a_code_count_blanks_or_the_values_of_a_quantity(tmp_path):
    (tmp_path / "c.csv").write_text(BLANKS, encoding="utf-8")
    (tmp_path / "s.yaml").write_text(start_spec.from_codebook(tmp_path / "c.csv"), "utf-8")
    spec = evosynth.load(tmp_path / "s.yaml")
    told = {v.name: (v.texts[-1], v.blank, v.missing_labels) for v in spec.schema.variables}
    assert told == {
        "SEX": ("missing", True, ("Missing",)),
        "AREA": ("missing", True, ("Not known",)),
        "WORK": ("missing", True, ("missing",)),
        "PAY": ("-8", False, ("Not applicable",)),
        "KG": ("missing", True, ("missing",)),
    }
    figures = [[figure.printed.text for figure in own] for own in spec.figures]
    assert figures == [
        ["1000", "190", "10"],
        ["1100", "100"],
        ["1160", "40"],
        ["30", "1170"],
        ["15"],
    ]
    data = evosynth.synthesize(spec, seed=1).data
    assert data["AREA"].isna().sum() == 100 and (data["PAY"] == -8).sum() == 30


def test_text_of_a_codebook_stays_text(tmp_path):
    label = 'x", integer: [1, 2]} # \\ {{ \t'
    doubled = label.replace('"', '""')
    rows = f'variable,label,code,value label\nA,"{doubled}",1,"{{[,]}}"\n,,2,b\n'
    (tmp_path / "c.csv").write_text(rows, encoding="utf-8")
    (tmp_path / "s.yaml").write_text(start_spec.from_codebook(tmp_path / "c.csv"), "utf-8")
    variable = evosynth.load(tmp_path / "s.yaml").schema["A"]
    assert (variable.label, variable.labels) == (label.strip(), ("{[,]}", "b"))
