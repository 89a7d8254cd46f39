"""Pictures of risk: what stands in them, and that they can be saved."""

from __future__ import annotations

import math
import subprocess
import sys

import pandas as pd
import pytest

from evosynth.errors import EvosynthError
from evosynth.risk.pictures import disclosure_bars, drawn, risk_utility_map, save, tcap_dots

figures = pytest.importorskip("matplotlib.figure")

ROWS = pd.DataFrame(
    [
        ("SEX", "original → synthetic", 0.54, 0.5, 0.6),
        ("SEX", "holdout → synthetic", 0.52, 0.4, 0.6),
        ("$AGE", "original → synthetic", math.nan, 0.0, 1.0),
        ("$AGE", "holdout → synthetic", 0.1, math.nan, math.nan),
    ],
    columns=["target", "comparison", "value", "low", "high"],
)
POINTS = pd.DataFrame(
    {"label": ["ours", "trees", "none"], "risk": [5.0, 30.0, math.nan], "utility": [0.1, 0.02, 0.1]}
).assign(measure="hellinger", better="lower")


def bars():
    return disclosure_bars(["a", "b", "$c", "d"], [50, 60, math.nan, 9], [10, 40, math.nan, 0])


def dots():
    return tcap_dots(ROWS, {"SEX": 0.5, "$AGE": math.nan}, "TCAP over disclosive keys")


def long_names():
    rows = pd.concat([ROWS.assign(target=f"{name} {'long ' * 9}") for name in "abcdefgh"])
    return tcap_dots(rows.assign(value=[math.nan, 0.5] * 16), {}, "TCAP over disclosive keys")


def ru_map():
    return risk_utility_map(POINTS, "DiSCO, %")


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_bars_are_ordered_by_risk_and_undefined_is_no_zero():
    figure = bars()
    axis = figure.axes[0]
    labels = [text.get_text() for text in axis.get_yticklabels()]
    assert labels == ["b", "a", "d", r"\$c"]
    assert axis.get_ylim()[0] > axis.get_ylim()[1]  # the first is on top
    widths = [bar.get_width() for bar in axis.patches]
    assert widths == [60, 50, 9, 0, 40, 10, 0, 0]
    written = [text.get_text() for text in axis.texts]
    assert written == ["60.0", "50.0", "9.0", "undefined", "40.0", "10.0", "0.0", "undefined"]
    assert [text.split(":")[0] for text in legend(figure)] == ["Dorig", "DiSCO"]


def test_dots_show_values_intervals_and_baselines():
    figure = dots()
    axis = figure.axes[0]
    assert legend(figure) == [
        "baseline: guessing from the distribution",
        "original → synthetic",
        "holdout → synthetic",
    ]
    drawn = [list(line.get_xdata()) for line in axis.lines]
    assert drawn[0] == [0.5, 0.5]  # the baseline of SEX; AGE has none
    assert [0.5, 0.6] in drawn and [0.4, 0.6] in drawn
    assert [0.0, 1.0] not in drawn  # no interval of what is undefined
    assert axis.get_xlabel() == (
        "TCAP over disclosive keys\nundefined: \\$AGE (original → synthetic)"
    )
    assert [text.get_text() for text in axis.get_yticklabels()] == ["SEX", r"\$AGE"]


def test_a_baseline_of_a_later_target_is_in_the_legend():
    figure = tcap_dots(ROWS, {"$AGE": 0.1}, "TCAP over all records")
    assert legend(figure)[0].startswith("baseline")


def test_per_cent_goes_to_a_hundred():
    axis = tcap_dots(ROWS.assign(value=50.0), {}, "TCAP over matched keys", percent=True).axes[0]
    assert axis.get_xlim()[1] > 100 and axis.get_xlabel() == "TCAP over matched keys, %"


def test_up_is_useful_on_a_map():
    axis = ru_map().axes[0]
    assert axis.get_ylim()[0] > axis.get_ylim()[1]
    assert axis.get_xlabel() == "risk: DiSCO, % (lower is better)\nundefined: none"
    assert legend(ru_map()) == ["ours", "trees"]
    points = POINTS.assign(measure="interval_overlap", better="higher")
    upright = risk_utility_map(points, "DiSCO, %").axes[0]
    assert upright.get_ylim()[0] < upright.get_ylim()[1]
    assert "higher is better" in upright.get_ylabel()


@pytest.mark.parametrize("draw", [bars, dots, ru_map])
def test_pictures_are_saved_as_the_same_bytes(draw, tmp_path):
    first = save(draw(), tmp_path / "one.x")
    second = save(draw(), tmp_path / "two.x")
    assert [path.name for path in first] == ["one.x.png", "one.x.svg"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    assert first[0].read_bytes().startswith(b"\x89PNG") and b"<svg" in first[1].read_bytes()


@pytest.mark.parametrize("draw", [bars, dots, long_names, ru_map])
def test_nothing_is_cut_off(draw):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = draw()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    box = figure.get_tightbbox(canvas.get_renderer())
    width, height = figure.get_size_inches()
    assert box.x0 >= -0.01 and box.y0 >= -0.01
    assert box.x1 <= width + 0.01 and box.y1 <= height + 0.01


def test_what_is_withheld_is_in_no_picture():
    summary = {
        "attribution": [
            {"target": "a", "Dorig": 20.0, "DiSCO": "withheld", "iS": 3.0},
            {"target": "b", "Dorig": 30.0, "DiSCO": 10.0, "iS": 3.0},
        ],
        "protocol": [
            {"comparison": "original -> synthetic", "target": "a", "raw": 60.0, "low": 50.0}
            | {"high": 70.0, "baseline": 40.0},
            {"comparison": "holdout -> synthetic", "target": "a", "raw": "withheld"}
            | {"low": "withheld", "high": "withheld", "baseline": 40.0},
            {"comparison": "original -> synthetic", "target": "mean", "raw": None, "low": ""}
            | {"high": "", "baseline": None},
        ],
    }
    points = POINTS.astype({"risk": object})
    points.loc[0, "risk"] = "withheld"
    figures = drawn(summary, points)
    assert list(figures) == ["risk-disclosure", "risk-tcap", "risk-utility"]
    bars_axis = figures["risk-disclosure"].axes[0]
    assert [text.get_text() for text in bars_axis.texts] == ["30.0", "20.0", "10.0", "withheld"]
    assert figures["risk-tcap"].axes[0].get_xlabel() == (
        "TCAP over disclosive keys, %\nundefined: mean (original → synthetic)\n"
        "withheld: a (holdout → synthetic)"
    )
    assert legend(figures["risk-tcap"])[1:] == ["original → synthetic", "holdout → synthetic"]
    assert figures["risk-utility"].axes[0].get_xlabel().endswith("undefined: none\nwithheld: ours")
    assert list(drawn({"attribution": summary["attribution"]})) == ["risk-disclosure"]


def test_pictures_of_nothing_say_why():
    with pytest.raises(EvosynthError, match="one Dorig and one DiSCO"):
        disclosure_bars(["a"], [1.0], [])
    with pytest.raises(EvosynthError, match="no target"):
        tcap_dots(ROWS[:0], {}, "TCAP over all records")
    with pytest.raises(EvosynthError, match="no data set"):
        risk_utility_map(POINTS[:0], "DiSCO, %")


def test_matplotlib_and_scikit_learn_are_imported_when_needed_only():
    code = (
        "import sys, evosynth.risk.pictures, evosynth.risk.comparators, evosynth.risk.utility; "
        "sys.exit(bool({'matplotlib', 'sklearn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
