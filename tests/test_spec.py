from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evosynth import kinds
from evosynth.errors import SpecError
from evosynth.spec import json_schema, load

Write = Callable[[str | bytes], Path]

SPECS = Path(__file__).parents[1] / "specs"
BAD_SPECS = yaml.safe_load(Path(__file__).with_name("bad_specs.yaml").read_text("utf-8"))

SOUND = """\
records: 10
variables:
  SEX: {categories: {1: Male, 2: Female}}
  AREA: {categories: {N: North, S: South, W: West}}
  AGE: {integer: [0, 4]}
outputs:
  - kind: frequencies
    of: SEX
    counts: {1: 4, 2: 6}
  - kind: crosstab
    rows: AREA
    columns: SEX
    counts:
      N: [1, 2]
      S: [1, 2]
      W: [2, 2]
  - kind: logit
    formula: SEX ~ AREA + AGE
    reference: {AREA: S}
    coefficients:
      Intercept: 0.50
      AREA[N]: -0.10
      AREA[W]: 0.25
      AGE: -0.0650
"""


def changed(change: dict[str, str]) -> str:
    text = SOUND
    for old, new in change.items():
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the sound spec"
        text = text.replace(old, new)
    return text


def message(path: Path) -> str:
    with pytest.raises(SpecError) as caught:
        load(path)
    return str(caught.value)


def test_the_sound_spec_has_no_fault(write_spec: Write) -> None:
    spec = load(write_spec(SOUND))
    assert spec.schema.records == 10
    assert spec.schema["AREA"].labels == ("North", "South", "West")
    assert spec.schema["AGE"].values.tolist() == [0, 1, 2, 3, 4]
    assert (spec.start, spec.strategy) == ("calibrated", "exact")
    assert [[f"{f.label} {f.printed}" for f in figures] for figures in spec.figures] == [
        ["SEX=1 4", "SEX=2 6"],
        [
            *["AREA=N, SEX=1 1", "AREA=N, SEX=2 2", "AREA=S, SEX=1 1", "AREA=S, SEX=2 2"],
            *["AREA=W, SEX=1 2", "AREA=W, SEX=2 2"],
        ],
        ["Intercept 0.50", "AREA[N] -0.10", "AREA[W] 0.25", "AGE -0.0650"],
    ]


def name_of(case: dict[str, Any]) -> str:
    return str(case["text"] if "text" in case else "".join(case["change"].values()))


@pytest.mark.parametrize("case", BAD_SPECS, ids=name_of)
def test_bad_specs(case: dict[str, Any], write_spec: Write) -> None:
    text = case["text"] if "text" in case else changed(case["change"])
    known = ", ".join(kinds.names())
    assert message(write_spec(text)).splitlines() == [
        f"spec.yaml:{line.replace('<kinds>', known)}" for line in case["says"]
    ]


def test_all_faults_at_once_by_line(write_spec: Write) -> None:
    change = {
        "of: SEX": "of: SXE",
        "W: [2, 2]": "W: [2, 2, 4, 0]",
        "kind: logit": "kind: logitt",
        "4]": "4], proportions: {9: 0.1}",
        "records: 10": "records: 10\nrecords: 11",
    }
    assert message(write_spec(changed(change))).splitlines() == [
        "spec.yaml:2 records: stands twice in the same mapping (first in line 1); remove one",
        "spec.yaml:6 variables.AGE.proportions.9: no such value (known: 0, 1, 2, 3, 4)",
        "spec.yaml:9 outputs[0].of: unknown variable 'SXE' (did you mean 'SEX'?)",
        "spec.yaml:17 outputs[1].counts.W: 4 cells, but 'SEX' has 2 values (1, 2)",
        "spec.yaml:18 outputs[2].kind: unknown kind 'logitt' (did you mean 'logit'?)",
    ]


def test_no_fault_hides_another(write_spec: Write) -> None:
    change = {
        "records: 10": "records: 10\nsauce: BBC",
        "[0, 4]": "[4, 0]",
        "of: SEX": "of: SXE",
        "W: [2, 2]": "W: [2, 3]",
        "{AREA: S}": "{AREA: E}",
    }
    assert message(write_spec(changed(change))).splitlines() == [
        "spec.yaml:2 sauce: unknown key (did you mean 'source'?)",
        "spec.yaml:6 variables.AGE.integer: [4, 0] admits no value: 4 is larger than 0",
        "spec.yaml:9 outputs[0].of: unknown variable 'SXE' (did you mean 'SEX'?)",
        "spec.yaml:14 outputs[1].counts: the cells sum to 11, but records is 10 (1 too many)",
        "spec.yaml:20 outputs[2].reference.AREA: 'AREA' has no value 'E' (known: N, S, W)",
    ]


