"""The logit: search kernels, recomputation and statsmodels' own formula interface agree."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from cases import small
from models import TERMS, by_term, checked, recomputed, round_trip, truth

FORMULA = """\
records: 500
variables:
  AGE: {{integer: [20, 60]}}
  SEX: {{categories: {{1: Male, 2: Female}}}}
  AREA: {{categories: {{n: North, s: South, w: West}}}}
  Y: {{categories: {{{outcome}}}}}
outputs:
  - kind: logit
    formula: {formula}
    reference: {{{reference}}}
    coefficients: {{{coefficients}}}
"""


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(
        {
            "AGE": rng.integers(20, 61, 500),
            "SEX": rng.integers(1, 3, 500),
            "AREA": rng.choice(list("nsw"), 500),
        }
    )
    eta = -1 + 0.03 * frame["AGE"] - 0.5 * (frame["SEX"] == 2) + 0.4 * (frame["AREA"] == "w")
    frame["Y"] = (rng.random(500) < 1 / (1 + np.exp(-eta))).astype(int)
    return frame


AREA = "C(AREA, Treatment('s'))"
MODELS = {
    "main effects": (
        "Y ~ AGE + SEX + AREA",
        ["Intercept", "AGE", "SEX[2]", "AREA[n]", "AREA[w]"],
        f"Y ~ AGE + C(SEX) + {AREA}",
        ["Intercept", "AGE", "C(SEX)[T.2]", f"{AREA}[T.n]", f"{AREA}[T.w]"],
    ),
    "powers": (
        "Y ~ AGE + I(AGE^2)",
        ["Intercept", "AGE", "I(AGE^2)"],
        "Y ~ AGE + I(AGE**2)",
        ["Intercept", "AGE", "I(AGE ** 2)"],
    ),
    "logs": (
        "Y ~ log(AGE) + SEX",
        ["Intercept", "log(AGE)", "SEX[2]"],
        "Y ~ np.log(AGE) + C(SEX)",
        ["Intercept", "np.log(AGE)", "C(SEX)[T.2]"],
    ),
    "interactions": (
        "Y ~ SEX*AREA + AGE:SEX + AGE",
        [
            *("Intercept", "AGE", "SEX[2]", "AREA[n]", "AREA[w]"),
            *("AREA[n]:SEX[2]", "SEX[2]:AREA[w]", "AGE:SEX[2]"),
        ],
        f"Y ~ AGE + C(SEX)*{AREA} + AGE:C(SEX)",
        [
            *("Intercept", "AGE", "C(SEX)[T.2]", f"{AREA}[T.n]", f"{AREA}[T.w]"),
            *(f"C(SEX)[T.2]:{AREA}[T.n]", f"C(SEX)[T.2]:{AREA}[T.w]", "AGE:C(SEX)[T.2]"),
        ],
    ),
}


@pytest.fixture(params=MODELS, ids=list(MODELS))
def case(request, tmp_path, data):
    """A spec whose printed coefficients are those of the data, and the data's own estimates."""
    formula, names, theirs, their_names = MODELS[request.param]
    fit = smf.logit(theirs, data).fit(disp=0)
    estimates = dict(zip(names, fit.params[their_names], strict=True))
    coefficients = ", ".join(f'"{name}": "{value:.8f}"' for name, value in estimates.items())
    return small(tmp_path, model(formula, coefficients)), estimates


def model(formula, coefficients, outcome="0: no, 1: yes"):
    reference = "AREA: s" if "AREA" in formula else ""
    return FORMULA.format(
        formula=formula, coefficients=coefficients, outcome=outcome, reference=reference
    )


def coded(spec, frame):
    columns = [
        [variable.levels[str(value)] for value in frame[variable.name]]
        for variable in spec.schema.variables
    ]
    return np.array(columns, dtype=spec.schema.dtype).T


def by_label(spec, estimates):
    named = {":".join(sorted(name.split(":"))): value for name, value in estimates.items()}
    return [named[":".join(sorted(f.label.split(":")))] for f in spec.figures[0]]


