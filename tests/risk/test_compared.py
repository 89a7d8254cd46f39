"""Risk and utility of several data sets at once, against the single measures."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from evosynth.risk.coding import encode
from evosynth.risk.comparators import margins, nonnormal
from evosynth.risk.compared import compare
from evosynth.risk.keys import paste
from evosynth.risk.measures import attribution
from evosynth.risk.tables import group_disclosure
from evosynth.risk.utility import utility

KEYS, TARGETS = ["age", "educ", "religious"], ["affair", "children"]


@pytest.fixture(scope="module")
def frames():
    data = sm.datasets.fair.load_pandas().data
    data["affair"] = np.where(data["affairs"] > 0, "yes", "no")
    data = data[[*KEYS, *TARGETS]].sample(1200, random_state=2).reset_index(drop=True)
    original = data[:600]
    return {
        "original": original,
        "synthetic": nonnormal(original, seed=1, by=["affair"]),
        "holdout": data[600:].reset_index(drop=True),
        "general": margins(original, seed=1),
    }


def test_every_data_set_has_its_own_measures(frames):
    columns = encode(frames, [*KEYS, *TARGETS], {"age": 3})
    models = ["affair ~ age + religious"]
    found = compare(
        frames,
        columns,
        KEYS,
        TARGETS,
        "affair",
        binned=["age"],
        categorical=["religious"],
        models=models,
    )
    assert list(found.utilities) == ["synthetic", "holdout", "general"]
    own = utility(
        frames["original"],
        frames["holdout"],
        variables=[*KEYS, *TARGETS],
        categories=["religious"],
        levels=["educ", "children"],
        models=models,
    )
    assert found.utilities["holdout"].summary() == pytest.approx(own.summary(), nan_ok=True)
    pasted = paste(columns, KEYS, ("original", "general"))
    risk = attribution(columns, pasted, "affair").values["DiSCO"]
    assert found.points.set_index("label").loc["general", "risk"] == risk
    plain = compare(frames, encode(frames, [*KEYS, *TARGETS]), KEYS, TARGETS, "affair")
    alone = group_disclosure(frames["original"], frames["synthetic"], KEYS, "affair")
    row = plain.groups[0]
    assert (row["data"], row["target"]) == ("synthetic", "affair") and len(plain.groups) == 6
    assert row["risk"] == pytest.approx(100 * alone.risk)
    assert (row["common"], row["synthetic"]) == (alone.common, alone.synthetic)
    told = json.loads(json.dumps(found.summary(), allow_nan=False))
    assert [one["data"] for one in told["regressions"]] == ["synthetic", "holdout", "general"]


def test_small_counts_are_withheld_and_undefined_is_nothing():
    original = pd.DataFrame({"k": [1, 1, 2, 2, 3], "t": ["a", "b", "a", "b", "b"]})
    synthetic = pd.DataFrame({"k": [1, 1, 3], "t": ["a", "b", "b"]})
    general = pd.DataFrame({"k": [1, 1, 2, 2], "t": ["a", "b", "a", "b"]})
    frames = {"original": original, "synthetic": synthetic, "general": general}
    columns = encode(frames, ["k", "t"])
    found = compare(frames, columns, ["k"], ["t"], "t", threshold=10)
    assert found.points["risk"].tolist() == ["suppressed", 0.0]
    assert compare(frames, columns, ["k"], ["t"], "t").points["risk"].tolist() == [20.0, 0.0]
    assert found.groups[0]["risk"] == found.groups[0]["common"] == "suppressed"
    told = compare(frames, columns, ["k"], ["t"], "t")
    assert told.groups[0]["risk"] == 100 and math.isnan(told.groups[1]["risk"])
    assert told.summary()["group_disclosure"][1]["risk"] is None
