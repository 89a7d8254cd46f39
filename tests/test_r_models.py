"""Published models, end to end: R, refitting the written file, prints the digits of the spec."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest
import yaml
from cases import SPECS

import evosynth

LOW_BIRTH_WEIGHT = """
for (v in c("RACE", "SMOKE", "HT", "UI")) d[[v]] <- factor(d[[v]])
fit <- glm(LOW ~ AGE + LWT + RACE + SMOKE + PTL + HT + UI, binomial, d)
show("odds_ratios", exp(coef(fit)))
ends <- exp(confint.default(fit))
show("low", ends[, 1]); show("high", ends[, 2])
"""
PROGRAMMES = """
d$PROG <- relevel(factor(d$PROG), "2"); d$SES <- factor(d$SES)
fit <- summary(nnet::multinom(PROG ~ SES + WRITE, d, trace = FALSE, reltol = 1e-14, maxit = 1000))
for (k in c("1", "3")) {
  show(paste("coefficients", k), fit$coefficients[k, ])
  show(paste("standard_errors", k), fit$standard.errors[k, ])
}
show("aic", c(all = fit$AIC))
"""
SHOW = """
d <- read.csv(commandArgs(TRUE)[1])
show <- function(kind, x) cat(sprintf("%s %s %.12f\\n", kind, names(x), x), sep = "")
"""
needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")


def in_r(code: str, *arguments: str) -> str:
    return subprocess.run(
        ["Rscript", "-e", code, *arguments], capture_output=True, text=True, check=True
    ).stdout


def fitted(name: str, code: str, folder: Any) -> dict[str, float]:
    """Make the data of a spec and fit them in R; figures by kind and R's name of the term."""
    result = evosynth.synthesize(evosynth.load(SPECS / f"{name}.yaml"), seed=1, workers=2)
    assert result.exact
    result.save(folder / "out")
    lines = in_r(SHOW + code, str(folder / "out" / "data.csv")).splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines)
    return {key: float(value) for key, value in pairs}


def written(name: str) -> dict[str, Any]:
    """Return a spec, its numbers as they are written."""
    return yaml.load((SPECS / f"{name}.yaml").read_text("utf-8"), Loader=yaml.BaseLoader)


def model(name: str) -> dict[str, Any]:
    return written(name)["outputs"][0]


def in_r_terms(term: str) -> str:
    return {"Intercept": "(Intercept)"}.get(term, term.replace("[", "").replace("]", ""))


def reprinted(value: float, published: str) -> str:
    return f"{value:.{len(published.partition('.')[2])}f}"


@needs_r
def test_odds_ratios_and_intervals(tmp_path):
    name = "low-birth-weight"
    found, published = fitted(name, LOW_BIRTH_WEIGHT, tmp_path), model(name)
    ends = published["confidence_intervals"]
    wanted = {f"odds_ratios {in_r_terms(k)}": v for k, v in published["odds_ratios"].items()}
    wanted |= {f"low {in_r_terms(k)}": low for k, (low, _) in ends.items()}
    wanted |= {f"high {in_r_terms(k)}": high for k, (_, high) in ends.items()}
    assert len(wanted) == 24
    assert {key: reprinted(found[key], text) for key, text in wanted.items()} == wanted


@needs_r
def test_multinomial_logit(tmp_path):
    if in_r('cat(requireNamespace("nnet", quietly = TRUE))') != "TRUE":
        pytest.skip("R's package nnet is not installed")
    name = "high-school-programmes"
    found, published = fitted(name, PROGRAMMES, tmp_path), model(name)
    wanted = {
        f"{kind} {outcome} {in_r_terms(term)}": text
        for kind in ("coefficients", "standard_errors")
        for outcome, figures in published[kind].items()
        for term, text in figures.items()
    }
    wanted["aic all"] = published["aic"]
    assert len(wanted) == 17
    assert {key: reprinted(found[key], text) for key, text in wanted.items()} == wanted


CALLS = {
    "ols": "lm({}, d)",
    "logit": "glm({}, binomial, d, epsilon = 1e-12)",
    "probit": 'glm({}, binomial("probit"), d, epsilon = 1e-12)',
    "ordered": "MASS::polr({}, d, Hess = TRUE, control = list(reltol = 1e-14, maxit = 1000))",
    "multinomial": "nnet::multinom({}, d, trace = FALSE, Hess = TRUE, reltol = 1e-14, maxit = 1e4)",
}
HC1 = """
x <- model.matrix(fit); e <- residuals(fit); b <- solve(crossprod(x))
v <- b %*% crossprod(x * e) %*% b * nrow(x) / (nrow(x) - ncol(x))
"""


def refits(spec: dict[str, Any]) -> str:
    """Write R code that fits every model of a spec."""
    names = [k for k, v in spec["variables"].items() if "categories" in v]
    code = [f"d${name} <- factor(d${name})" for name in names]
    for at, output in enumerate(spec["outputs"]):
        if output["kind"] not in CALLS:
            continue
        code.append(f"fit <- {CALLS[output['kind']].format(output['formula'])}; v <- vcov(fit)")
        if output.get("robust") in {"HC1", "stata"}:
            code.append(HC1)
        if output["kind"] == "multinomial":
            code.append("est <- c(t(coef(fit))); names(est) <- rownames(v)")
        elif output["kind"] == "ordered":
            code.append("est <- c(coef(fit), fit$zeta)")
        else:
            code.append("est <- coef(fit)")
        code.append(f'show("{at} estimate", est); show("{at} error", sqrt(diag(v))[names(est)])')
    return "\n".join(code)


def figures(spec: dict[str, Any]) -> dict[str, str]:
    """Coefficients and standard errors as printed, by R's names."""
    found = {}
    for at, output in enumerate(spec["outputs"]):
        if output["kind"] not in CALLS:
            continue
        # R's probit has the expected information, Stata's and statsmodels' the observed one.
        errors = {} if output["kind"] == "probit" else output.get("standard_errors", {})
        estimates = output["coefficients"] | output.get("cut_points", {})
        for what, terms in (("estimate", estimates), ("error", errors)):
            for term, value in terms.items():
                inner = value.items() if isinstance(value, dict) else [("", value)]
                for name, text in inner:
                    own = f"{term}:{in_r_terms(name)}" if name else in_r_terms(term)
                    found[f"{at} {what} {own}"] = text
    return found


@needs_r
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("california-test-scores", 36),
        ("copenhagen-housing", 44),
        ("graduate-admissions", 18),
        ("high-school-science", 10),
        ("sleep-apnea-fatigue", 7),
    ],
)
def test_every_model_of_a_spec(name, count, tmp_path):
    if in_r('cat(requireNamespace("MASS") && requireNamespace("nnet"))') != "TRUE":
        pytest.skip("R's packages MASS and nnet are not installed")
    spec = written(name)
    found, wanted = fitted(name, refits(spec), tmp_path), figures(spec)
    assert {key: reprinted(found[key], text) for key, text in wanted.items()} == wanted
    assert len(wanted) == count