def test_a_fault_is_one_line_of_printable_text(write_spec: Write) -> None:
    text = message(write_spec(SOUND + '"\\e[31mred\\n": 1\n'))
    assert text.isprintable()
    assert text.endswith(
        ": unknown key (known: title, source, records, variables, outputs, rules, "
        "households, weights, risk, start, strategy, formats, teaching)"
    )


def test_a_long_value_is_not_repeated_whole(write_spec: Write) -> None:
    text = message(write_spec(SOUND + f"start: {'x' * 100_000}\n"))
    assert text.startswith("spec.yaml:25 start: input should be 'calibrated'")
    assert len(text) < 1000


TOWNS = ", ".join(f"town{i}: " for i in range(400))
FLOODS = {
    "unknown keys": SOUND + "".join(f"k{i}: 1\n" for i in range(3000)),
    "missing cells": changed(
        {"[0, 4]": "[0, 2999]", "rows: AREA": "rows: AGE", "N: [1, 2]": "0: [1, 2]"}
    ),
    "values of a variable": changed({"[0, 4]": "[0, 2999]", "columns: SEX": "columns: AGE"}),
    "unknown coefficients": changed({"AGE: -0.0650": ", ".join(f"T{i}: 1" for i in range(3000))}),
}


@pytest.mark.parametrize("text", FLOODS.values(), ids=FLOODS)
def test_a_report_stays_short_enough_to_read(text: str, write_spec: Write) -> None:
    lines = message(write_spec(text)).splitlines()
    assert 1 <= len(lines) <= 101
    assert max(map(len, lines)) < 1000


def test_a_model_may_not_have_a_million_coefficients(write_spec: Write) -> None:
    pair = f"  A: {{categories: {{{TOWNS}}}}}\n  B: {{categories: {{{TOWNS}}}}}\n"
    change = {"  AGE: {": f"{pair}  AGE: {{", "SEX ~ AREA + AGE": "SEX ~ AREA + AGE + A:B"}
    assert message(write_spec(changed(change))) == (
        "spec.yaml:20 outputs[2].formula: the model would have more than 1,000 coefficients"
    )


FIGURES = [("south-yorkshire-cars-1", 14), ("south-yorkshire-cars-2", 50)]


@pytest.mark.parametrize(("name", "figures"), FIGURES)
def test_specs_of_the_founding_paper(name: str, figures: int) -> None:
    spec = load(SPECS / f"{name}.yaml")
    assert spec.schema.records == 4027
    assert sum(map(len, spec.figures)) == figures
    texts = {figure.label: figure.printed.text for figure in spec.figures[0]}
    assert texts["AREAP[50]"] == "-0.0650"
    assert texts["TENURE[5]"] == "-0.7950"
    assert list(texts)[:3] == ["Intercept", "AGE", "AREAP[48]"]


def test_values_without_a_proportion_share_the_rest(write_spec: Write) -> None:
    change = {
        "W: West}": "W: West}, proportions: {S: 0.40}",
        "4]": "4], proportions: {0: 0.5, 3: 0.2}",
    }
    schema = load(write_spec(changed(change))).schema
    assert schema["SEX"].proportions == pytest.approx([0.5, 0.5])
    assert schema["AREA"].proportions == pytest.approx([0.3, 0.4, 0.3])
    assert schema["AGE"].proportions == pytest.approx([0.5, 0.1, 0.1, 0.2, 0.1])


def test_proportions_that_are_off_by_rounding_are_scaled(write_spec: Write) -> None:
    change = {"W: West}": "W: West}, proportions: {N: 0.33, S: 0.33, W: 0.33}"}
    schema = load(write_spec(changed(change))).schema
    assert schema["AREA"].proportions == pytest.approx([1 / 3, 1 / 3, 1 / 3])


def test_a_category_without_a_label_is_called_by_its_code(write_spec: Write) -> None:
    change = {"N: North, S: South, W: West": "N: , S: ~, W: null"}
    assert load(write_spec(changed(change))).schema["AREA"].labels == ("N", "S", "W")


def test_records_may_be_written_as_printed(write_spec: Write) -> None:
    text = changed({"records: 10": "records: 1,010", "{1: 4, 2: 6}": "{1: 404, 2: 606}"})
    assert load(write_spec(text.split("  - kind: crosstab")[0])).schema.records == 1010


