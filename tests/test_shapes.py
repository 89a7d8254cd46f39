"""What no figure fixes follows the hints of a spec, and looks like data without any."""

from __future__ import annotations

import numpy as np
import pytest
from cases import FOUNDING

import evosynth
from evosynth.problem import Problem
from evosynth.sampling import sample, univariate

SPEC = """
records: 4000
variables:
  AGE: {integer: [50, 95]}
  HEIGHT: {number: {min: 150, max: 200, decimals: 1}}
  INCOME: {integer: [0, 2000], zeros: 0.2, shape: lognormal, rises_with: {AGE: 0.4}}
  CIGARETTES:
    integer: [0, 60]
    zeros: 0.5
    shape: {heaped: 5, base: skewed}
    missing: {-8: {label: Not asked, share: 0.1}, -9: Refused}
  SCORE: {integer: [0, 100], shape: {quantiles: {25: 20, 50: 30, 75: 60}}}
  SEX: {categories: {1: Male, 2: Female}}
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 1900, 2: 2100}}
"""


@pytest.fixture
def load(tmp_path):
    def read(text: str) -> evosynth.Spec:
        file = tmp_path / "spec.yaml"
        file.write_text(text, encoding="utf-8")
        return evosynth.load(file)

    return read


@pytest.fixture
def data(load):
    return evosynth.synthesize(load(SPEC), 1).data


def test_unpublished_quantities_follow_their_shapes(data):
    assert 0.17 < (data["INCOME"] == 0).mean() < 0.23
    positive = data.loc[data["INCOME"] > 0, "INCOME"]
    assert positive.mean() > 1.1 * positive.median()
    asked = data.loc[data["CIGARETTES"] >= 0, "CIGARETTES"]
    assert 0.46 < (asked == 0).mean() < 0.54
    assert (asked[asked > 0] % 5 == 0).mean() > 0.7
    assert 0.08 < (data["CIGARETTES"] == -8).mean() < 0.12
    found = np.percentile(data["SCORE"], [25, 50, 75])
    np.testing.assert_allclose(found, [20, 30, 60], atol=3)


def test_rows_drawn_like_others_keep_zeros_and_round_values(load):
    spec = load(SPEC)
    problem = Problem.of(spec.plans, spec.schema)
    margins = [univariate(problem, column) for column in range(len(spec.schema.variables))]
    rng = np.random.default_rng(1)
    like = sample(problem, margins, 4000, True, rng)
    found = sample(problem, margins, 4000, True, rng, like=like)
    index = spec.schema.index
    asked = found[found[:, index["CIGARETTES"]] <= 60, index["CIGARETTES"]]
    assert 0.46 < (asked == 0).mean() < 0.54
    assert (asked[asked > 0] % 5 == 0).mean() > 0.7
    assert 0.17 < (found[:, index["INCOME"]] == 0).mean() < 0.23
    assert (found[:, index["HEIGHT"]] != like[:, index["HEIGHT"]]).mean() > 0.5


def test_without_a_hint_quantities_are_not_flat(data):
    ages = np.bincount(data["AGE"] - 50, minlength=46)
    assert ages[:15].sum() > 2 * ages[-15:].sum() > 0
    assert abs(data["HEIGHT"].skew()) < 0.15
    assert data["HEIGHT"].between(160, 190).mean() > 0.9


def test_associations_are_as_assumed(data):
    ranks = data[["AGE", "INCOME", "HEIGHT"]].corr("spearman")
    assert 0.3 < ranks.loc["AGE", "INCOME"] < 0.5
    assert abs(ranks.loc["AGE", "HEIGHT"]) < 0.06


def test_associations_hold_where_all_types_are_listed(load):
    text = """
records: 3000
variables:
  A: {integer: [0, 9]}
  B: {integer: [0, 9], rises_with: {A: -0.5}}
  SEX: {categories: {1: Male, 2: Female}}
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 1400, 2: 1600}}
"""
    found = evosynth.synthesize(load(text), 1).data
    assert -0.6 < found["A"].corr(found["B"], "spearman") < -0.4


FOLLOWS = """
records: 1500
variables:
  SEX: {categories: {1: Male, 2: Female}}
  HEIGHT: {integer: [140, 205], shape: normal}
  WEIGHT: {integer: [35, 150], shape: normal}
  BMI: {number: {min: 5, max: 90, decimals: 1}, derived: WEIGHT / (HEIGHT / 100)^2}
  BP: {integer: [80, 200], shape: normal, rises_with: {BMI: 0.5, SEX: 0.3}}
  A: {integer: [0, 100]}
  B: {integer: [0, 100]}
  T: {integer: [0, 200], rises_with: {S: 0.6}}
  S: {integer: [0, 50]}
rules: [A + B == T]
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 700, 2: 800}}
  - {kind: summary, of: HEIGHT, mean: 171.3, sd: 9.1}
"""


