from evosynth.report.rendering import part
from evosynth.report.risks import pictured

NASTY = "<b>\"x\" & 'y'</b>"


def test_bars_are_ordered_by_risk_and_leave_out_what_is_withheld():
    rows = [
        {"target": "a", "Dorig": 50.0, "DiSCO": 1.0},
        {"target": "b", "Dorig": 20.0, "DiSCO": 9.5},
        {"target": "c", "Dorig": 20.0, "DiSCO": "suppressed"},
        {"target": "d", "Dorig": None, "DiSCO": None},
    ]
    found = pictured({"attribution": rows})["bars"]
    assert [row["target"] for row in found] == ["b", "a"]


def test_dots_have_a_place_each_and_the_baseline():
    inside, outside = "original -> synthetic", "holdout -> synthetic"
    known = {"target": "t", "baseline": 50.2}
    rows = [
        {**known, "comparison": inside, "raw": 73.3, "low": 70.0, "high": 75.0},
        {**known, "comparison": outside, "raw": 71.9, "low": None, "high": None},
        {"target": "u", "comparison": inside, "raw": None, "baseline": 9.0},
    ]
    (found,) = pictured({"protocol": rows})["dots"]
    assert [(m["kind"], m["x"], m["ends"]) for m in found["marks"]] == [
        ("inside", 73.3, [70.0, 75.0]),
        ("outside", 71.9, None),
    ]
    drawn = str(part("risk.html", "pictures", pictured({"protocol": rows})))
    assert 'cx="73.30%"' in drawn and 'x="71.90%"' in drawn and 'x1="50.20%"' in drawn


def test_names_are_text_and_other_files_draw_nothing():
    about = pictured({"attribution": [{"target": NASTY, "Dorig": 3, "DiSCO": 2}]})
    drawn = str(part("risk.html", "pictures", about))
    assert "<b>" not in drawn and "&lt;b&gt;" in drawn
    for strange in (
        {},
        {"attribution": "x", "protocol": {"a": 1}},
        {"protocol": [1, {"raw": True}]},
    ):
        assert str(part("risk.html", "pictures", pictured(strange))).strip() == ""