def test_a_variable_may_be_called_cons(write_spec: Write) -> None:
    text = SOUND.replace("AGE", "cons")
    assert [figure.printed.text for figure in load(write_spec(text)).figures[2]] == [
        *["0.50", "-0.10", "0.25", "-0.0650"]
    ]


codes = st.lists(st.integers(-(2**62), 2**62).map(str), min_size=1, max_size=5, unique=True)


@given(codes | st.lists(st.from_regex(r"[0-9a-z]{1,4}", fullmatch=True), min_size=1, unique=True))
def test_codes_stay_as_they_are_written(
    tmp_path_factory: pytest.TempPathFactory, codes: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "codes.yaml"
    outputs = [{"kind": "frequencies", "of": "A", "counts": {codes[0]: 9}}]
    categories = dict.fromkeys(codes, "x")
    path.write_text(
        yaml.safe_dump(
            {"records": 9, "variables": {"A": {"categories": categories}}, "outputs": outputs},
            sort_keys=False,
        )
    )
    variable = load(path).schema["A"]
    assert [str(value) for value in variable.values.tolist()] == codes
    assert variable.levels == {code: level for level, code in enumerate(codes)}


@pytest.mark.parametrize("low", [-5, -1, 0, 254, 2**31 - 1, 2**32 - 1, 10**15 - 3])
def test_integers_stay_whole_and_apart(low: int, write_spec: Write) -> None:
    path = write_spec(changed({"[0, 4]": f"[{low}, {low + 2}]"}))
    assert load(path).schema["AGE"].values.tolist() == [low, low + 1, low + 2]


def errors_by_schema(text: str) -> list[str]:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    found = jsonschema.Draft202012Validator(schema).iter_errors(yaml.safe_load(text))
    return [error.message for error in found]


@pytest.mark.parametrize("path", sorted(SPECS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_json_schema_accepts_the_specs(path: Path) -> None:
    assert errors_by_schema(path.read_text("utf-8")) == []


ACCEPTED = [
    {},
    {"records: 10": "title: 1991\nrecords: 10"},
    {"1: Male, 2: Female": "1: 10, 2: 20"},
    {"{AREA: S}": "{AREA: 51}", "S: South": "51: South", "S: [1, 2]": "51: [1, 2]"},
    {"N: North": "N: "},
    {"-0.0650": "'-0.0650'"},
    {"counts: {1: 4, 2: 6}": "proportions: {1: 0.4, 2: 0.6}"},
]


@pytest.mark.parametrize("change", ACCEPTED, ids=str)
def test_the_json_schema_accepts_what_loads(change: dict[str, str], write_spec: Write) -> None:
    text = changed(change)
    assert load(write_spec(text)).schema.records == 10
    assert errors_by_schema(text) == []


@pytest.mark.parametrize(
    "change",
    [
        {"records: 10": "records: 10\nsauce: BBC"},
        {"{integer: [0": "{labl: Age, integer: [0"},
        {"columns: SEX": "columns: SEX\n    colour: red"},
        {"kind: logit": "kind: tobit"},
        {"records: 10\n": ""},
        {"records: 10": "records: ten"},
    ],
    ids=str,
)
def test_the_json_schema_rejects_what_does_not_load(
    change: dict[str, str], write_spec: Write
) -> None:
    text = changed(change)
    assert message(write_spec(text))
    assert len(errors_by_schema(text)) == 1


ODD = [
    *["", "~", "x", "-1", "0", "1e999", "nan", "'1'", "9" * 60, "[]", "{}", "[[]]", "[1, 2, 3]"],
    *["{a: {b: c}}", "{1: 1, 1: 2}", "&x [*x]", "!!python/name:os.mkdir x", '"\\0"', "[~, {}]"],
]


@given(st.dictionaries(st.integers(0, 23), st.sampled_from(ODD), min_size=1, max_size=3))
def test_any_spec_loads_or_raises_a_spec_error(
    tmp_path_factory: pytest.TempPathFactory, odd: dict[int, str]
) -> None:
    lines = SOUND.splitlines()
    for number, value in odd.items():
        lines[number] = f"{lines[number].partition(':')[0]}: {value}"
    path = tmp_path_factory.getbasetemp() / "odd.yaml"
    path.write_text("\n".join(lines))
    try:
        spec = load(path)
    except SpecError as error:
        assert str(error)
    else:
        assert np.isfinite([f.printed.value for figures in spec.figures for f in figures]).all()
        assert len(spec.plans) == len(spec.outputs)