def test_variables_rise_with_what_follows_from_others(load):
    found = evosynth.synthesize(load(FOLLOWS), 1).data.corr()
    assert 0.42 < found.loc["BP", "BMI"] < 0.58
    assert 0.2 < found.loc["BP", "SEX"] < 0.4
    assert 0.52 < found.loc["S", "T"] < 0.68
    assert abs(found.loc["S", "BP"]) < 0.1


def test_missing_values_are_not_the_largest_that_a_variable_rises_with(load):
    text = """
records: 2000
variables:
  SEX: {categories: {1: Male, 2: Female}}
  EARN: {integer: [0, 500], shape: lognormal, missing: {-9: {label: Refused, share: 30%}}}
  OTHER: {integer: [0, 500], shape: lognormal}
  TOTAL: {integer: [0, 1000], derived: EARN + OTHER, missing: true}
  CARS: {integer: [0, 20], shape: normal, rises_with: {TOTAL: 0.6}}
  RENT: {integer: [0, 99], rises_with: {EARN: 0.6}, missing: {-8: {label: Owner, share: 40%}}}
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 900, 2: 1100}}
"""
    data = evosynth.synthesize(load(text), 1).data
    refused = data["TOTAL"].isna()
    assert 0.25 < refused.mean() < 0.35
    assert abs(data["CARS"][refused].mean() - data["CARS"][~refused].mean()) < 0.5
    assert 0.5 < data["CARS"].corr(data["TOTAL"].astype("Float64"), "spearman") < 0.8
    rents = data["RENT"] >= 0
    assert abs(data["RENT"][rents & refused].mean() - data["RENT"][rents].mean()) < 6
    both = data[rents & ~refused]
    assert 0.5 < both["RENT"].corr(both["EARN"], "spearman") < 0.7


def test_associations_with_derived_variables_hold_where_all_types_are_listed(load):
    text = """
records: 3000
variables:
  SEX: {categories: {1: Male, 2: Female}}
  A: {integer: [0, 9]}
  T: {integer: [0, 100], derived: A * 3}
  B: {integer: [0, 9], rises_with: {T: 0.5}}
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 1500, 2: 1500}}
"""
    found = evosynth.synthesize(load(text), 1).data
    assert 0.4 < found["T"].corr(found["B"], "spearman") < 0.6


def test_hints_outlast_the_search_for_figures_of_other_variables(load):
    text = """
records: 600
variables:
  SEX: {categories: {1: Male, 2: Female}}
  SCORE: {integer: [0, 100]}
  AGE: {integer: [18, 95]}
  PAY: {integer: [0, 3000], zeros: 0.3, shape: lognormal, rises_with: {AGE: 0.5}}
  CIGS: {integer: [0, 60], zeros: 0.7, shape: {heaped: 5, base: skewed}}
outputs:
  - kind: summary
    of: SCORE
    by: SEX
    n: {1: 290, 2: 310}
    mean: {1: 52.31, 2: 55.02}
    sd: {1: 14.11, 2: 15.63}
"""
    result = evosynth.synthesize(load(text), 1)
    assert result.exact
    data = result.data
    assert 0.63 < (data["CIGS"] == 0).mean() < 0.77
    assert (data.loc[data["CIGS"] > 0, "CIGS"] % 5 == 0).mean() > 0.7
    assert 0.23 < (data["PAY"] == 0).mean() < 0.37
    assert data["PAY"].corr(data["AGE"], "spearman") > 0.35
    assert np.histogram(data["AGE"], [18, 44, 70, 96])[0].tolist() == sorted(
        np.histogram(data["AGE"], [18, 44, 70, 96])[0].tolist(), reverse=True
    )


def test_published_figures_win(load):
    text = SPEC + "  - {kind: summary, of: [SCORE, INCOME], mean: {SCORE: 71.3, INCOME: 512.6}}\n"
    text += "  - {kind: correlation, of: [AGE, INCOME], pearson: {INCOME: {AGE: -0.21}}}\n"
    result = evosynth.synthesize(load(text), 1)
    assert result.exact


def test_the_founding_ages_are_plausible_and_figures_exact():
    spec = evosynth.load(FOUNDING[0])
    result = evosynth.synthesize(spec, 1)
    assert result.exact
    ages = np.bincount(result.data["AGE"] - 50, minlength=46)
    assert ages[:20].sum() > ages[20:].sum()


