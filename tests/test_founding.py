"""The founding experiments, end to end: the written file, refitted by others, prints the paper."""

from __future__ import annotations

import shutil
import subprocess

import pandas as pd
import pytest
import statsmodels.formula.api as smf
from cases import FOUNDING

import evosynth

# Elliot, Little and Allmendinger (2024), Tables 2, 5, 6 and 1.
COEFFICIENTS = (
    "6.4034 -0.0787 -0.0239 -0.0398 -0.0650 -0.5501 -0.8254 -0.2033 "
    "0.1788 -1.6399 -1.7013 -0.7950 -1.8219 -1.9224"
).split()
TENURE = [[470, 1000], [162, 696], [15, 7], [105, 39], [22, 25], [64, 18], [1065, 339]]
ETHGROUP = [[1880, 2098], [23, 26]]
SHARES = {
    "AREAP": ".1716 .2210 .1838 .4236",
    "SEX": ".4527 .5473",
    "ETHGROUP": ".9878 .0122",
    "LTILL": ".3700 .6300",
    "CARS": ".4726 .5274",
}
FORMULA = (
    "CARS ~ AGE + C(AREAP, Treatment(51)) + C(SEX) + C(ETHGROUP) + C(LTILL, Treatment(2)) "
    "+ C(TENURE)"
)
ORDER = [0, 13, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
"""Where the paper's terms stand among those of the formula interface, which puts AGE last."""


@pytest.fixture(scope="module", params=[1, 2, 3])
def files(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    for number, path in enumerate(FOUNDING, start=1):
        result = evosynth.synthesize(evosynth.load(path), seed=request.param, workers=2)
        result.save(folder / str(number))
        assert result.exact
    return [folder / "1" / "data.csv", folder / "2" / "data.csv"]


@pytest.mark.parametrize("experiment", [0, 1])
def test_the_formula_interface_prints_the_published_coefficients(files, experiment):
    data = pd.read_csv(files[experiment])
    assert data.shape == (4027, 7)
    fit = smf.logit(FORMULA, data).fit(disp=0)
    assert [f"{value:.4f}" for value in fit.params.iloc[ORDER]] == COEFFICIENTS


def test_tables_and_margins_of_experiment_2_are_the_published_ones(files):
    data = pd.read_csv(files[1])
    assert pd.crosstab(data["TENURE"], data["CARS"]).to_numpy().tolist() == TENURE
    assert pd.crosstab(data["ETHGROUP"], data["CARS"]).to_numpy().tolist() == ETHGROUP
    for name, printed in SHARES.items():
        shares = data[name].value_counts(normalize=True).sort_index()
        assert " ".join(f"{share:.4f}"[1:] for share in shares) == printed
    assert data["AGE"].between(50, 95).all()
    assert data["AGE"].nunique() == 46


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("experiment", [0, 1])
def test_r_prints_the_published_coefficients(files, experiment):
    code = """
    d <- read.csv(commandArgs(TRUE)[1])
    for (v in c("AREAP", "SEX", "ETHGROUP", "LTILL", "TENURE")) d[[v]] <- factor(d[[v]])
    d$AREAP <- relevel(d$AREAP, "51"); d$LTILL <- relevel(d$LTILL, "2")
    fit <- glm(CARS ~ AGE + AREAP + SEX + ETHGROUP + LTILL + TENURE, binomial, d)
    cat(sprintf("%.4f", coef(fit)))
    """
    done = subprocess.run(
        ["Rscript", "-e", code, str(files[experiment])], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == COEFFICIENTS
