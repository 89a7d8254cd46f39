"""What a notebook shows of a result: the short form, and pictures for slides."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from cases import SMALL, small
from scipy.stats import chi2_contingency

import evosynth
from evosynth.errors import EvosynthError
from evosynth.report.associations import associations


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    text = SMALL.replace("A small survey", "'$<b>A small'").replace("label: Age", "label: '$Age'")
    return evosynth.synthesize(small(tmp_path_factory.mktemp("plots"), text), seed=1)


def test_a_notebook_shows_the_short_form(result):
    text = result._repr_html_()
    assert "11 of 11 published figures reproduced exactly as printed" in text
    assert "$&lt;b&gt;A small" in text and "<b>" not in text and "Missed" not in text


def test_a_notebook_lists_what_is_missed(tmp_path):
    text = SMALL.replace("{1: 0.490, 2: 0.510}", "{1: 0.491, 2: 0.509}")
    result = evosynth.synthesize(small(tmp_path, text, anyway=True), seed=1, generations=1)
    assert "Missed" in result._repr_html_() and "half-unit" in result._repr_html_()


@pytest.mark.parametrize(
    "name", ["convergence", "forest", "associations", "differences", "AGE", "SEX"]
)
def test_pictures_are_figures_that_can_be_saved(name, result):
    matplotlib = pytest.importorskip("matplotlib.figure")
    plot = result.plot
    if name in {"AGE", "SEX"}:
        figure = plot.distribution(name)
    else:
        figure = plot.differences(0) if name == "differences" else getattr(plot, name)()
    assert isinstance(figure, matplotlib.Figure)
    stream = io.BytesIO()
    figure.savefig(stream, format="svg")
    assert b"<svg" in stream.getvalue()
    if name == "forest":
        labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        assert labels == ["Sex: Female", r"\$Age"]
        assert len(figure.axes[0].lines) == 7  # two intervals, dots and diamonds, and zero


def test_a_picture_that_cannot_be_says_why(result):
    pytest.importorskip("matplotlib")
    for call, words in (
        (lambda: result.plot.forest(0), r"outputs\[0\] is no model; models: 2"),
        (lambda: result.plot.differences(9), r"there is no outputs\[9\]"),
        (lambda: result.plot.distribution("X"), "'X' is no variable"),
    ):
        with pytest.raises(EvosynthError, match=words):
            call()


def test_a_run_imports_no_matplotlib(tmp_path):
    small(tmp_path)
    code = (
        "import sys; from evosynth import cli; "
        f"cli.main(['run', {str(tmp_path / 'spec.yaml')!r}, '-o', {str(tmp_path / 'out')!r}]); "
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_associations_are_those_of_pandas_and_scipy(result):
    data, schema = result.data, result.spec.schema
    found = associations(data, schema)
    at = {name: i for i, name in enumerate(found["names"])}
    chi = chi2_contingency(pd.crosstab(data["AREA"], data["WORK"]), correction=False)[0]
    assert found["values"][at["WORK"]][at["AREA"]] == pytest.approx((chi / 400) ** 0.5, abs=1e-3)
    assert found["measures"][at["WORK"]][at["AREA"]] == "V"
    groups = data.groupby("SEX")["AGE"]
    between = (groups.size() * (groups.mean() - data["AGE"].mean()) ** 2).sum()
    eta = np.sqrt(between / ((data["AGE"] - data["AGE"].mean()) ** 2).sum())
    assert found["values"][at["SEX"]][at["AGE"]] == pytest.approx(eta, abs=1e-3)


def test_intervals_are_those_of_statsmodels(result):
    import statsmodels.formula.api as smf

    fit = smf.logit("WORK ~ AGE + C(SEX)", result.data.astype({"WORK": int})).fit(disp=0)
    output = result.spec.outputs[2]
    rows = output.intervals(result.data, np.ones(400), result.spec.schema)
    ends = fit.conf_int().loc[["Intercept", "AGE", "C(SEX)[T.2]"]].to_numpy()
    assert np.allclose([[row.low, row.high] for row in rows], ends, atol=1e-4)