BAD = [
    ("shape: round", "shape.base: input should be 'normal', 'skewed'"),
    ("shape: {heaped: 300}", "shape: fewer than two values from 0 to 100 are multiples of 300"),
    (
        "shape: {quantiles: {25: 60, 50: 30}}",
        "shape: the 50 % quantile, 30, is not above the 25 % quantile, 60",
    ),
    (
        "shape: {quantiles: {50: 130}}",
        "shape: the 50 % quantile, 130, is outside 0 to 100",
    ),
    ("zeros: 1.2", "zeros: 1.2 is no share from 0 to 1"),
    ("shape: {basis: normal}", "shape.basis: unknown key (did you mean 'base'?)"),
    ("rises_with: {X: 0.3}", "rises_with.X: a variable does not rise with itself"),
    (
        "rises_with: {ID: 0.3}}\n  ID: {identifier: true",
        "rises_with.ID: 'ID' tells records apart; nothing rises with it",
    ),
    (
        "rises_with: {Z: 0.3}}\n  Z: {integer: [0, 9000], derived: X + 1",
        "rises_with.Z: 'Z' follows from 'X' itself; leave this out",
    ),
    ("rises_with: {SEXX: 0.3}", "rises_with.SEXX: unknown variable 'SEXX' (did you mean 'SEX'?)"),
    ("rises_with: {SEX: 1.3}", "rises_with.SEX: 1.3 is no correlation between -1 and 1"),
    ("zeros: 30", "zeros: 30 is no share from 0 to 1; write 30% or 0.30"),
    (
        "missing: {-8: {share: 1.5}}",
        "missing.-8.share: 1.5 is no share from 0 to 1; write 1.5% or 0.015",
    ),
    ("missing: {-8: {share: -0.1}}", "missing.-8.share: -0.1 is no share from 0 to 1"),
    (
        "missing: {-8: {share: 60%}, -9: {share: 50%}}",
        "missing: shares of missing values sum to 1.1",
    ),
    ("missing: {-8: 12%}", "missing.-8: 12% is no label; write {label: …, share: 12%}"),
    (
        "missing: {-8: {share: 0.1}}, proportions: {-8: 0.2, 5: 0.1}",
        "missing.-8.share: the proportions have it; give one",
    ),
]


@pytest.mark.parametrize(("hint", "message"), BAD, ids=[hint for hint, _ in BAD])
def test_impossible_hints_are_told_with_their_line(load, hint, message):
    text = f"""records: 10
variables:
  X: {{integer: [0, 100], {hint}}}
  SEX: {{categories: {{1: Male, 2: Female}}}}
outputs:
  - {{kind: frequencies, of: SEX, counts: {{1: 4, 2: 6}}}}
"""
    with pytest.raises(evosynth.SpecError) as error:
        load(text)
    (line,) = error.value.lines()
    assert "spec.yaml:3 variables.X." in line
    assert message in line


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            "Z: {integer: [0, 9], rises_with: {X: 0.9, Y: 0.9}}, W: {integer: [0, 9], "
            "rises_with: {X: -0.9, Z: 0.9}}",
            "variables.W.rises_with.Z: 0.9 cannot go with the correlations assumed before it",
        ),
        (
            "Z: {integer: [0, 99], derived: X + Y, shape: normal}",
            "variables.Z.shape: a derived variable follows its formula; leave this out",
        ),
        (
            "Z: {integer: [0, 99], derived: X + Y, rises_with: {X: 0.2}}",
            "variables.Z.rises_with: a derived variable follows its formula; leave this out",
        ),
    ],
)
def test_hints_that_cannot_be_followed_are_told(tmp_path, variables, message):
    file = tmp_path / "spec.yaml"
    file.write_text(
        "records: 50\nvariables: {X: {integer: [0, 9]}, Y: {integer: [0, 9]}, "
        + variables
        + "}\noutputs: [{kind: summary, of: X, mean: 4.0}]\n",
        encoding="utf-8",
    )
    with pytest.raises(evosynth.SpecError) as found:
        evosynth.load(file)
    assert message in str(found.value)


def test_shares_may_be_written_as_percentages(load):
    text = """
records: 400
variables:
  SEX: {categories: {1: Male, 2: Female}, proportions: {1: 48.5%, 2: 51.5%}}
  PAY: {integer: [0, 9], zeros: 30%, missing: {-8: {label: No job, share: 12%}}}
  AREA: {categories: {n: N, s: S}, missing: {u: {share: 20%}}, proportions: {n: 0.75, s: 0.25}}
  TOWN: {categories: {n: N, s: S}, missing: {u: {share: 0.20}}, proportions: {n: 0.6, s: 0.2}}
outputs:
  - {kind: summary, of: PAY, n: 350}
rules:
  - {rule: if SEX == 1 then AREA != u, violated: 2%}
teaching: {missing: {SEX: 5%}}
"""
    spec = load(text)
    assert spec.schema["SEX"].proportions.tolist() == pytest.approx([0.485, 0.515])
    pay = spec.schema["PAY"].proportions
    assert pay[-1] == pytest.approx(0.12) and pay[0] == pytest.approx(0.30 * 0.88)
    for name in ("AREA", "TOWN"):  # of the valid values, or of all
        assert spec.schema[name].proportions.tolist() == pytest.approx([0.6, 0.2, 0.2])
    assert spec.bound.rules[0].violated.text == "0.02"
    assert spec.teaching.missing == {"SEX": 0.05}
