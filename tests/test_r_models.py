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


def model(name: str) -> dict[str, Any]:
    """Return the first output of a spec, its numbers as they are written."""
    text = (SPECS / f"{name}.yaml").read_text("utf-8")
    return yaml.load(text, Loader=yaml.BaseLoader)["outputs"][0]


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