def test_recomputed_coefficients_are_those_of_the_formula_interface(case, data):
    spec, estimates = case
    found = spec.outputs[0].recompute(data, np.ones(500), spec.schema)
    np.testing.assert_allclose(found, by_label(spec, estimates), rtol=1e-6)


def test_grouped_records_give_the_same_coefficients(case, data):
    spec, estimates = case
    grouped = data.groupby(list(data.columns)).size().reset_index(name="n")
    counts = grouped.pop("n").to_numpy(float)
    found = spec.outputs[0].recompute(grouped, counts, spec.schema)
    np.testing.assert_allclose(found, by_label(spec, estimates), rtol=1e-6)


def test_the_search_refits_to_the_same_estimates(case, data):
    spec, estimates = case
    (score,) = spec.plans[0].smooth
    distance = score.refit(coded(spec, data), np.ones(500))
    found = score.start + distance * score.half_width
    np.testing.assert_allclose(found, by_label(spec, estimates), rtol=1e-6)


def test_the_expansion_predicts_what_a_refit_finds(case, data):
    spec, _ = case
    (score,) = spec.plans[0].smooth
    codes = coded(spec, data)
    expansion = score.expand(codes, np.ones(500))
    predicted = expansion.offset + expansion.influence(codes).sum(axis=0)
    np.testing.assert_allclose(predicted, score.refit(codes, np.ones(500)), atol=0.02)
    assert np.abs(predicted).max() <= 1.0


def test_log_density_is_the_published_probability_of_the_outcome(case, data):
    spec, _ = case
    (score,) = spec.plans[0].smooth
    codes = coded(spec, data)
    flipped = codes.copy()
    flipped[:, 3] = 1 - flipped[:, 3]
    total = np.exp(score.log_density(codes)) + np.exp(score.log_density(flipped))
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)
    eta = score.likelihood.design.rows(codes) @ score.start
    expected = 1 / (1 + np.exp(-eta * (2.0 * data["Y"].to_numpy() - 1)))
    np.testing.assert_allclose(np.exp(score.log_density(codes)), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("outcome", "sign"),
    [("0: no, 1: yes", 1), ("1: yes, 0: no", 1), ("1: yes, 2: no", -1)],
)
def test_the_event_is_1_or_else_the_second_value(tmp_path, data, outcome, sign):
    spec = small(tmp_path, model("Y ~ AGE", "Intercept: 0.10, AGE: 0.01", outcome))
    values = data.replace({"Y": {0: 2}}) if "2" in outcome else data
    found = spec.outputs[0].recompute(values, np.ones(500), spec.schema)
    expected = smf.logit("Y ~ AGE", data).fit(disp=0).params
    np.testing.assert_allclose(found, sign * expected, rtol=1e-6)


def test_data_that_do_not_identify_a_coefficient_have_no_estimate(tmp_path):
    spec = small(tmp_path, model("Y ~ SEX", 'Intercept: 0.10, "SEX[2]": 0.00'))
    (score,) = spec.plans[0].smooth
    codes = np.zeros((40, 4), dtype=np.uint8)
    codes[:22, 3] = 1
    assert np.isnan(score.refit(codes, np.ones(40))).all()
    frame = spec.schema.frame(codes)
    assert np.isnan(spec.outputs[0].recompute(frame, np.ones(40), spec.schema)).all()


def test_separated_data_have_no_estimate(tmp_path):
    spec = small(tmp_path, model("Y ~ SEX", 'Intercept: -1.73, "SEX[2]": 12.20'))
    (score,) = spec.plans[0].smooth
    codes = np.zeros((40, 4), dtype=np.uint8)
    codes[20:, 1] = codes[20:, 3] = 1
    codes[:3, 3] = 1
    assert np.isnan(score.refit(codes, np.ones(40))).all()


D = "0.00000"
FULL = {
    "kind": "logit",
    "formula": "YES ~ AGE + SEX + AREA",
    "coefficients": by_term(D),
    "standard_errors": by_term(D),
    "statistics": by_term(D),
    "p_values": by_term(D),
    "confidence_intervals": {term: [D, D] for term in TERMS},
}
WHOLE = dict.fromkeys(
    ["log_likelihood", "null_log_likelihood", "pseudo_r_squared", "aic", "bic", "lr_chi_square",
     "deviance", "null_deviance"], D,
)  # fmt: skip
RATIOS = {
    "kind": "logit",
    "formula": "YES ~ AGE + SEX + AREA",
    "odds_ratios": by_term("0.00", TERMS[1:]),
    "confidence_intervals": {term: ["0.00", "0.00"] for term in TERMS[1:]},
}


@pytest.mark.parametrize("robust", [{}, {"robust": "HC0"}, {"robust": "HC1"}, {"robust": "stata"}])
@pytest.mark.parametrize("terms", [TERMS, TERMS[1:]], ids=["all terms", "without intercept"])
def test_search_and_statsmodels_agree(tmp_path, robust, terms):
    checked(tmp_path, {**FULL, **WHOLE, **robust, "coefficients": by_term(D, terms)})


def test_ratios_alone_agree(tmp_path):
    errors = {"standard_errors": by_term(D, TERMS[1:]), "standard_errors_of": "ratios"}
    ends = {term: [D, D] for term in TERMS[1:]}
    raw = {**RATIOS, **errors, "confidence_intervals": ends, "level": "99"}
    checked(tmp_path, {**raw, "odds_ratios": by_term(D, TERMS[1:])})


def test_every_figure_is_that_of_the_formula_interface(tmp_path):
    data = truth(8, 300)
    found = recomputed(tmp_path, {**FULL, **WHOLE, "lr_p_value": D}, data)
    fit = smf.logit("YES ~ C(SEX) + AREA + AGE", data).fit(disp=0)
    ends = fit.conf_int().to_numpy()
    expected = {
        "log likelihood": fit.llf,
        "null log likelihood": fit.llnull,
        "pseudo r squared": fit.prsquared,
        "aic": fit.aic,
        "bic": fit.bic,
        "lr chi square": fit.llr,
        "lr p value": fit.llr_pvalue,
        "deviance": -2 * fit.llf,
        "null deviance": -2 * fit.llnull,
    }
    for i, term in enumerate(["Intercept", "SEX[2]", "AREA[s]", "AREA[w]", "AGE"]):
        expected |= {
            term: fit.params.iloc[i],
            f"SE of {term}": fit.bse.iloc[i],
            f"z of {term}": fit.tvalues.iloc[i],
            f"p of {term}": fit.pvalues.iloc[i],
            f"lower 95% limit of {term}": ends[i, 0],
            f"upper 95% limit of {term}": ends[i, 1],
        }
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_sandwich_is_that_of_the_formula_interface(tmp_path):
    data = truth(8, 300)
    fit = smf.logit("YES ~ AGE", data).fit(disp=0, cov_type="HC0")
    for robust, factor in {"HC0": 1.0, "HC1": 300 / 298, "stata": 300 / 299}.items():
        raw = {"kind": "logit", "formula": "YES ~ AGE", "robust": robust}
        found = recomputed(tmp_path, {**raw, "standard_errors": {"AGE": D}}, data)
        assert found["SE of AGE"] == pytest.approx(fit.bse["AGE"] * factor**0.5, rel=1e-6)


@pytest.mark.parametrize(
    "raw",
    [
        {**FULL, **{key: by_term("0.000") for key in ("coefficients", "standard_errors")},
         "statistics": {}, "p_values": by_term("0.00"), "confidence_intervals": {},
         "log_likelihood": "0.00"},
        RATIOS,
        {**RATIOS, "odds_ratios": {}, "confidence_intervals": {}, "robust": "HC0",
         "statistics": by_term("0.00", TERMS[1:])},
        {**RATIOS, "where": "SEX == 2", "formula": "YES ~ AGE", "odds_ratios": {"AGE": "0.000"},
         "confidence_intervals": {"AGE": ["0.000", "0.000"]}, "observations": "0"},
    ],
    ids=["errors", "odds ratios and intervals", "robust z alone", "women"],
)  # fmt: skip
def test_round_trip(tmp_path, raw):
    assert round_trip(tmp_path, raw, seed=7) == []
